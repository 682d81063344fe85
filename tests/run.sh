#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests and ends with "N passed, N failed, N skipped"; exit 0 if none failed, else 1.
#
#   tests/run.sh [-v] [-t] [-j N] [--long] [--bless] [PATH...]
#
# PATH is a case or a folder: tests/lang/fir.pipe, tests/unit/test_rate.c, tests/e2e, examples/fmradio; default
# all.  --bless rewrites .stderr and .golden files, and outputs in pages.  -v names what passed too.  -t ends with the processor
# and elapsed seconds of each case, the largest first.  --long (`make check-long`) sets LONG=1, which asks cases for all
# of a work of which they otherwise do a part; without PATH it runs these cases only.  `make check` builds first.
#
# Environment: BUILD (default build/release), PIPEC, PIPERUN (default: in BUILD), PIPEC2 (a pipec built with
# another LLVM, which tests/lang, and with LONG tests/reject, are run with as well), GPU_DEVICE (as `cuda`: tests/lang and test blocks run
# on this GPU only, and what GPUs refuse is skipped; tests/gpu/check.sh).
#
# Cases:
#   tests/unit/test_*.c, tests/conform/test_*.c, tests/reference/test_*.c
#                             cmocka programs, built as BUILD/tests/test_*; each test counts
#   tests/fuzz/fuzz_NAME.c    the seeds in tests/fuzz/corpus/NAME, run through BUILD/tests/replay_fuzz_NAME;
#                             those of containers are compiled from tests/fuzz/containers.pipe, and have to load;
#                             then some of their bits are flipped (tests/fuzz/damage.c; `make damage` takes all)
#   tests/lang/*.pipe         accepted programs.  Compiled for every device, run with 1 and 4 host threads, and
#                             once fused (--fuse) or in debug mode, and on the emulated GPU (half of them), with LONG all
#                             of that; where once is fused, stages of simulated devices are apart, elsewhere the
#                             clock decides: all outputs must be the same bytes.  PIPEC2 compiles
#                             every eighth program for the first device and fused for the last, with LONG all.  Directives, in // comments:
#       // compile: ARGS        more arguments for pipec
#       // devices: LIST        instead of "cpu sim1 sim16" (sim1 in half of the programs), with LONG "cpu sim1 sim4 sim16"
#       // run: WORD...         starts a run (several may follow one another).  IN=TYPE:LIST gives a port these
#                               packets (values.pl says what a LIST is); all other words, as IN=gen:ramp:8,
#                               -D volume=2, --firings 10, go to piperun as they are
#       // expect: OUT=TYPE:LIST...   the packets of an out-port; TYPE~TOLERANCE for floats; OUT=* takes any
#                               (several for one port, in one or more lines, are concatenated)
#       // expect-exit: N       exit status of the run, default 0
#       // expect-stderr: REGEX    what piperun's standard error must match (extended)
#       // chunked: IN          also run with this port on standard input, in chunks of 1 to 7 bytes
#                             A file without `run` has to compile; its exit status and outputs tell.
#   tests/lang/*.pipe, tests/std/*.pipe, examples/*/*.pipe with test blocks: each block counts (pipec test)
#   tests/reject/*.pipe       `pipec [compile: ARGS] FILE` must exit 1 with exactly FILE's .stderr
#   tests/golden/*.pipe       `// golden: ARGS` (one or more): what `pipec ARGS FILE` says must be FILE's .golden
#   tests/e2e/*.sh, tests/limit/*.sh, examples/*/check.sh
#                             exit 0: passed; 77: skipped, reason in the last line; else failed.  A script counts
#                             as many if it prints lines "ok NAME", "not ok NAME", "skip NAME REASON".  It is run
#                             in a fresh folder TMP, with ROOT, BUILD, PIPEC, PIPERUN, VARIANT set.
set -eu
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
unset T # would have the cmocka programs leave most of their tests out (tests/test.h); `make fuzz T=60` exports it

