#!/usr/bin/env bash
# ./run.sh ...             run python -m enumerate with these arguments
# ./run.sh ray ...         the `ray` command, to start the nodes of a cluster
# ./run.sh test            check format, lint, types and layers, and run the tests
# ./run.sh test --all      also run the slow, cluster and browser tests
# ./run.sh test --lowest   run the default tests with the oldest packages that pyproject.toml allows
# ./run.sh coverage        show the lines and branches that no test runs; the kernels run as plain Python
# ./run.sh golden          rewrite the signatures of tests/golden and print what changed
# ./run.sh lock            update the locks from pyproject.toml; versions change only where they must
# ./run.sh bench ...       run a benchmark from benchmarks/
#
# The first call makes .venv and installs the pinned packages into it; later calls use them.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$root/.venv

die() { echo "run.sh: $*" >&2; exit 2; }

# What an installed lock leaves behind: itself and the path of this folder, since the package is installed in place.
wanted() { echo "$root"; cat "$root/$1"; }

installed() { [ -x "$venv/bin/python" ] && [ -f "$venv/$1" ] && wanted "$1" | cmp -s - "$venv/$1"; }

# A new .venv, marked when it is complete. The outer Python's pip fills it if possible: a venv without its own pip is
# faster to make, and does not need Debian's python3-venv.
make_venv() {
    "$python" -m venv --clear --without-pip "$venv" || die "cannot make $venv"
    if ! "$python" -m pip --python "$venv/bin/python" --version >/dev/null 2>&1; then
        "$python" -m venv --clear "$venv" || die "cannot make $venv; install pip (on Debian also python3-venv)"
    fi
    echo "$root" >"$venv/made"
}

pip() {
    export PIP_DISABLE_PIP_VERSION_CHECK=1
    if [ -x "$venv/bin/pip" ]; then "$venv/bin/python" -m pip "$@"
    else "$python" -m pip --python "$venv/bin/python" "$@"; fi
}

install() {
    installed "$1" && return
    (
        # If two first calls run at once, the second waits for the first.
        if command -v flock >/dev/null; then exec 9>"$root/.venv.lock"; flock 9; fi
        installed "$1" && exit 0
        echo "setting up .venv (only once)" >&2
        python=${PYTHON:-python3}
        command -v "$python" >/dev/null || die "no $python found; install Python 3.11 or later, or set PYTHON"
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
            die "Python 3.11 or later is needed, but $python is $("$python" -V 2>&1); set PYTHON to another one"
        # Make it again if it is incomplete, or was made for another folder.
        [ "$(cat "$venv/made" 2>/dev/null)" = "$root" ] || make_venv
        pip install --quiet --require-hashes -r "$root/$1" || die "pip could not install $1"
        # A line in a .pth file installs the package in place, without a build.
        echo "$root" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/enumerate.pth"
        wanted "$1" >"$venv/$1"
    )
}

# Ray is large, and one machine does not need it: the first call that needs Ray installs it.
needs_ray() {
    local word
    for word in "$@"; do
        case $word in
        --address*) return 0 ;;
        *.toml) grep -qs '^ *address *=' "${word#--config=}" && return 0 ;;
        esac
    done
    return 1
}

install_for() {
    # The other locks include these packages.
    installed requirements-test.lock || installed requirements-cluster.lock && return
    if needs_ray "$@"; then install requirements-cluster.lock; else install requirements.lock; fi
}

needs_uv() { command -v uv >/dev/null || die "no uv found; install it with: pip install uv"; }

# The oldest Python too; what pyproject.toml does not name is as new as it can be. Without the extra huggingface, which
# needs a newer pyarrow than we do.
install_lowest() {
    needs_uv
    venv=$root/.venv-lowest
    uv venv --quiet --clear --python 3.11 "$venv"
    uv pip install --quiet --python "$venv/bin/python" --resolution lowest-direct -r "$root/pyproject.toml" \
        --extra cluster --extra data --extra s3 --extra web --extra test
    uv pip list --python "$venv/bin/python"
}

find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

run_tests() {
    cd "$root"
    export PATH=$venv/bin:$PATH
    local all=
    if [ "${1:-}" = --all ]; then
        all=yes; shift
        find_browser >/dev/null || echo "(without the browser tests: no Chromium found; on Debian: apt install chromium)"
    else echo "(without the slow, cluster and browser tests; ./run.sh test --all runs them too)"; fi
    echo "== format";  ruff format --check .
    echo "== lint";    ruff check .
    echo "== types";   mypy
    echo "== layers";  lint-imports
    if [ -z "$all" ]; then
        echo "== tests"; default_tests "$@"
        return
    fi
    local first=0 second=0
    echo "== tests"; (in_memory; side_by_side -m "not cluster" "$@") || first=$?
    # Separately: each of their hosts has its own /dev/shm, and does not see this one. A file is one cluster.
    echo "== cluster tests"; side_by_side --dist loadfile -m cluster "$@" || second=$?
    # 5: pytest found no matching tests.
    case $first-$second in 0-0 | 0-5 | 5-0) ;; *) return 1 ;; esac
}

default_tests() { (in_memory; side_by_side -m "not slow and not cluster and not browser" "$@"); }

side_by_side() { python -m pytest -n auto --maxprocesses 4 "$@"; }

# Runs sync every file they write, and tests make thousands of runs: in memory this costs nothing.
in_memory() {
    local free
    free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) || return 0
    if [ "$free" -gt 4000000 ] && [ -w /dev/shm ]; then export PYTEST_DEBUG_TEMPROOT=/dev/shm; fi
}

pin() {
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml -o "$@"
}

case ${1:-} in
test)
    shift
    if [ "${1:-}" = --lowest ]; then
        shift
        install_lowest
        cd "$root"
        PATH=$venv/bin:$PATH default_tests "$@"
        exit
    fi
    install requirements-test.lock
    run_tests "$@"
    ;;
coverage)
    install requirements-test.lock
    cd "$root"
    export PATH=$venv/bin:$PATH
    # Coverage does not see compiled code, so the kernels also run as plain Python, on tiny boards. It does not follow
    # worker processes and commands that tests start.
    default_tests -q --cov --cov-report=
    NUMBA_DISABLE_JIT=1 python -m pytest -q tests/kernels/test_tiny_boards.py --cov --cov-append --cov-report=
    exec coverage report
    ;;
golden)
    install requirements-test.lock
    cd "$root"
    exec "$venv/bin/python" -m tests.golden
    ;;
lock)
    needs_uv
    cd "$root"
    pin requirements.lock --extra s3 --extra web
    pin requirements-cluster.lock --extra s3 --extra web --extra cluster
    pin requirements-test.lock --all-extras
    ;;
bench)
    shift
    [ -f "$root/benchmarks/${1:-speed}.py" ] || die "no such benchmark: ${1:-}; choose from: $(cd "$root/benchmarks" && echo *.py | sed "s/\.py//g")"
    install requirements-test.lock
    exec "$venv/bin/python" "$root/benchmarks/${1:-speed}.py" "${@:2}"
    ;;
ray)
    shift
    install_for --address
    RAY_USAGE_STATS_ENABLED=0 exec "$venv/bin/ray" "$@"
    ;;
*)
    install_for "$@"
    KNIGHTS_TOURS_CALLED=$0 exec "$venv/bin/python" -m enumerate "$@"
    ;;
esac
