#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deps.sh build|test|long|fuzz|lint: installs the packages that this needs and that are not there.  Says nothing and
# touches no network if nothing is missing.  Exit 2, naming the packages, if it cannot install them.
#
# "a|b" stands for whichever is installed, else the first that apt knows.  With LLVM_CONFIG set, LLVM is the
# user's own affair.
set -eu

goal=${1:-build}
case $goal in build | test | long | fuzz | lint) ;; *) echo "usage: deps.sh build|test|long|fuzz|lint" >&2; exit 2 ;; esac

llvm_majors="22 19 20 21 18"
needed=(gcc libc6-dev make flex bison 'pkgconf|pkg-config' libsndfile1-dev libpng-dev libhwloc-dev libxxhash-dev zlib1g-dev libjansson-dev libexpat1-dev)
modules=(sndfile libpng hwloc libxxhash zlib jansson expat)
commands=(gcc make flex bison pkg-config)
[ "$goal" = build ] || { needed+=(libcmocka-dev); modules+=(cmocka); }
[ "$goal" != lint ] || needed+=('clang-format-22|clang-format-19' 'clang-tidy-22|clang-tidy-19' cppcheck mandoc)

installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }
known() { apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [0-9]'; }

# A system without apt: look at what there is, and say what is not.
without_apt() {
    local missing=() command module
    for command in "${commands[@]}"; do
        command -v "$command" >/dev/null || missing+=("$command")
    done
    for module in "${modules[@]}"; do
        pkg-config --exists "$module" 2>/dev/null || missing+=("$module (with headers)")
    done
    compgen -c llvm-config >/dev/null || command -v "${LLVM_CONFIG-}" >/dev/null || missing+=("LLVM 18 or newer (llvm-config)")
    compgen -c ld.lld >/dev/null || missing+=("lld")
    [ ${#missing[@]} -gt 0 ] || exit 0
    echo "pipec: this needs, and there is no apt to install it with:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    exit 2
}

# llvm_version TEST: the first major for which TEST holds of its package.
llvm_version() {
    local major
    for major in $llvm_majors; do
        if "$1" "llvm-$major-dev"; then echo "$major"; return; fi
    done
}

# Prints what is missing: one package a line.
missing_packages() {
    local spec package found major wanted=("${needed[@]}")
    if [ -z "${LLVM_CONFIG-}" ]; then
        major=$(llvm_version installed)
        major=${major:-$(llvm_version known)}
        major=${major:-22}
        wanted+=("llvm-$major-dev" "lld-$major")
        case $goal in
        fuzz) wanted+=("clang-$major" "libclang-rt-$major-dev") ;;
        lint) wanted+=("clang-$major") ;;
        esac
    fi
    for spec in "${wanted[@]}"; do
        found=
        for package in ${spec//|/ }; do installed "$package" && found=1 && break; done
        [ -z "$found" ] || continue
        for package in ${spec//|/ }; do known "$package" && found=1 && break; done
        [ -n "$found" ] || package=${spec%%|*}
        echo "$package"
    done
}

# Welcome, not needed: the line editor of `piperun --debug`; clang, which compiles the scheduler for GPUs; for tests the second LLVM that `make check` also compiles
# the language tests with, the programs that it tries pipec with, Python, which draws programs, the OpenCL that it
# compares sub-devices with, the libraries of live sound and of `pipec edit`, and the shells that complete command lines;
# for long tests the tools that make and examine Debian packages.
welcome_packages() {
    local package major wanted=(libedit-dev)
    if [ -z "${LLVM_CONFIG-}" ]; then
        major=$(llvm_version installed)
        wanted+=("clang-${major:-22}")
    fi
    if [ "$goal" = test ] || [ "$goal" = long ]; then
        [ -n "${LLVM_CONFIG-}" ] || wanted+=(llvm-19-dev lld-19)
        command -v ninja >/dev/null || wanted+=(ninja-build)
        command -v cmake >/dev/null || wanted+=(cmake)
        command -v meson >/dev/null || wanted+=(meson)
        command -v dot >/dev/null || wanted+=(graphviz)
        command -v python3 >/dev/null || wanted+=(python3)
        command -v spin >/dev/null || wanted+=(spin)
        command -v zsh >/dev/null || wanted+=(zsh)
        command -v fish >/dev/null || wanted+=(fish)
        wanted+=(ocl-icd-libopencl1 pocl-opencl-icd)
        installed libasound2t64 || wanted+=(libasound2)
        wanted+=(libmicrohttpd12 libmicrohttpd12t64) # a release has one of these
    fi
    [ "$goal" != long ] || wanted+=(debhelper lintian autopkgtest)
    for package in "${wanted[@]}"; do
        if ! installed "$package" && known "$package"; then echo "$package"; fi
    done
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then without_apt; fi

mapfile -t missing < <(missing_packages)
mapfile -t welcome < <(welcome_packages)
[ $((${#missing[@]} + ${#welcome[@]})) -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null; then
        as_root=(sudo)
    elif [ ${#missing[@]} -eq 0 ]; then
        exit 0
    else
        echo "pipec: these packages are missing; install them as root:" >&2
        echo "  apt-get install ${missing[*]}" >&2
        exit 2
    fi
fi

export DEBIAN_FRONTEND=noninteractive
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }
install() { apt install -y --no-install-recommends "$@"; }

if [ ${#missing[@]} -gt 0 ]; then
    apt update
    mapfile -t missing < <(missing_packages) # the lists may name a newer LLVM now
    echo "pipec: installing ${missing[*]}"
    if ! install "${missing[@]}"; then
        echo "pipec: could not install; these packages are needed:" >&2
        echo "  ${missing[*]}" >&2
        exit 2
    fi
    mapfile -t welcome < <(welcome_packages)
fi
if [ ${#welcome[@]} -gt 0 ]; then
    install "${welcome[@]}" || echo "pipec: without ${welcome[*]}; what they are for is left out"
fi