ROOT=$(cd "$(dirname "$0")/.." && pwd)
CALLER=$PWD
cd "$ROOT"
BUILD=${BUILD:-$ROOT/build/${VARIANT:-release}}
BUILD=$(realpath -m "$BUILD")
VARIANT=${VARIANT:-$(basename "$BUILD")}
PIPEC=${PIPEC:-$BUILD/pipec}
PIPERUN=${PIPERUN:-$BUILD/piperun}
PIPEC2=${PIPEC2-}
LONG=${LONG-}
export ROOT BUILD VARIANT PIPEC PIPERUN LONG
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:exitcode=99:allocator_may_return_null=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:exitcode=98}

# A test may call make with the variables of this one, but not share its job server.
MAKEFLAGS=$(sed -E 's/ *-j[0-9]*//; s/ *--jobserver[^ ]*//g' <<<"${MAKEFLAGS-}")
export MAKEFLAGS

verbose=
timed=
bless=
jobs=$(($(nproc) + 1)) # some cases wait
while [ $# -gt 0 ]; do
    case $1 in
    -v) verbose=1 ;;
    -t) timed=1 ;;
    -j) jobs=$2; shift ;;
    -j*) jobs=${1#-j} ;;
    --long) LONG=1 ;;
    --bless) bless=1; export BLESS=1 ;;
    -*) sed -n '2,/^set -eu/{/SPDX/d;/^#/p}' "$0"; exit 2 ;;
    *) break ;;
    esac
    shift
done

# work_folder: where the folders of the cases lie: in memory, if there is room and programs can be started from there.  On a
# disk, a run that publishes an output takes half as much processor time again.  The long cases stay on the disk, so that
# both are tested.
work_folder() {
    local folder=/dev/shm room=0
    if [ -z "$LONG" ] && [ -w $folder ] && ! findmnt -n -o OPTIONS -T $folder 2>/dev/null | grep -qw noexec; then
        room=$(df --output=avail -k $folder | tail -n 1)
    fi
    [ "$room" -ge $((6 << 20)) ] || folder=/tmp # KiB
    echo "${TMPDIR:-$folder}"
}
WORK=$(mktemp -d -p "$(work_folder)")
trap 'rm -rf "$WORK"' EXIT
# python3 may be a script that looks for one of several versions (pyenv), with site-packages that import much at each start:
# twenty processes, a tenth of a second.  The tests start it hundreds of times and need the standard library only.
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null); then
    mkdir "$WORK/bin"
    printf '#!/bin/sh\nexec "%s" -S "$@"\n' "$python" >"$WORK/bin/python3"
    chmod +x "$WORK/bin/python3"
    PATH=$WORK/bin:$PATH
fi
trap 'kill $(jobs -p) 2>/dev/null || true; exit 130' INT TERM

# ---- What a case may say: results go to descriptor 3, everything else is its transcript ----

pass() { printf 'ok\t%s\n' "$1" >&3; }
fail() { printf 'not ok\t%s\n' "$1" >&3; }
skip() { printf 'skip\t%s\t%s\n' "$1" "${2:-no reason given}" >&3; }
limited() { timeout -k 5 "${LIMIT_SECONDS:-120}" "$@"; }

# directive NAME FILE: the texts of these directives, one a line.
directive() { sed -n "s|^[[:space:]]*//[[:space:]]*$1:[[:space:]]*||p" "$2"; }

# ---- cmocka ----

