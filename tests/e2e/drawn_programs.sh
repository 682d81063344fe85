#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2013 # names have no blanks
# Random programs (N of them from SEED on; `make check` draws three, `make check-long` nine): accepted, since the oracle says that they run for ever, and the same packets on
# one compute unit, on sixteen with four threads, with the minimum depths declared, and with neighbours made one stage, there and
# on the host's own cores.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
${CC:-cc} -std=c11 -O1 -I"$ROOT" -o draw "$ROOT/tests/e2e/draw_program.c" "$ROOT/tests/reference/oracle.c" \
    "$ROOT/tests/reference/oracle_draw.c" || exit 1

# depths: the depths found of p.cmds as commands.
depths() { inner_depths p.cmds | awk -F '\t' '{ print "set " $1 " depth " $2 ";" }'; }

# packets CONTAINER DEVICE THREADS NAME
packets() {
    container=$1 device=$2 threads=$3 name=$4
    set -- --device "$device" --host-threads "$threads" --firings 37
    for port in $(sed -n 's/^create in "\(.*\)" .*/\1/p' p.cmds); do set -- "$@" "$port=gen:noise:3:200"; done
    for port in $(sed -n 's/^create out "\(.*\)" .*/\1/p' p.cmds); do set -- "$@" "$port=$name.$port.raw,raw"; done
    timeout 30 "$PIPERUN" -q "$container" "$@" 2>>errors
}

refused='' stopped='' other='' seed=${SEED:-1}
N=${N:-$((3 + 6 * ${LONG:-0}))} last=$((seed + N))
while [ "$seed" -lt "$last" ]; do
    rm -f ./*.raw
    ./draw "$seed" >p.pipe
    "$PIPEC" graph --format=cmds -o p.cmds p.pipe 2>>errors
    { cat p.cmds && depths; } >least.cmds
    "$PIPEC" -q -O0 --device sim1 p.pipe -o one.pbc 2>>errors && "$PIPEC" -q --device sim16 p.pipe -o many.pbc 2>>errors &&
        "$PIPEC" -q -O0 --device sim16 least.cmds -o least.pbc 2>>errors &&
        "$PIPEC" -q --device sim16 --fuse p.pipe -o fused.pbc 2>>errors &&
        "$PIPEC" -q --device cpu p.pipe -o host.pbc 2>>errors || refused="$refused $seed"
    packets one.pbc sim1 1 one && packets many.pbc sim16 4 many && packets least.pbc sim16 1 least &&
        packets fused.pbc sim16 4 fused && packets host.pbc cpu:2 2 host || stopped="$stopped $seed"
    for file in one.*.raw; do
        for way in many least fused host; do cmp -s "$file" "$way${file#one}" || other="$other $seed:$way"; done
    done
    seed=$((seed + 1))
done
[ -z "$refused$stopped$other" ] || cat errors
check "$N programs are accepted:$refused" test -z "$refused"
check "they run to their end:$stopped" test -z "$stopped"
check "they write the same packets everywhere:$other" test -z "$other"
