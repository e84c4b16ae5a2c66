#!/usr/bin/env bash
# Makes .venv with the AWS emulator of `make test-aws`, pinned. A second run is a no-op.
#
# MiniStack, and this version or a newer one: 1.4 ran functions several times per invoke, and no other emulator tells the truth about
# compare-and-swap on DynamoDB.
set -euo pipefail
cd "$(dirname "$0")/.."

want='ministack[full]==1.5.33'
venv=.venv
stamp="$venv/.turnleaf"

python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null; then
	echo "python3 is missing: install Python 3.10 or newer (Debian: apt-get install python3 python3-venv), or set PYTHON" >&2
	exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
	echo "$("$python" --version) is too old: the emulator needs Python 3.10 or newer; set PYTHON to one" >&2
	exit 1
fi
if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
	exit 0
fi
echo "installing $want into $venv: about half a minute"
"$python" -m venv --clear "$venv" || {
	echo "python3 cannot make a virtual environment: install its venv module (Debian: apt-get install python3-venv)" >&2
	exit 1
}
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$want"
echo "$want" >"$stamp"