run_unit() {
    local binary=$1 group status=0 planned reported
    group=unit/$(basename "$binary")
    CMOCKA_MESSAGE_OUTPUT=tap LIMIT_SECONDS=600 limited "$binary" >"$TMP/out" 2>&1 || status=$?
    cat "$TMP/out"
    awk -v group="$group" '
        /^# SKIP-REASON: / { reason = substr($0, 16); next }
        /^(not )?ok [0-9]+ # SKIP / { sub(/.*# SKIP /, ""); print "skip\t" group "/" $0 "\t" reason; reason = ""; next }
        /^ok [0-9]+ - / { sub(/^ok [0-9]+ - /, ""); print "ok\t" group "/" $0; next }
        /^not ok [0-9]+ - / { sub(/^not ok [0-9]+ - /, ""); print "not ok\t" group "/" $0 }' "$TMP/out" >"$TMP/results"
    cat "$TMP/results" >&3
    planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$TMP/out" | tail -n 1)
    reported=$(wc -l <"$TMP/results")
    if [ "$reported" -ne "${planned:--1}" ]; then
        fail "$group: ended after $reported of ${planned:-?} tests, exit status $status"
    elif [ "$reported" -eq 0 ]; then
        fail "$group: no test ran"
    elif [ "$status" -ne 0 ] && ! grep -q '^not ok' "$TMP/results"; then
        fail "$group: exit status $status"
    fi
}

