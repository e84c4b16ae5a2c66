#!/usr/bin/env bash
# Runs a command with AWS_ENDPOINT_URL pointing at LocalStack 4.14.0, the last release that needs neither a token nor a container. It
# answers S3 and SQS; its DynamoDB would need a proprietary download, so that is left out.
set -euo pipefail
cd "$(dirname "$0")/.."

home="$PWD/.build/localstack"
venv="$home/venv"

find_python() {
	local p
	for p in ${PYTHON:-} python3.14 python3.13 "$HOME"/.pyenv/versions/3.1[3-9]*/bin/python3 python3; do
		if command -v "$p" >/dev/null && "$p" -c 'import sys; sys.exit(sys.version_info < (3, 13))' 2>/dev/null; then
			echo "$p"
			return
		fi
	done
	echo "LocalStack needs Python 3.13 or newer (its moto imports warnings.deprecated): install it, or set PYTHON" >&2
	return 1
}

if [ ! -e "$venv/.done" ]; then
	python=$(find_python)
	echo "installing LocalStack 4.14.0 into .build/localstack: about half a minute" >&2
	"$python" -m venv --clear "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check uv >&2
	# What it depends on is unbounded and has moved on: take what there was when it was released.
	"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --exclude-newer 2026-02-28 'localstack-core[runtime]==4.14.0' >&2
	touch "$venv/.done"
fi

port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
data=$(mktemp -d "$home/run.XXXXXX")
mkdir -p "$data/fs" "$data/tmp" "$data/config"

# GATEWAY_SERVER=hypercorn: the other one binds every interface. DNS_ADDRESS=0: or it takes port 53.
FILESYSTEM_ROOT="$data/fs" TMPDIR="$data/tmp" CONFIG_DIR="$data/config" OVERRIDE_IN_DOCKER=0 GATEWAY_LISTEN="127.0.0.1:$port" \
	LOCALSTACK_HOST="127.0.0.1:$port" GATEWAY_SERVER=hypercorn DNS_ADDRESS=0 SKIP_SSL_CERT_DOWNLOAD=1 DISABLE_EVENTS=1 \
	EAGER_SERVICE_LOADING=0 S3_SKIP_SIGNATURE_VALIDATION=0 \
	setsid "$venv/bin/python" -m localstack.runtime.main >"$data/log" 2>&1 &
pid=$!
stop() {
	kill -- "-$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	rm -rf "$data"
}
trap stop EXIT

for _ in $(seq 120); do
	if "$venv/bin/python" -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/_localstack/health', timeout=2)" 2>/dev/null; then
		AWS_ENDPOINT_URL="http://127.0.0.1:$port" "$@"
		exit
	fi
	if ! kill -0 "$pid" 2>/dev/null; then
		break
	fi
	sleep 0.5
done
echo "LocalStack does not answer; it said:" >&2
tail -n 20 "$data/log" >&2
exit 1
