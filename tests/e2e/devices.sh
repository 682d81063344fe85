#!/usr/bin/env bash
# Every embedded device: it is listed, each example compiles for it, and what comes out are the bits of sim16.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

devices=$(for file in "$ROOT"/lang/devices/*.dev; do basename "$file" .dev; done)
"$PIPERUN" --list-devices >listed
for device in $devices; do check "$device is listed" grep -q "^$device " listed; done

# ports CONTAINER WHICH: names of its in-ports (nobody writes them) or out-ports (nobody reads them).
ports() {
    "$PIPEC" inspect --json "$1" | awk -v which="$2" '
        /^  "buffers": / { inside = 1 }
        /^      "name": / { name = $2; gsub(/[",]/, "", name) }
        inside && which == "in" && /^      "writer": null/ { print name }
        inside && which == "out" && /^      "readers": \[\]/ { print name }'
}

# bits DEVICE EXAMPLE: hashes of all that comes out of 200,000 packets of noise.
bits() {
    local port words=()
    "$PIPEC" --device "$1" -o "$1.pbc" "$2" || return
    for port in $(ports "$1.pbc" in); do words+=("$port=gen:noise:7:200000"); done
    for port in $(ports "$1.pbc" out); do words+=(--hash "$port"); done
    [ "${#words[@]}" -gt 0 ] && "$PIPERUN" -q "$1.pbc" "${words[@]}"
}

for example in "$ROOT"/examples/*/*.pipe; do
    grep -q '^pipeline ' "$example" || continue
    name=$(basename "$example" .pipe)
    bits sim16 "$example" >wanted
    check "$name: there is something to compare" [ -s wanted ]
    for device in $devices; do
        bits "$device" "$example" >found || true
        check "$name on $device" cmp wanted found
    done
done