run_replay() {
    local binary=$1 name seeds status=0
    name=${binary##*/replay_fuzz_}
    seeds=$ROOT/tests/fuzz/corpus/$name
    if [ "$name" = container ]; then
        seeds=$TMP/seeds
        FUZZ_SEEDS=1
        export FUZZ_SEEDS
        "$ROOT/tests/fuzz/seeds.sh" "$PIPEC" "$seeds" || status=$?
    fi
    if [ ! -d "$seeds" ]; then
        skip "fuzz/$name" "no seeds in tests/fuzz/corpus/$name"
        return
    fi
    find "$seeds" -type f -print0 | sort -z | LIMIT_SECONDS=300 limited xargs -0 "$binary" || status=$?
    if [ "$name" = container ]; then
        unset FUZZ_SEEDS
        find "$seeds" -type f -print0 | sort -z | LIMIT_SECONDS=900 limited xargs -0 "${binary%/*}/damage" $((${LONG:-11} * 97)) || status=$?
    fi
    if [ "$status" -eq 0 ]; then pass "fuzz/$name"; else fail "fuzz/$name"; fi
}

# ---- tests/lang ----

# bind WORD...: turns IN=TYPE:LIST into a file and appends to `arguments` what piperun is to be given.
bind() {
    local word
    for word in "$@"; do
        if [[ $word =~ ^([A-Za-z_][A-Za-z0-9_.]*)=(bool|[iu](8|16|32|64)|b?f16|f32|f64):(.*)$ ]]; then
            local port=${BASH_REMATCH[1]} type=${BASH_REMATCH[2]} list=${BASH_REMATCH[4]}
            [ -e "$TMP/in.$port.raw" ] || arguments+=("$port=$TMP/in.$port.raw")
            tests/values.pl pack "$type" "$list" >>"$TMP/in.$port.raw"
        else
            arguments+=("$word")
        fi
    done
}

# expected WORD...: collects `outputs` (port -> TYPE:LIST or *) from OUT=... words.
expected() {
    local word port value
    for word in "$@"; do
        port=${word%%=*}
        value=${word#*=}
        if [ -n "${outputs[$port]-}" ] && [ "$value" != '*' ]; then
            value=${value#*:}
            case ${outputs[$port]} in
            *:) outputs[$port]+=$value ;;
            *) outputs[$port]+=${value:+,$value} ;;
            esac
        else
            outputs[$port]=$value
        fi
    done
}

slowly() { perl -e '$| = 1; my $n = 0; while (read(STDIN, my $bytes, 1 + $n % 7)) {
    print $bytes; $n++; select undef, undef, undef, 0.0005 if $n < 200 }'; }

# arrives SEED: standard input in pieces of random sizes, with pauses of random lengths between some of them.
arrives() { perl -e '$| = 1; srand shift; my $n = 0; while (read(STDIN, my $bytes, 1 + int rand(rand() < 0.5 ? 5 : 300))) {
    print $bytes; select undef, undef, undef, rand 0.002 if ++$n < 40 && rand() < 0.5 }' "$1"; }

# one_run DEVICE[+debug|+fused] THREADS CHUNKED_PORT|LIVE: runs it, leaves the outputs in TMP/out.*; false if the status is not the expected one.
one_run() {
    local device=$1 threads=$2 chunked=$3 port status=0
    local command=("$PIPERUN" --device "${device%+*}" --host-threads "$threads" "$TMP/$device.pbc")
    local argument pipe pipes=() seed=${SEED:-$threads}
    for argument in "${arguments[@]}"; do
        if [ "$chunked" = LIVE ] && [[ $argument == *="$TMP/in."* ]]; then
            exec {pipe}< <(arrives $((seed++)) <"${argument#*=}")
            pipes+=("$pipe")
            argument=${argument%%=*}=/dev/fd/$pipe
        elif [ -n "$chunked" ] && [ "${argument%%=*}" = "$chunked" ]; then
            argument=$chunked=-,raw
        fi
        command+=("$argument")
    done
    rm -f "$TMP"/out.*
    for port in "${!outputs[@]}"; do
        command+=("$port=$TMP/out.$port.raw")
    done
    if [ -n "$chunked" ] && [ "$chunked" != LIVE ]; then
        slowly <"$TMP/in.$chunked.raw" | limited "${command[@]}" 2>"$TMP/stderr" || status=$?
    else
        limited "${command[@]}" 2>"$TMP/stderr" </dev/null || status=$?
    fi
    for pipe in ${pipes[@]+"${pipes[@]}"}; do exec {pipe}<&-; done
    [ "$status" -eq "$want_status" ] && { [ -z "$want_stderr" ] || grep -Eq -- "$want_stderr" "$TMP/stderr"; } && return
    echo "${command[*]}${chunked:+ (chunked)}: exit status $status, expected $want_status${want_stderr:+ and /$want_stderr/}"
    cat "$TMP/stderr"
    return 1
}

# same_outputs LABEL: compares the outputs with the directives the first time, with that run's bytes later.
same_outputs() {
    local label=$1 port value good=0
    for port in "${!outputs[@]}"; do
        value=${outputs[$port]}
        if [ "$want_status" -ne 0 ]; then
            [ ! -e "$TMP/out.$port.raw" ] || { echo "$label: $port was published by a failed run"; good=1; }
        elif [ ! -e "$TMP/out.$port.raw" ]; then
            echo "$label: no output on $port"; good=1
        elif [ -e "$TMP/first.$port" ]; then
            cmp "$TMP/first.$port" "$TMP/out.$port.raw" || { echo "$label: $port differs from the first run's"; good=1; }
        else
            cp "$TMP/out.$port.raw" "$TMP/first.$port"
            [ "$value" = '*' ] || tests/values.pl compare "${value%%:*}" "${value#*:}" "$TMP/out.$port.raw" \
                || { echo "$label: $port is not as expected"; good=1; }
        fi
    done
    return $good
}

# run_configurations NAME: one `run` directive on every device, with every number of threads.
run_configurations() {
    local name=$1 device threads port verdict=pass
    for device in $devices; do
        for threads in $(case $device in *+debug | cuda*) echo 1 ;; *+fused) echo 4 ;; cpu) echo 1 4 ${LONG:+2 3 8 16} ;; *) echo 1 4 ;; esac); do
            { one_run "$device" "$threads" "" && same_outputs "$name, $device, $threads threads"; } || verdict=fail
            case $device$threads in *+*) continue ;; cpu1) [ -n "$LONG" ] || [ $((${#name} % 4)) = 0 ] || continue ;; cpu* | cuda*) ;; *) continue ;; esac
            { one_run "$device" "$threads" LIVE && same_outputs "$name, $device, $threads threads, in pieces"; } || verdict=fail
        done
        for port in $chunked_ports; do
            { one_run "$device" 1 "$port" && same_outputs "$name, $device, chunked"; } || verdict=fail
        done
    done
    $verdict "$name"
}

# is_optimised DEVICE LAST MODES: is its code optimised in `make check`?  Each program is, for the last of its devices: fused, or
# as it stands.
is_optimised() {
    case $1 in
    sim1 | cuda* | *+debug) false ;;
    "$2") [ "$3" != +fused ] ;;
    esac
}

# is_apart DEVICE LAST MODES: are its stages apart?  Otherwise the clock of a simulated device decides.
is_apart() {
    case $1 in
    *+* | cpu | cuda*) false ;;
    sim1) true ;;
    *) [ "$1" = "$2" ] && [[ $3 == *+fused* ]] ;;
    esac
}

