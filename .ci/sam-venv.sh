#!/usr/bin/env bash
# Makes .venv-sam with the SAM command line and the linters of the template, pinned. A second run is a no-op.
#
# Checkov pins a boto3 years older than SAM's, so it has an environment of its own inside.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/python.sh

sam=(aws-sam-cli==1.170.0 cfn-lint==1.58.0 cfn-lint-serverless==0.3.6)
checkov=(checkov==3.3.30)
venv=.venv-sam
stamp="$venv/.turnleaf"
want="${sam[*]} ${checkov[*]}"

need_python SAM
if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
	exit 0
fi
echo "installing $want into $venv: one to two minutes"
make_venv "$venv"
make_venv "$venv/checkov"
install "$venv" "${sam[@]}" &
first=$!
install "$venv/checkov" "${checkov[@]}"
wait "$first"
echo "$want" >"$stamp"
