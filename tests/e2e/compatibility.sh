#!/bin/bash
# SPDX-License-Identifier: MIT
# docs/compatibility.md holds: nothing of tests/compatibility/record.txt has gone away, containers of the present format run and
# others are refused, the symbols of the library have their version. With --bless, what is new joins the record.
set -u
export LC_ALL=C
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
folder=$ROOT/tests/compatibility
record=$folder/record.txt

# ---- options, rules, devices, JSON, the C API ----
CLANG=$(for c in "clang-${LLVM_MAJOR-22}" clang-22 clang-19 clang; do command -v "$c" && break; done)
export CLANG
kinds='option|value|rule|device|json|function|constant'
[ -z "$CLANG" ] || kinds="$kinds|struct"
if ! command -v perl >/dev/null || ! perl -MJSON::PP -e 1 2>/dev/null; then
    echo "skip the record there is no perl with JSON::PP"
elif ! perl "$ROOT/tests/e2e/compatibility.pl" "$ROOT" 2>errors | sort -u >now; then
    echo "not ok the record can be compared"
    cat errors
else
    cat errors
    grep -E "^($kinds) " "$record" | sort -u >promised
    [ -z "${BLESS-}" ] || { cat "$record" now | sort -u >union && cp union "$record" && cp now promised; }
    gone() { ! comm -23 promised now | sed 's/^/gone, or changed: /' | grep .; }
    unrecorded() { ! comm -13 promised now | sed 's/^/not in the record: /' | grep . || { echo "tests/run.sh --bless tests/e2e/compatibility.sh adds it"; return 1; }; }
    for kind in ${kinds//|/ }; do
        check "the record has kind $kind" test "$(grep -c "^$kind " promised)" -ge 10
    done
    check "nothing that is promised has gone" gone
    check "all that is there is promised" unrecorded
    # The check itself finds a change.
    sed '0,/^option pipec --buffers .*/{/^option pipec --buffers .*/d}' now >less
    check "an option that goes away is noticed" bash -c 'comm -23 promised less | grep -q "^option pipec --buffers required$"'
fi
[ -n "$CLANG" ] || echo "skip layouts of structs there is no clang"

# ---- containers ----
format=$(sed -nE 's/^#define CONTAINER_VERSION ([0-9]+)u$/\1/p' "$ROOT/lang/container.h")
check "the number of the format is known" test -n "$format"
[ -z "${BLESS-}" ] || [ -e "$folder/container-$format.pbc" ] || "$PIPEC" "$folder/program.pipe" -o "$folder/container-$format.pbc"
check "there is a container of format $format: the format changed if not" test -e "$folder/container-$format.pbc"
for container in "$folder"/container-*.pbc; do
    number=${container##*-} number=${number%.pbc}
    if [ "$number" = "$format" ]; then
        check "format $number runs" says 0 "^35$" "$PIPERUN" --device cpu "$container" samples=gen:ramp:6 smooth=-,csv
        check "format $number is verified" says 0 "no deadlock is possible" "$PIPERUN" verify "$container"
        cp "$container" other.pbc
    else
        check "format $number is refused" says 1 "version $number of the format, this runtime reads version $format" \
            "$PIPERUN" "$container" samples=null smooth=null
    fi
done
for number in $((format - 1)) $((format + 1)); do
    # shellcheck disable=SC2059 # the byte itself
    printf "\\$(printf %03o "$number")" | dd of=other.pbc bs=1 seek=8 conv=notrunc status=none
    check "another format, $number, is refused" says 1 "version $number of the format, this runtime reads version $format" \
        "$PIPERUN" other.pbc samples=null smooth=null
done

# ---- symbols ----
soversion=$(make -s -C "$ROOT" print-SOVERSION)
nm -D --defined-only "$BUILD/libpipert.so" | awk '$2 != "A" { print $3 }' | sort >symbols
check "every symbol has the version of the soname" bash -c "! grep -v '@@PIPERT_$soversion\$' symbols"
sed -n "s/@@/@/p" symbols >versioned
sed -n "s/^ \(prt_[a-z0-9_]*@PIPERT_$soversion\) .*/\1/p" "$ROOT/packaging/debian/libpipert$soversion.symbols" | sort >packaged
check "Debian's table has the same symbols" diff versioned packaged
