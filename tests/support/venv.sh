# SPDX-License-Identifier: GPL-3.0-or-later
# venv FOLDER LIST: a virtual environment with the packages that the file LIST names, made once. Sets $python to its
# interpreter, or to another where the packages cannot be had, which FOLDER.log explains. Skips the test without a CPython 3.11.
# Bytecode is kept in FOLDER-cache, whatever the caller's environment says: uv compiles nothing, and each process
# would compile the packages anew.
venv() {
    local wanted one pip without
    python=
    # Debian's own interpreter has its packages; a newer CPython in front of it may have none.
    for one in python3 /usr/bin/python3; do
        "$one" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && python=$one
    done
    [ -n "$python" ] || { echo "skipped: no CPython 3.11 or later"; exit 77; }
    wanted=$(sha256sum "$2" | cut -c1-16)
    # Two tests may start at once: one makes the environment.
    exec 9>"$1.lock"
    flock 9
    if [ "$(cat "$1/wanted" 2>/dev/null)" != "$wanted" ] && [ ! -e "$1-failed-$wanted" ]; then
        rm -rf "$1"
        # uv installs in a fifth of pip's processor time; where it cannot be had, or has no such index, pip does it.
        # Most of what a new environment costs is its own pip, which another's can stand for.
        pip=("$1/bin/pip")
        without=()
        if "$python" -m pip --version >/dev/null 2>&1; then
            pip=("$python" -m pip --python "$1/bin/python")
            without=(--without-pip)
        fi
        if timeout 60 "$python" -m venv "${without[@]}" "$1" >"$1.log" 2>&1 &&
            { timeout 400 "${pip[@]}" install -q --no-compile --retries 1 uv &&
                timeout 400 "$1/bin/uv" pip install -q --no-cache --python "$1/bin/python" \
                    ${PIP_INDEX_URL:+--index-url "$PIP_INDEX_URL"} -r "$2" ||
                timeout 400 "${pip[@]}" install -q --no-compile --retries 1 -r "$2"; } >>"$1.log" 2>&1; then
            echo "$wanted" >"$1/wanted"
        else
            touch "$1-failed-$wanted"
            echo "the packages of $2 could not be had ($1.log)"
        fi
    fi
    flock -u 9
    [ ! -e "$1/wanted" ] || python=$1/bin/python
    unset PYTHONDONTWRITEBYTECODE
    export PYTHONPYCACHEPREFIX=$1-cache
}
