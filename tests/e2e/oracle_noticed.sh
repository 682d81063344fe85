#!/bin/sh
# SPDX-License-Identifier: MIT
# What is between drawn programs and the reference interpreter (oracle.sh) is noticed: where the interpreter says nothing,
# where an output has a wrong byte, and where the interpreter has a mistake.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
# shellcheck source=tests/oracle/differ.sh
. "$ROOT/tests/oracle/differ.sh"

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

mkdir mute
ln -s "$PIPEC" mute/pipec
cat >mute/piperun <<END
#!/bin/sh
"$PIPERUN" "\$@" 2>notes.\$\$
status=\$?
sed "/left over in buffer 'in[0-9]/b; /left over/d" notes.\$\$ >&2
rm -f notes.\$\$
exit \$status
END
chmod +x mute/piperun
BUILD=$TMP/mute noticed "notes that leave out buffers between nodes" --configs cpu -n 8

mkdir refuse
ln -s "$PIPERUN" refuse/piperun
cat >refuse/pipec <<END
#!/bin/sh
for word; do case \$word in *.pipe) source=\$word ;; esac; done
if grep -q 'stop;' "\$source"; then
    echo "\$source:1:1: error: 'k' declares push 3 on 'y', its body appends 0 packets [rate-mismatch]" >&2
    exit 1
fi
exec "$PIPEC" "\$@"
END
chmod +x refuse/pipec
BUILD=$TMP/refuse noticed "a compiler that refuses what the interpreter runs" -n 30

# mistake NAME EXPRESSION [OPTION]: an interpreter with a mistake differs from the compiler within 60 programs
mistake() {
    interpreter "$1" "$2" || { check "mistake $1" false; return; }
    if cmp -s "$1" kahn; then check "mistake $1" false; return; fi
    KAHN=$TMP/$1 noticed "an interpreter that has the mistake: $1" -n 60 ${3:+"$3"}
}
# `make check` tries one of the mistakes, `make check-long` all.
mistake rooms 's/held + burst > c->depth/held > c->depth + burst/' --border
[ -n "${LONG-}" ] || exit 0
mistake remains 's/rest - kept > most/rest - kept < most/' --border
mistake shifts 's/b % scalar_bits(scalar)/b % 64/'
mistake remainders 's/(int64_t)a % (int64_t)b)/((int64_t)a % (int64_t)b + (int64_t)b) % (int64_t)b)/'
mistake conversions 's/if (isnan(value)) return 0;/if (isnan(value)) return 1;/'
mistake windows 's/+ (size_t)index) \* p->type->size/+ (size_t)index \/ 2 * 2) * p->type->size/'
mistake ends 's/if (end->channel->closed) return ENDS;/if (end->channel->closed \&\& end->at) return ENDS;/'
mistake demand 's/if (!node->faulted || !node->wanted) continue;/if (!node->faulted) continue;/'
mistake stops 's/if (firing.stopped) {/if (firing.stopped \&\& !node->in_elements) {/'
mistake phases 's/node->firings % node->phases)/node->firings % 1)/'
