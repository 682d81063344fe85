#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pipelines.sh RUNS PIPERUN [DEVICE [JOBS]]: repeats recorded runs on a GPU. Outputs, exit status and messages must be the same.
#
# RUNS has a folder for each run, which tests/run.sh has recorded: program.pbc, arguments (a line each), in.* (inputs),
# expected.* (outputs), status, stderr. Exit status: 0 all are equal, 1 some differ.
set -eu
runs=$1 piperun=$2 device=${3:-cuda} jobs=${4:-1}

# repeat FOLDER: one line of the result.
repeat() {
    local name arguments=() argument expected status=0 wrong=
    name=$(basename "$1")
    cd "$1"
    rm -f out.*
    while IFS= read -r argument; do arguments+=("$argument"); done <arguments
    timeout -k 5 60 "$piperun" --device "$device" program.pbc "${arguments[@]}" >said 2>&1 </dev/null || status=$?
    [ "$status" = "$(cat status)" ] || wrong="exit status $status, expected $(cat status): $(head -n 1 said)"
    # Figures of depths and times may differ.
    diff <(sed 's/[0-9]\{4,\}//g' stderr) <(sed 's/[0-9]\{4,\}//g' said) >/dev/null || wrong+="${wrong:+; }message: $(head -n 1 said)"
    for expected in expected.*; do
        [ -e "$expected" ] || continue
        cmp -s "$expected" "out.${expected#expected.}" || wrong+="${wrong:+; }output ${expected#expected.}"
    done
    if [ -z "$wrong" ]; then echo "ok $name"; else echo "not ok $name: $wrong"; fi
}
export -f repeat
export piperun device
# shellcheck disable=SC2016 # the inner shell expands it
find "$runs" -mindepth 1 -maxdepth 1 -type d -print0 | sort -z | xargs -0 -P "$jobs" -I{} bash -c 'repeat "$1"' repeat {} | tee "$runs/results"
different=$(grep -c '^not ok' "$runs/results") || true
echo "$(wc -l <"$runs/results") pipelines, $different differ"
[ "$different" = 0 ]
