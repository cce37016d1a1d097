#!/usr/bin/env bash

# Builds ggml_metal_py and everything it needs, as an ordinary user.
#
# SYNOPSIS
#
#   ./build.sh VERB [--upstream ROW] [OPTIONS]
#
#   help            show this text
#   build           fetch one upstream package, compile the library of that row and all its kernels;
#                   --no-kernels leaves each kernel to its first use, --jobs N limits the compilers,
#                   --all-rows builds the other rows too, without their kernels
#   demo            build, then transcribe a recording on the Metal backend and on the CPU backend
#   test            build all rows, then ruff, mypy and pytest; --all includes the slow tests, other
#                   options go to pytest
#   bench           build, then measure; --kernels [NAME] measures kernels only, --checked [NAME] what
#                   checked mode costs them
#   check-upstream  build, then run ggml's own test-backend-ops on the library, of a row that ships it
#                   (default: the first one that does); what follows -- goes to it: -- -o MUL_MAT.
#                   --no-kernels and --jobs N as for build
#   clean           remove what was built; --all removes the virtual environment too
#
# ENVIRONMENT VARIABLES
#
#   PYTHON                   the Python that .venv is made from (default: python3, >= 3.10)
#   GGML_METAL_PY_UPSTREAM   the row of vendor/upstreams.toml, as --upstream (default: its default)
#   GGML_METAL_PY_LIB        folder of the built rows (default: ggml_metal_py/lib)
#   GGML_METAL_PY_CACHE      folder of fetched files and models (default: in the user's cache folder)
#   GGML_METAL_PY_ARCHIVES   folder of archives to take instead of asking a registry
#   SOFTMETAL_CC             the clang to use (default: a system clang >= 16, else the ziglang wheel)
#   CI                       when set, test runs the slow tests too
#
# EXAMPLES
#
#   A fresh machine, from nothing to a transcription:
#
#     ./build.sh demo
#
#   The library of another ggml, beside the first:
#
#     ./build.sh build --upstream libggml-python-0.20.2
#
#   What ggml itself tests of one op, on the newest row with its tests:
#
#     ./build.sh check-upstream --upstream libggml-python-0.20.2 -- -o SOFT_MAX
#
#   One test, with pytest's options:
#
#     ./build.sh test tests/test_registry.py -k offline

set -euo pipefail
cd "$(dirname "$0")"

VENV=.venv
VENV_PYTHON=$VENV/bin/python

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "error: $*"
    exit 2
}

show_help() {
    # The comment block at the top of this file, without its first line.
    sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
}

packages_to_install() {
    if command -v apt-get > /dev/null; then
        echo "apt-get install python3 python3-venv python3-dev"
    elif command -v dnf > /dev/null; then
        echo "dnf install python3 python3-devel"
    elif command -v brew > /dev/null; then
        echo "brew install python"
    else
        echo "your system's packages of Python >= 3.10 with venv and the C headers"
    fi
}

# Makes .venv, from a Python that can carry what we build.
make_venv() {
    if [ -x "$VENV_PYTHON" ]; then
        return
    fi
    local python=${PYTHON:-python3} missing
    command -v "$python" > /dev/null || die "there is no $python; install: $(packages_to_install)"
    missing=$("$python" - << 'PYTHON_CODE'
import importlib.util, os, sys, sysconfig
if sys.version_info < (3, 10):
    print(f"a Python >= 3.10 (it is {sys.version.split()[0]}; set PYTHON to another one)")
elif importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
    print("the modules venv and ensurepip")
elif not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print("the C headers (Python.h)")
PYTHON_CODE
    )
    [ -z "$missing" ] || die "$python lacks $missing; install: $(packages_to_install)"
    say "making $VENV from $python"
    "$python" -m venv "$VENV"
}

# install_package EXTRAS: this package, editable, with its dependencies; nothing to do when it is unchanged.
install_package() {
    local extras=$1
    make_venv
    if [ "$(uname)" = Linux ]; then
        # A system clang serves as it is; else clang comes as a wheel.
        case "$("$VENV_PYTHON" ggml_metal_py/softmetal/toolchain.py 2> /dev/null || true)" in
            clang*) ;;
            *) extras=$extras,zig ;;
        esac
    fi
    local stamp=$VENV/.installed-${extras//,/-}
    if cmp -s pyproject.toml "$stamp"; then
        return
    fi
    say "installing ggml_metal_py[$extras] into $VENV"
    "$VENV_PYTHON" -m pip install -qq --disable-pip-version-check --editable ".[$extras]"
    cp pyproject.toml "$stamp"
}

build() {
    "$VENV_PYTHON" -m ggml_metal_py._build build "$@"
}

# The path of a recording that the row's package carries.
sample() {
    "$VENV_PYTHON" -m ggml_metal_py._build sample
}

demo() {
    install_package build,cli,whisper
    build
    local sample
    sample=$(sample)
    "$VENV/bin/ggml-metal-py" transcribe "$sample" --model tiny.en --compare-cpu "$@"
}

run_tests() {
    # Tests marked `address` are .ci/asan's: they need another compiler than the zig wheel.
    local selection=(-m "not slow and not address")
    if [ -n "${CI:-}" ]; then
        selection=(-m "not address")
    fi
    if [ "${1:-}" = --all ]; then
        selection=(-m "not address")
        shift
    fi
    install_package build,cli,whisper,plot,fuzz,test
    build --all-rows
    "$VENV_PYTHON" -m ruff check .
    "$VENV_PYTHON" -m mypy
    "$VENV_PYTHON" -m pytest "${selection[@]}" "$@"
}

clean() {
    rm -rf build ggml_metal_py/lib
    if [ "${1:-}" = --all ]; then
        rm -rf "$VENV"
    fi
}

verb=${1:-help}
[ $# -eq 0 ] || shift
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        --)
            arguments+=("$@")
            break
            ;;
        --upstream)
            [ $# -ge 2 ] || die "--upstream needs the name of a row of vendor/upstreams.toml"
            export GGML_METAL_PY_UPSTREAM=$2
            shift
            ;;
        --upstream=*) export GGML_METAL_PY_UPSTREAM=${1#*=} ;;
        *) arguments+=("$1") ;;
    esac
    shift
done
set -- ${arguments[@]+"${arguments[@]}"}

case $verb in
    help | -h | --help) show_help ;;
    build)
        install_package build
        build "$@"
        ;;
    demo) demo "$@" ;;
    test) run_tests "$@" ;;
    bench)
        install_package build,cli,whisper
        build
        "$VENV_PYTHON" -m benchmarks "$(sample)" "$@"
        ;;
    check-upstream)
        install_package build
        "$VENV_PYTHON" -m ggml_metal_py._build check-upstream "$@"
        ;;
    clean) clean "$@" ;;
    *) die "there is no verb '$verb'; ./build.sh help shows the verbs" ;;
esac
