#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh [THREADS...]: the part "cores" of `make bench` in a folder that bundle.sh has made.  Without numbers of
# threads: 1, 2, 4, ... and all.
#
# Environment: SECONDS_MAX (default 220): no round begins that would end later; GB_MAX (default 24), the limit of memory
# of a stream; ONLY, a part of a workload's name; DEPTHS, the factor of the depths of `ours` (1: the depths of the plan;
# default 0: as a run chooses it); LEVEL, x86-64-v3 or x86-64-v4 (default: the best that the machine has).
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
level=${LEVEL:-x86-64-v4}
if [ -z "${LEVEL:-}" ]; then
    for flag in avx512f avx512bw avx512cd avx512dq avx512vl; do
        grep -qw $flag /proc/cpuinfo || level=x86-64-v3
    done
fi
threads=("$@")
[ $# -gt 0 ] || read -ra threads <<<"$("$here/counts.sh")"
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
sed "s/LEVEL/$level/" "$here/versions"
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/$level/bench" "$here/$level" "${threads[@]}"
