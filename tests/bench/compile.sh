#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "compile" of `make bench`: what compiling ordinary programs takes, against clang -O2 on the same in C.
#
#   ONLY=compile make bench        DEVICES=cpu PROGRAMS="nest3 fan" ONLY=compile make bench
#
# Environment: ROOT, BUILD, PIPEC (set by make); DEVICES (default: cpu sim1 sim4 sim16); PROGRAMS, names of
# compile/corpus.txt (default: all).
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench
out=$BUILD/bench/compile
seconds=120 mib=16000
mkdir -p "$out"
${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -o "$out/within" "$ROOT/tests/limit/within.c"
clang=$(command -v "${BENCH_CC:-clang}" || true)

# measure COMMAND..: sets status, ms and peak.
measure() {
    "$out/within" "$seconds" "$mib" "$@" 3>"$out/took" >/dev/null 2>"$out/report" </dev/null || true
    read -r status ms peak <"$out/took"
}
# phase NAME..: processor time, in milliseconds.
phase() {
    local name sum=0
    for name; do sum=$(awk -v name="$name" -v sum="$sum" 'substr($0, 1, 20) ~ "^" name " *$" { sum += substr($0, 32, 11) } END { printf "%.0f", sum }' "$out/report"); done
    echo "$sum"
}

# row PROGRAM N DEVICE SOURCE ARGUMENT..
row() {
    local program=$1 n=$2 device=$3 source=$4 hand_ms=- hand_peak=- ratio=-
    shift 4
    if [ -f "${source%.pipe}.c" ] && [ -n "$clang" ]; then
        measure "$clang" -O2 -march=x86-64-v3 -ffp-contract=off "-DN=$n" -c "${source%.pipe}.c" -o "$out/hand.o"
        if [ "$status" = 0 ]; then hand_ms=$ms hand_peak=$peak; fi
    fi
    measure "$PIPEC" --time-report -q "--device=$device" "$@" "$source" -o "$out/program.pbc"
    if [ "$status" != 0 ]; then ms="exit $status"; fi
    [ "$hand_ms" = - ] || ratio=$(awk -v a="$ms" -v b="$hand_ms" 'BEGIN { printf "%.1f", b ? a / b : 0 }')
    printf '%-10s %5s %-6s %8s %5s %7s %7s %6s %7s %7s %7s %8s %8s %5s %6s\n' "$program" "$n" "$device" "$ms" "$peak" \
        "$(phase 'front end')" "$(phase analyses)" "$(phase 'less work, fusion')" "$(phase plan 'plan: trials')" \
        "$(phase 'LLVM: building' 'LLVM: optimising')" "$(phase 'LLVM: machine code')" \
        "$(awk '/^after loops/ { print $NF }' "$out/report")" "$hand_ms" "$hand_peak" "$ratio"
}

printf '%-10s %5s %-6s %8s %5s %7s %7s %6s %7s %7s %7s %8s %8s %5s %6s\n' program N device 'pipec ms' MiB front analyses \
    fusion plan LLVM code instrs 'clang ms' MiB ratio
for device in ${DEVICES:-cpu sim1 sim4 sim16}; do
    while read -r program n _; do
        if [ "$program" = '#' ]; then continue; fi
        [[ " ${PROGRAMS:-$program} " == *" $program "* ]] || continue
        row "$program" "$n" "$device" "$here/compile/$program.pipe" -D "N=$n"
    done <"$here/compile/corpus.txt"
    [ -z "${PROGRAMS:-}" ] || continue
    for file in "$here"/pipes/*.pipe "$ROOT"/examples/*/*.pipe; do
        case $file in
        */growth.pipe) row growth 256 "$device" "$file" -D KERNELS=256 ;;
        *) row "$(basename "$file" .pipe)" - "$device" "$file" ;;
        esac
    done
done
cat <<'END'

Processor time, with the linker's and without waiting; MiB: the most at one time, 55 of which are LLVM's library.
front .. code: milliseconds of each phase; LLVM: building and optimising.  instrs: LLVM instructions after the loops
that are written out: a count that tests/e2e/compile_work.sh bounds.  clang: -O2 of the same computation in C.
Goals: 500 ms for a nest, 3,000 ms for anything.
END