run_lang() {
    local file=$1 pipec=$2 name=$3 devices chunked_ports device flags line key count=0 verdict=pass
    local arguments=() want_status=0 want_stderr=
    local -A outputs=()
    read -ra flags <<<"$(directive compile "$file" | tr '\n' ' ')"
    devices=$(directive devices "$file")
    # sim1 in every second program, the emulated GPU in the others; fused code or debug mode: the length of its name decides.
    local base=${file##*/} sim1='sim1 ' modes='+fused +debug' last='' kind
    [ -n "$LONG" ] || [ $((${#base} % 2)) = 0 ] || sim1=
    devices=${devices:-cpu $sim1${LONG:+sim4 }sim16}
    chunked_ports=$(directive chunked "$file" | tr '\n' ' ')
    if [ "$pipec" = "$PIPEC2" ] && [ -z "$LONG" ]; then
        devices="${devices%% *} ${devices##* }+fused"
    else
        [ -n "$LONG" ] || if [ $((${#base} / 2 % 2)) = 0 ]; then modes=+fused; else modes=+debug; fi
        last=${devices##* }
        for kind in $modes; do devices+=" $last$kind"; done
    fi
    local sets=
    [[ ${flags[*]} != *--march* ]] || sets=1 # it is compiled for other sets than those of GPUs
    if [ -n "${GPU_DEVICE-}" ] && [ -n "$sets" ]; then
        skip "$name" "compiled for instruction sets of processors"
        return
    elif [ -n "${GPU_DEVICE-}" ]; then
        devices="$GPU_DEVICE $GPU_DEVICE+debug"
    elif [ -z "$sets" ] && [ "$pipec" = "$PIPEC" ] && [ "${LONG:-${sim1:-no}}" != 'sim1 ' ]; then
        devices="$devices cuda-emulated"
        # A stall fills the ports there packet by packet.
        [[ $modes != *+debug* ]] || { [ -z "$LONG" ] && grep -q '^// expect-exit: 5' "$file"; } || devices+=' cuda-emulated+debug'
    fi
    for device in $devices; do
        local mode=()
        [[ $device != *+debug ]] || mode=(--debug-mode)
        [[ $device != *+fused ]] || mode=(--fuse)
        is_apart "$device" "$last" "$modes" && mode=(--no-fuse)
        [ -n "$LONG${GPU_DEVICE-}" ] || is_optimised "$device" "$last" "$modes" || mode+=(-O0)
        local target=${device%+*}
        case $target in cuda*) target=cuda ;; esac
        limited "$pipec" --device "$target" "${mode[@]}" "${flags[@]}" "$file" -o "$TMP/$device.pbc" || verdict=fail
    done
    if [ $verdict = fail ]; then
        fail "$name"
        return
    fi
    finish_run() {
        [ $count -eq 0 ] || run_configurations "$name$([ $count -eq 1 ] || echo "#$count")"
        rm -f "$TMP"/first.* "$TMP"/in.*
        arguments=()
        outputs=()
        want_status=0
        want_stderr=
    }
    while IFS= read -r line; do
        key=${line%%:*}
        read -ra line <<<"${line#*:}"
        case $key in
        run) finish_run; count=$((count + 1)); bind ${line[@]+"${line[@]}"} ;;
        expect) expected ${line[@]+"${line[@]}"} ;;
        expect-exit) want_status=${line[0]} ;;
        expect-stderr) want_stderr=${line[*]} ;;
        esac
    done < <(sed -nE 's|^[[:space:]]*//[[:space:]]*((run\|expect\|expect-exit\|expect-stderr):)|\1|p' "$file")
    finish_run
    [ $count -gt 0 ] || pass "$name"
}

# ---- test blocks ----

has_blocks() { grep -Eq '^[[:space:]]*test[[:space:]]+[A-Za-z_]' "$1"; }

# run_blocks FILE NAME: its test blocks, each a test of its own.
run_blocks() {
    local file=$1 name=$2 status=0 where=(-j 2)
    [ -z "${GPU_DEVICE-}" ] || where=(-j 1 --device "$GPU_DEVICE")
    limited "$PIPEC" test "${where[@]}" --format=tap "$file" >"$TMP/tap" 2>"$TMP/stderr" || status=$?
    cat "$TMP/tap" "$TMP/stderr"
    awk -v name="$name" '
        /^ok [0-9]+ - / { sub(/.*: /, ""); print "ok\t" name "/" $0 }
        /^not ok [0-9]+ - / { sub(/.*: /, ""); print "not ok\t" name "/" $0 }' "$TMP/tap" >"$TMP/results"
    cat "$TMP/results" >&3
    if [ "$status" -ne 0 ] && ! grep -q '^not ok' "$TMP/results"; then
        fail "$name: exit status $status"
    elif [ ! -s "$TMP/results" ]; then
        fail "$name: no test ran"
    fi
}

# ---- tests/reject, tests/golden ----

# same_text EXPECTED FOUND: shows the difference, or accepts it with --bless.
same_text() {
    if [ -n "$bless" ]; then
        cp "$2" "$1"
    elif [ ! -e "$1" ]; then
        echo "there is no $1 (tests/run.sh --bless writes it); found:"
        cat "$2"
        return 1
    else
        diff -u --label expected --label found "$1" "$2"
    fi
}

run_reject() {
    local file=$1 pipec=$2 name=$3 flags status=0 verdict=pass
    read -ra flags <<<"$(directive compile "$file" | tr '\n' ' ')"
    (cd "$(dirname "$file")" && limited "$pipec" "${flags[@]}" "$(basename "$file")") \
        >"$TMP/stdout" 2>"$TMP/stderr" || status=$?
    if [ $status -ne 1 ]; then
        echo "exit status $status, expected 1"
        cat "$TMP/stderr"
        verdict=fail
    elif [ -s "$TMP/stdout" ]; then
        echo "standard output is not empty:"
        cat "$TMP/stdout"
        verdict=fail
    else
        same_text "${file%.pipe}.stderr" "$TMP/stderr" || verdict=fail
    fi
    $verdict "$name"
}

run_golden() {
    local file=$1 name=$2 line flags verdict=pass
    while read -ra flags; do
        echo "# pipec ${flags[*]} $(basename "$file")"
        (cd "$(dirname "$file")" && limited "$PIPEC" "${flags[@]}" "$(basename "$file")" 2>&1) \
            || echo "# exit status $?"
    done < <(directive golden "$file") >"$TMP/found"
    if [ ! -s "$TMP/found" ]; then
        echo "no '// golden:' directive"
        verdict=fail
    else
        same_text "${file%.pipe}.golden" "$TMP/found" || verdict=fail
    fi
    $verdict "$name"
}

# ---- scripts ----

run_script() {
    local file=$1 name=$2 status=0
    (cd "$TMP" && LIMIT_SECONDS=900 limited "$file") >"$TMP.log" 2>&1 || status=$?
    cat "$TMP.log"
    awk -v name="$name" '
        /^ok / { print "ok\t" name "/" substr($0, 4) }
        /^not ok / { print "not ok\t" name "/" substr($0, 8) }
        /^skip / { word = $2; sub(/^skip [^ ]+ ?/, ""); print "skip\t" name "/" word "\t" $0 }' "$TMP.log" >"$TMP.results"
    cat "$TMP.results" >&3
    if [ $status -eq 77 ]; then
        skip "$name" "$(tail -n 1 "$TMP.log")"
    elif [ $status -ne 0 ]; then
        grep -q '^not ok' "$TMP.results" || fail "$name: exit status $status"
    elif [ ! -s "$TMP.results" ]; then
        pass "$name"
    fi
    rm -f "$TMP.log" "$TMP.results"
}

run_missing_llvm() { skip llvm19 "no second LLVM: llvm-config-19 is not installed, or PIPEC2 is not given"; }

# ---- Which cases ----

cases=()
add() { cases+=("$(printf '%q ' "$@")"); }

# has_long_part PATH: does LONG change this case?
has_long_part() {
    case $1 in
    */fuzz_container.c) ;;
    */tests/lang/*.pipe) ;;
    */tests/reject/*.pipe) [ -n "$PIPEC2" ] ;;
    *.sh | *.c) grep -qE '\bLONG\b|draw_step' "$1" ;;
    *) false ;;
    esac
}

# has_second_run: does PIPEC2 compile this program as well?  One in eight, starting with the first; with LONG each.
programs=0
has_second_run() {
    programs=$((programs + 1))
    [ -n "$PIPEC2" ] && { [ -n "$LONG" ] || [ $((programs % 8)) = 1 ]; }
}

add_path() {
    local path=$1 name=${1#"$ROOT"/} base
    name=${name#tests/}
    base=$(basename "$path")
    case $path in
    "$BUILD"/tests/test_*) add run_unit "$path" ;;
    "$ROOT"/tests/fuzz/fuzz_*.c) add run_replay "$BUILD/tests/replay_${base%.c}" ;;
    "$ROOT"/tests/unit/test_*.c | "$ROOT"/tests/conform/test_*.c | "$ROOT"/tests/reference/test_*.c)
        add run_unit "$BUILD/tests/${base%.c}" ;;
    "$ROOT"/tests/lang/*.pipe)
        add run_lang "$path" "$PIPEC" "$name"
        [ -n "$only_long" ] || ! has_blocks "$path" || add run_blocks "$path" "$name"
        ! has_second_run || add run_lang "$path" "$PIPEC2" "llvm19/$name" ;;
    "$ROOT"/tests/std/*.pipe | "$ROOT"/examples/*/*.pipe)
        ! has_blocks "$path" || add run_blocks "$path" "$name" ;;
    "$ROOT"/tests/reject/*.pipe)
        [ -n "$only_long" ] || add run_reject "$path" "$PIPEC" "$name"
        [ -z "$PIPEC2" ] || [ -z "$LONG" ] || [ -n "$bless" ] || add run_reject "$path" "$PIPEC2" "llvm19/$name" ;;
    "$ROOT"/tests/golden/*.pipe) add run_golden "$path" "$name" ;;
    "$ROOT"/tests/e2e/*.sh | "$ROOT"/tests/limit/*.sh) add run_script "$path" "${name%.sh}" ;;
    "$ROOT"/examples/*/check.sh) add run_script "$path" "${name%/check.sh}" ;;
    *) echo "tests/run.sh: $path: not a test" >&2; exit 2 ;;
    esac
}

add_folder() {
    local path
    case $1 in
    "$ROOT"/tests/unit | "$ROOT"/tests/conform | "$ROOT"/tests/reference) set -- "$1"/test_*.c ;;
    "$ROOT"/tests/fuzz) set -- "$1"/fuzz_*.c ;;
    "$ROOT"/tests/e2e | "$ROOT"/tests/limit) set -- "$1"/*.sh ;;
    "$ROOT"/tests/lang | "$ROOT"/tests/reject | "$ROOT"/tests/golden) set -- "$1"/*.pipe ;;
    "$ROOT"/tests/std) set -- "$1"/*.pipe ;;
    "$ROOT"/examples) set -- "$1"/*/check.sh "$1"/*/*.pipe ;;
    "$ROOT"/examples/*) set -- "$1/check.sh" "$1"/*.pipe ;;
    *) echo "tests/run.sh: $1: no tests there" >&2; exit 2 ;;
    esac
    for path in "$@"; do
        [ -e "$path" ] || continue
        if [ -z "$only_long" ] || has_long_part "$path"; then add_path "$path"; fi
    done
}

only_long=
if [ $# -eq 0 ]; then
    only_long=$LONG
    # The long cases first: at the end short ones keep all processors busy.
    for folder in tests/limit tests/e2e tests/fuzz tests/unit tests/conform tests/reference tests/std examples tests/lang tests/golden tests/reject; do
        add_folder "$ROOT/$folder"
    done
    [ -n "$PIPEC2" ] || [ "${LLVM_MAJOR-}" = 19 ] || add run_missing_llvm
fi
for path in "$@"; do
    path=$(cd "$CALLER" && realpath -m "$path")
    if [ -d "$path" ]; then add_folder "$path"; else add_path "$path"; fi
done
case "${cases[*]-}" in
*run_lang* | *run_blocks* | *run_reject* | *run_golden* | *run_script*)
    for program in "$PIPEC" "$PIPERUN"; do
        [ -x "$program" ] || { echo "tests/run.sh: no $program: run make first" >&2; exit 2; }
    done ;;
esac

# ---- Run them, `jobs` at a time; report in order ----

execute_case() { (set -e; eval "${cases[$1]}") 3>"$WORK/results$1" >"$WORK/transcript$1" 2>&1 </dev/null; }

run_case() {
    TMP=$WORK/case$1
    export TMP TMPDIR=$TMP.temporary
    mkdir "$TMP" "$TMPDIR"
    set +e
    local TIMEFORMAT="%U %S %R ${cases[$1]//%/%%}"
    { time execute_case "$1"; } 2>"$WORK/times$1"
    # No `||` there: it would switch `set -e` off inside.
    # shellcheck disable=SC2181
    [ $? -eq 0 ] || printf 'not ok\t%s: the test itself is broken\n' "${cases[$1]}" >>"$WORK/results$1"
    rm -rf "$TMP" "$TMPDIR"
    mv "$WORK/results$1" "$WORK/done$1"
}

passed=0
failed=0
skipped=0
skips=
report() {
    local verdict name reason bad=
    while IFS=$'\t' read -r verdict name reason; do
        case $verdict in
        ok) passed=$((passed + 1)); [ -z "$verbose" ] || echo "ok   $name" ;;
        skip) skipped=$((skipped + 1)); skips+="  $name: $reason"$'\n' ;;
        *) failed=$((failed + 1)); bad=1; echo "FAIL $name" ;;
        esac
    done <"$WORK/done$1"
    [ -z "$bad" ] || sed -n '1,100s/^/     /p' "$WORK/transcript$1"
    rm -f "$WORK/transcript$1"
}

next=0
report_finished() {
    while [ -e "$WORK/done$next" ]; do
        report $next
        next=$((next + 1))
    done
}
running=0
for ((i = 0; i < ${#cases[@]}; i++)); do
    if [ $running -ge "$jobs" ]; then
        wait -n || true
        running=$((running - 1))
        report_finished
    fi
    run_case $i &
    running=$((running + 1))
done
wait
report_finished

[ -z "$skips" ] || printf 'skipped:\n%s' "$skips"
if [ -n "$timed" ]; then
    echo "processor s  elapsed s  case"
    cat "$WORK"/times* | awk -v root="$ROOT/" '{ cpu = $1 + $2; elapsed = $3; $1 = $2 = $3 = ""; gsub(root, ""); gsub(/^ +/, "")
        printf "%11.1f  %9.1f  %s\n", cpu, elapsed, $0 }' | sort -rn
fi
cat "$WORK"/times* 2>/dev/null | awk -v elapsed=$SECONDS '{ cpu += $1 + $2 } END { printf "%d s elapsed, %d s of processor time\n", elapsed, cpu }'
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
