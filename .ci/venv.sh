#!/usr/bin/env bash
# Makes .venv with the AWS emulator of `make test-aws`, pinned. A second run is a no-op.
#
# MiniStack, and this version or a newer one: 1.4 ran functions several times per invoke, and no other emulator tells the truth about
# compare-and-swap on DynamoDB.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/python.sh

want='ministack[full]==1.5.33'
venv=.venv
stamp="$venv/.turnleaf"

need_python 'the emulator'
if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
	exit 0
fi
echo "installing $want into $venv: about half a minute"
make_venv "$venv"
install "$venv" "$want"
echo "$want" >"$stamp"
