#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "compile" of `make bench`: what compiling ordinary programs takes, against clang -O2 on the same in C.
#
#   ONLY=compile make bench        DEVICES=cpu PROGRAMS="nest3 fan" ONLY=compile make bench
#
# Environment: ROOT, BUILD, PIPEC, PIPERUN (set by make); DEVICES (default: cpu sim1 sim4 sim16); PROGRAMS, names of
# compile/corpus.txt (default: all, and the examples and benchmarks); BENCH_CC (compiler.sh).  Exit status 1: a program fails,
# misses its goal, or gives other packets than its C.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
PIPERUN=${PIPERUN:-$BUILD/piperun}
here=$ROOT/tests/bench
out=$BUILD/bench/compile
seconds=120 mib=16000
clang=$("$here/compiler.sh")
clang=$(command -v "$clang") # `within` looks in no folder
mkdir -p "$out"
${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -o "$out/within" "$ROOT/tests/limit/within.c"
missed=0 summary=

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

# expect PROGRAM N: packets for the in-ports, and what the C of the program makes of them: the files packets.*.
expect() {
    local of=$1 source=$1
    case $1 in boxes | kernels) of=cipher source=boxes ;; esac # `kernels` is `boxes` with a kernel for each stage
    [ "$expected" != "$1 $2" ] || return 0
    "${CC:-cc}" -std=c11 -O1 -ffp-contract=off "-DN=$2" "-DPROGRAM=$of" "-DSOURCE=\"$source.c\"" "$here/compile/hand.c" \
        -o "$out/hand" -lm
    "$out/hand" "$out/packets.x" "$out/packets.b" "$out/packets.y"
    expected="$1 $2"
}
expected=

# result PROGRAM N: whether the container gives the packets of the C.
result() {
    local ports=("x=$out/packets.x,raw")
    if [ ! -f "$here/compile/$1.c" ] || [ "$2" = - ]; then
        echo -
        return
    fi
    expect "$1" "$2"
    [ "$1" != nest3 ] || ports=("a=$out/packets.x,raw" "b=$out/packets.b,raw")
    rm -f "$out/packets.run"
    if "$PIPERUN" -q "$out/program.pbc" "${ports[@]}" "y=$out/packets.run,raw" >/dev/null 2>&1 &&
        cmp -s "$out/packets.y" "$out/packets.run"; then
        echo same
    else
        echo other
    fi
}

declare -A longest
# longest nest|row MS
longest() { if [ "$2" -gt "${longest[$1]}" ]; then longest[$1]=$2; fi; }

# row PROGRAM N DEVICE SOURCE ARGUMENT..
row() {
    local program=$1 n=$2 device=$3 source=$4 hand_ms=- hand_peak=- ratio=- goal=3000 packets=-
    shift 4
    case $program in nest?) goal=500 ;; esac
    if [ -f "${source%.pipe}.c" ]; then
        measure "$clang" -O2 -march=x86-64-v3 -ffp-contract=off "-DN=$n" -c "${source%.pipe}.c" -o "$out/hand.o"
        if [ "$status" = 0 ]; then hand_ms=$ms hand_peak=$peak; else missed=1 hand_ms="exit $status"; fi
    fi
    measure "$PIPEC" --time-report -q "--device=$device" "$@" "$source" -o "$out/program.pbc"
    [ "$hand_peak" = - ] || ratio=$(awk -v a="$ms" -v b="$hand_ms" 'BEGIN { printf "%.1f", b ? a / b : 0 }')
    if [ "$status" = 0 ]; then packets=$(result "$program" "$n"); fi
    if [ "$status" != 0 ] || [ "$ms" -gt "$goal" ] || [ "$packets" = other ]; then missed=1; fi
    if [ "$goal" = 500 ]; then longest nest "$ms"; fi
    longest row "$ms"
    if [ "$ms" -gt "$goal" ]; then ms="$ms!"; fi
    if [ "$status" != 0 ]; then ms="exit $status"; fi
    # shellcheck disable=SC2059 # both lines of the table have these columns
    printf "$columns" "$program" "$n" "$device" "$ms" "$peak" \
        "$(phase 'front end')" "$(phase analyses)" "$(phase 'less work, fusion')" "$(phase plan 'plan: trials')" \
        "$(phase 'LLVM: building' 'LLVM: optimising')" "$(phase 'LLVM: machine code')" \
        "$(awk '/^after loops/ { print $NF }' "$out/report")" "$hand_ms" "$hand_peak" "$ratio" "$packets"
}

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs; $("$PIPEC" --version | head -n 1)"
echo "by hand: $("$clang" --version | head -n 1); -O2 -march=x86-64-v3 -ffp-contract=off"
columns='%-11s %4s %-6s %8s %5s %6s %9s %7s %5s %6s %6s %7s %9s %5s %6s %8s\n'
for device in ${DEVICES:-cpu sim1 sim4 sim16}; do
    longest=([nest]=0 [row]=0)
    echo
    # shellcheck disable=SC2059
    printf "$columns" program N device 'pipec ms' MiB front analyses fusion plan LLVM code instrs 'clang ms' MiB ratio packets
    while read -r program n _; do
        if [ "$program" = '#' ]; then continue; fi
        [[ " ${PROGRAMS:-$program} " == *" $program "* ]] || continue
        row "$program" "$n" "$device" "$here/compile/$program.pipe" -D "N=$n"
    done <"$here/compile/corpus.txt"
    for file in "$here"/pipes/*.pipe "$ROOT"/examples/*/*.pipe; do
        [ -z "${PROGRAMS:-}" ] || continue
        grep -q '^pipeline ' "$file" || continue # it is imported
        case $file in
        */growth.pipe) row growth 256 "$device" "$file" -D KERNELS=256 ;;
        *) row "$(basename "$file" .pipe)" - "$device" "$file" ;;
        esac
    done
    summary+=$(printf '%-7s %7s %12s' "$device" "${longest[nest]}" "${longest[row]}")$'\n'
done
printf '\n%-7s %7s %12s\n%s' longest 'nest ms' 'program ms' "$summary"
cat <<'END'

Processor time, with the linker's and without waiting; MiB: the most at one time, 55 of which are LLVM's library.
front .. code: milliseconds of each phase; LLVM: building and optimising.  instrs: LLVM instructions after the loops
that are written out: a count that tests/e2e/compile_work.sh bounds.  clang: the same computation in C.  packets: whether
the program gives the packets of that C (`kernels`: of the C of `boxes`), or `-` where there is none.
Goals: 500 ms for a nest, 3,000 ms for anything.  `!`: the goal is missed.
END
exit "$missed"
