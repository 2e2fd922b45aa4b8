#!/usr/bin/env bash
# ./run.sh ...             run python -m enumerate with these words
# ./run.sh ray ...         the `ray` command, to start the nodes of a cluster
# ./run.sh test            check format, lint, types and layers, and run the tests
# ./run.sh test --all      the slow, the cluster and the browser tests too
# ./run.sh coverage        run the tests, the kernels as plain Python, and say which branches none of them takes
# ./run.sh golden          rewrite the signatures of tests/golden and print what changed
# ./run.sh lock            pin the packages of pyproject.toml anew; what can stay as it is stays
# ./run.sh bench ...       run a benchmark from benchmarks/
#
# The first call makes .venv and installs the pinned packages into it; later calls find them there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$root/.venv

die() { echo "run.sh: $*" >&2; exit 2; }

# What an installed lock leaves behind: itself, and where this folder was, for the package is installed in place.
wanted() { echo "$root"; cat "$root/$1"; }

installed() { [ -x "$venv/bin/python" ] && [ -f "$venv/$1" ] && wanted "$1" | cmp -s - "$venv/$1"; }

# A new .venv, marked when it is complete. pip of the outer Python fills it if it can: a venv without a pip of its own is
# made faster, and does not need Debian's python3-venv.
make_venv() {
    "$python" -m venv --clear --without-pip "$venv" || die "cannot make $venv"
    if ! "$python" -m pip --python "$venv/bin/python" --version >/dev/null 2>&1; then
        "$python" -m venv --clear "$venv" || die "cannot make $venv: install pip (on Debian also python3-venv)"
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
        # Two first calls at once: the second waits for the first.
        if command -v flock >/dev/null; then exec 9>"$root/.venv.lock"; flock 9; fi
        installed "$1" && exit 0
        echo "setting up .venv (this happens once)" >&2
        python=${PYTHON:-python3}
        command -v "$python" >/dev/null || die "no $python found; install Python 3.11 or later, or set PYTHON"
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
            die "Python 3.11 or later is needed, and $python is $("$python" -V 2>&1); set PYTHON to another one"
        # Made halfway, or in another place: once more.
        [ "$(cat "$venv/made" 2>/dev/null)" = "$root" ] || make_venv
        pip install --quiet --require-hashes -r "$root/$1" || die "pip could not install $1"
        # The package is used where it is: a line in a .pth file does that, and needs no build.
        echo "$root" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/enumerate.pth"
        wanted "$1" >"$venv/$1"
    )
}

# Ray is large, and one machine does without: it is installed for the first call that needs it.
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
    # What the tests install is more than enough.
    installed requirements-test.lock || installed requirements-cluster.lock && return
    if needs_ray "$@"; then install requirements-cluster.lock; else install requirements.lock; fi
}

find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

run_tests() {
    cd "$root"
    export PATH=$venv/bin:$PATH
    local all=
    if [ "${1:-}" = --all ]; then
        all=yes; shift
        find_browser >/dev/null || echo "(without the browser tests: no Chromium found; on Debian: apt install chromium)"
    else echo "(without the slow, the cluster and the browser tests; ./run.sh test --all runs them too)"; fi
    echo "== format";  ruff format --check .
    echo "== lint";    ruff check .
    echo "== types";   mypy
    echo "== layers";  lint-imports
    if [ -z "$all" ]; then
        echo "== tests"; (in_memory; side_by_side -m "not slow and not cluster and not browser" "$@")
        return
    fi
    local first=0 second=0
    echo "== tests"; (in_memory; side_by_side -m "not cluster" "$@") || first=$?
    # By themselves: each of their hosts has a /dev/shm of its own, and does not see this one. A file is one cluster.
    echo "== cluster tests"; side_by_side --dist loadfile -m cluster "$@" || second=$?
    # 5: none of the tests that were asked for is of this kind.
    case $first-$second in 0-0 | 0-5 | 5-0) ;; *) return 1 ;; esac
}

side_by_side() { python -m pytest -n auto --maxprocesses 4 "$@"; }

# Runs sync every file that they write, and tests make thousands of runs: in memory that costs nothing.
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
    install requirements-test.lock
    run_tests "$@"
    ;;
coverage)
    install requirements-test.lock
    cd "$root"
    export PATH=$venv/bin:$PATH
    # What is compiled leaves no trace: the kernels run once more as plain Python, on boards that are small enough.
    # Worker processes and commands that tests start are not followed.
    (in_memory; side_by_side -q -m "not slow and not cluster and not browser" --cov --cov-report=)
    NUMBA_DISABLE_JIT=1 python -m pytest -q tests/kernels/test_tiny_boards.py --cov --cov-append --cov-report=
    exec coverage report
    ;;
golden)
    install requirements-test.lock
    cd "$root"
    exec "$venv/bin/python" -m tests.golden
    ;;
lock)
    command -v uv >/dev/null || die "no uv found; install it with: pip install uv"
    cd "$root"
    pin requirements.lock --extra s3 --extra web
    pin requirements-cluster.lock --extra s3 --extra web --extra cluster
    pin requirements-test.lock --all-extras
    ;;
bench)
    shift
    [ -f "$root/benchmarks/${1:-speed}.py" ] || die "no such benchmark: ${1:-}; there is $(cd "$root/benchmarks" && ls ./*.py)"
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
    exec "$venv/bin/python" -m enumerate "$@"
    ;;
esac
