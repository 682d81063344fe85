#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2013 # names have no blanks
# Random programs (N of them from SEED on; `make check` draws two, `make check-long` six), as they are and with a stage that drops packets and a chain after each out-port: every
# layout's scheduler program is verified, and, without its static part, with each form of packets, and on 1, 4 and 16 compute units,
# it writes the same packets and leaves the same ones over.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
${CC:-cc} -std=c11 -O1 -I"$ROOT" -o draw "$ROOT/tests/e2e/draw_program.c" "$ROOT/tests/reference/oracle.c" \
    "$ROOT/tests/reference/oracle_draw.c" || exit 1

# drop <PROGRAM: with the stages after its out-ports.
drop() {
    cat <<'END'
kernel some(in u64 x, out u64 y push 0..1) { if (x % 3 != 0) y <- x; }
kernel slide(in u64 x peek 5, out u64 y) { y <- x[0] + x[4]; }
kernel pairs(in u64 x pop 2, out u64 y) { y <- x[0] - x[1]; }
END
    awk '/^pipeline/ { line = $0
                       while (match(line, /out u64 o[0-9]+/)) {
                           at = substr(line, RSTART + 9, RLENGTH - 9)
                           buffers = buffers "    buffer u64 m" at ", t" at ", v" at ";\n"
                           more = more "    some(m" at " -> t" at ");\n    slide(t" at " -> v" at ");\n    pairs(v" at " -> o" at ");\n"
                           line = substr(line, RSTART + RLENGTH)
                       }
                       printf "%s\n%s", $0, buffers; inside = 1; next }
         inside && /^}/ { printf "%s", more }
         inside { gsub(/-> o/, "-> m") ; gsub(/, o/, ", m") }
         { print }'
}

# twin CONTAINER: without its static part, which stands between what binds and `ends`.
twin() {
    "$PIPERUN" disasm "$1" | awk '
        /^ *(packets|bind|bind_root|load_reference|partition_[a-z]*) / { print; bound = 1; next }
        !bound || looping { print; next }
        /^ *ends/ { print label; print; looping = 1 }
        { label = $0 }' | "$PIPERUN" asm - --into "$1" -o twin.pbc
}

# packets NAME CONTAINER OPTIONS...: what it writes, and what it says of leftovers, as NAME.*
packets() {
    name=$1 container=$2
    shift 2
    set -- "$@" --firings 37 --host-threads 2
    for port in $ins; do set -- "$@" "$port=gen:noise:3:200"; done
    for port in $outs; do set -- "$@" "$port=$name.$port.raw,raw"; done
    timeout 60 "$PIPERUN" "$container" "$@" 2>"$name.said" || return 1
    grep 'left over' "$name.said" | sort >"$name.left"
}

# same NAME: as `first` has it?
same() {
    for port in $outs; do cmp -s "first.$port.raw" "$1.$port.raw" || return 1; done
    cmp -s first.left "$1.left"
}

# whole DEVICE LAYOUT: compiles p.pipe and compares its runs.
whole() {
    "$PIPEC" -q -O0 --device "$1" --layout="$2" p.pipe -o p.pbc 2>>errors || { refused="$refused $seed:$kind:$1:$2"; return; }
    "$PIPERUN" verify p.pbc >>errors 2>&1 || refused="$refused $seed:$kind:$1:$2"
    "$PIPEC" inspect --json p.pbc | sed -n 's/.*"kind": "\([a-z]*\)".*/\1/p' >>kinds
    twin p.pbc 2>>errors && "$PIPERUN" verify twin.pbc >>errors 2>&1 || refused="$refused $seed:$kind:$1:$2:twin"
    [ -e first.left ] || packets first twin.pbc --device "$1" || stopped="$stopped $seed:$kind:$1:$2"
    for form in full reference condensed; do
        packets one p.pbc --device "$1" --dispatch=$form || stopped="$stopped $seed:$kind:$1:$2:$form"
        same one || other="$other $seed:$kind:$1:$2:$form"
    done
    packets one twin.pbc --device "$1" || stopped="$stopped $seed:$kind:$1:$2:twin"
    same one || other="$other $seed:$kind:$1:$2:twin"
}

refused='' stopped='' other='' seed=${SEED:-1}
N=${N:-$((2 + 4 * ${LONG:-0}))} last=$((seed + N))
: >kinds
while [ "$seed" -lt "$last" ]; do
    ./draw "$seed" >plain.pipe
    drop <plain.pipe >drop.pipe
    for kind in plain drop; do
        rm -f first.* one.*
        cp $kind.pipe p.pipe
        ins=$(sed -n 's/^pipeline main(\(.*\)).*/\1/p' p.pipe | tr ',' '\n' | awk '$1 == "in" { print $3 }')
        outs=$(sed -n 's/^pipeline main(\(.*\)).*/\1/p' p.pipe | tr ',' '\n' | awk '$1 == "out" { print $3 }')
        whole sim16 sequence
        whole sim16 side-by-side
        whole sim4 groups
        whole sim1 auto
    done
    seed=$((seed + 1))
done
[ -z "$refused$stopped$other" ] || cat errors
check "$N programs, and as many that drop packets, are accepted, and so are their schedules:$refused" test -z "$refused"
check "they run to their end:$stopped" test -z "$stopped"
check "they write the same packets and leave the same ones over:$other" test -z "$other"
for kind in static mixed guarded; do check "some are $kind" grep -q $kind kinds; done
