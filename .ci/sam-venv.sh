#!/usr/bin/env bash
# Makes .venv-sam with the SAM command line and the linters of the template, pinned. A second run is a no-op.
#
# Checkov pins a boto3 years older than SAM's, so it has an environment of its own inside.
set -euo pipefail
cd "$(dirname "$0")/.."

sam=(aws-sam-cli==1.170.0 cfn-lint==1.58.0 cfn-lint-serverless==0.3.6)
checkov=(checkov==3.3.30)
venv=.venv-sam
stamp="$venv/.turnleaf"
want="${sam[*]} ${checkov[*]}"

python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null; then
	echo "python3 is missing: install Python 3.10 or newer (Debian: apt-get install python3 python3-venv), or set PYTHON" >&2
	exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
	echo "$("$python" --version) is too old: SAM needs Python 3.10 or newer; set PYTHON to one" >&2
	exit 1
fi
if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
	exit 0
fi
echo "installing $want into $venv: one to two minutes"
make_venv() {
	"$python" -m venv --clear "$1" || {
		echo "python3 cannot make a virtual environment: install its venv module (Debian: apt-get install python3-venv)" >&2
		exit 1
	}
}
make_venv "$venv"
make_venv "$venv/checkov"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${sam[@]}" &
first=$!
"$venv/checkov/bin/python" -m pip install --quiet --disable-pip-version-check "${checkov[@]}"
wait "$first"
echo "$want" >"$stamp"
