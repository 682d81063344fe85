# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# checks.sh: what the scripts of tests/e2e say their results with.  Sourced, in the folder of the test:
#
#   . "$ROOT/tests/checks.sh"

# check NAME COMMAND...: one line of the result.
check() {
    claim=$1
    shift
    if "$@"; then echo "ok $claim"; else echo "not ok $claim"; fi
}

# says STATUS PATTERN COMMAND...: the exit status, and an extended pattern in both outputs together, which stay in `text`.
says() {
    want=$1 pattern=$2 found=0
    shift 2
    "$@" >text 2>&1 </dev/null || found=$?
    [ "$found" -eq "$want" ] && grep -Eq -e "$pattern" text && return
    echo "exit status $found, expected $want and /$pattern/"
    cat text
    return 1
}

# parses FILE: as JSON, where there is something that knows.
parses() { if command -v python3 >/dev/null; then python3 -m json.tool >/dev/null <"$1"; else grep -q '^}$' "$1"; fi; }

# unparsed FILE...: those that are not JSON, all by one process, where there is something that knows.
unparsed() {
    if ! command -v python3 >/dev/null; then grep -L '^}$' "$@"; return; fi
    python3 - "$@" <<'END'
import json, sys
for name in sys.argv[1:]:
    try:
        json.load(open(name, encoding="utf-8"))
    except ValueError as error:
        print(f"{name}: {error}")
END
}

# inner_depths FILE: name (quoted, as in lists), depth and least depth (0: not known) of each inner buffer, tab between.
inner_depths() {
    "$PIPEC" inspect --json "$1" 2>/dev/null | awk '
        /^  "buffers"/ { inside = 1 }
        /^  "exact"/ { inside = 0 }
        !inside { next }
        /^      "name"/ { name = $0; sub(/^ *"name": /, "", name); sub(/,$/, "", name) }
        /^      "writer"/ { bound = !/: null/ }
        /^      "readers"/ { if (/\[\]/) bound = 0 }
        /^      "depth_packets"/ { depth = $2 + 0 }
        /^      "depth_min_packets"/ { if (bound) print name "\t" depth "\t" $2 + 0 }'
}
