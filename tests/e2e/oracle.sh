#!/bin/sh
# Drawn programs (tests/pipesmith; N of them from SEED on, each in some of the configurations) have the bytes, the
# exit status, the fault and the numbers of packets that the reference interpreter (tests/oracle) gives them, as they
# stand and as a relation changes them; and that is noticed where it is not so: where the interpreter says nothing,
# where an output has a wrong byte, and where the interpreter has a mistake.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }

# interpreter NAME [EXPRESSION]: compiled, from sources that sed has changed so
interpreter() {
    mkdir -p "$1.d/tests/oracle"
    for file in "$ROOT"/tests/oracle/kahn*; do sed "${2-}" "$file" >"$1.d/tests/oracle/${file##*/}"; done
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -I"$1.d" -o "$1" \
        "$1.d"/tests/oracle/*.c -lm
}

differ() { nice python3 "$ROOT/tests/pipesmith/differ.py" -j "${JOBS:-2}" --each "${EACH:-3}" "$@"; }

interpreter kahn || exit 1
KAHN=$TMP/kahn
export KAHN
check "${N:-100} programs from ${SEED:-1} on do as the interpreter says" \
    differ -n "${N:-100}" -s "${SEED:-1}" ${KEEP:+--keep "$KEEP"}
check "programs on the border of what is right are refused if and only if the interpreter says so" \
    differ -n "${N:-100}" -s "${SEED:-1}" --border
if [ -n "${SOAK-}" ]; then
    check "graphs of up to 2048 nodes" differ -n $((${N:-100} / 20)) -s "${SEED:-1}" --extreme 2048
    exit
fi
check "graphs of up to 256 nodes" differ --each 2 -n 8 -s "${SEED:-1}" --extreme 256

# noticed NAME ARGUMENTS: differ finds a difference
noticed() {
    name=$1
    shift
    if differ --first "$@" >log; then cat log; check "noticed: $name" false; else check "noticed: $name" true; fi
}

EACH=1
KAHN=/bin/true noticed "an interpreter that says nothing" -n 4

mkdir flip
ln -s "$PIPEC" flip/pipec
cat >flip/piperun <<END
#!/bin/sh
"$PIPERUN" "\$@" || exit
for word; do
    case \$word in b*.raw) printf '\\377\\001\\377' | dd of="\${word#*=}" conv=notrunc 2>/dev/null ;; esac
done
END
chmod +x flip/piperun
BUILD=$TMP/flip noticed "outputs with wrong bytes" -n 8

# mistake NAME EXPRESSION [OPTION]: an interpreter with a mistake is told from the compiler within 60 programs
mistake() {
    interpreter "$1" "$2" || { check "mistake $1" false; return; }
    if cmp -s "$1" kahn; then check "mistake $1" false; return; fi
    KAHN=$TMP/$1 noticed "an interpreter that has the mistake: $1" -n 60 ${3:+"$3"}
}
mistake rooms 's/held + burst > c->depth/held > c->depth + burst/' --border
mistake remains 's/rest - kept > most/rest - kept < most/' --border
mistake shifts 's/b % scalar_bits(scalar)/b % 64/'
mistake remainders 's/(int64_t)a % (int64_t)b)/((int64_t)a % (int64_t)b + (int64_t)b) % (int64_t)b)/'
mistake conversions 's/if (isnan(value)) return 0;/if (isnan(value)) return 1;/'
mistake windows 's/+ (size_t)index) \* p->type->size/+ (size_t)index \/ 2 * 2) * p->type->size/'
mistake ends 's/return end->channel->closed ? ENDS : WAITS;/return end->channel->closed \&\& end->at ? ENDS : WAITS;/'
mistake phases 's/node->firings % node->phases)/node->firings % 1)/'
