# Sourced by what makes virtual environments: finds Python, and makes an environment of it.

python=${PYTHON:-python3}

# need_python WHO: an error that says what to install.
need_python() {
	if ! command -v "$python" >/dev/null; then
		echo "python3 is missing: install Python 3.10 or newer (Debian: apt-get install python3 python3-venv), or set PYTHON" >&2
		exit 1
	fi
	if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
		echo "$("$python" --version) is too old: $1 needs Python 3.10 or newer; set PYTHON to one" >&2
		exit 1
	fi
}

# make_venv FOLDER: an empty environment.
make_venv() {
	"$python" -m venv --clear "$1" || {
		echo "python3 cannot make a virtual environment: install its venv module (Debian: apt-get install python3-venv)" >&2
		exit 1
	}
}

# install FOLDER PACKAGE…
install() {
	local venv=$1
	shift
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}
