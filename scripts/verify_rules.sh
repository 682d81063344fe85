#!/usr/bin/env bash
# verify_rules.sh [FILE...]: leaves out each rule of reader and verifier in turn (runtime/load/verify_rule.h) and
# looks whether a rejecting test fails without it.  FILE: rules of these sources only ("verify_levels.c").  Prints
# the rules that nothing misses; exit 0 if there are none, else 1.
#
# Environment: BUILD (default build).
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

build=${BUILD:-build}/rules
tests=(test_verify_program test_verify test_reader test_container_rules test_device_queue test_certify test_counterexample test_debug_info)
seconds=60 # a test that hangs without the rule misses it, too

made=()
for name in "${tests[@]}"; do
    for file in tests/unit/"$name".c tests/conform/"$name".c; do
        if [ -e "$file" ]; then made+=("$name"); fi
    done
done
make --no-print-directory -s BUILD="$build" VARIANT=debug CPPFLAGS="-DPRT_VERIFY_REMOVABLE ${CPPFLAGS-}" "${made[@]}"
bin=$build/debug/tests
rules=$(mktemp)
trap 'rm -f "$rules"' EXIT
PRT_RULES=list "$bin/${made[0]}" | sort -n -u >"$rules"
if [ $# -gt 0 ]; then
    grep -E "/($(IFS='|'; echo "$*")):" "$rules" >"$rules.some" || true
    mv "$rules.some" "$rules"
fi

# Everything is accepted and refused as it should be while all rules stand.
for name in "${made[@]}"; do
    "$bin/$name" >/dev/null 2>&1 || { echo "verify_rules: $name fails with all rules"; exit 2; }
done

# missed NUMBER PLACE: the tests of the rule's own file first.
missed() {
    local name first=test_verify
    case $2 in
    */reader.c:*) first=test_reader ;;
    */verify_program.c:* | */verify_flow.c:* | */verify_levels.c:*) first=test_verify_program ;;
    esac
    for name in "$first" "${made[@]}"; do
        (PRT_RULES=$1 timeout "$seconds" "$bin/$name" || exit 1) >/dev/null 2>&1 || return 0
    done
    return 1
}

count=0 unmissed=0
while read -r number place text; do
    count=$((count + 1))
    if ! missed "$number" "$place"; then
        unmissed=$((unmissed + 1))
        echo "nothing misses $place: $text"
    fi
done <"$rules"
echo "$count rules, $((count - unmissed)) missed by a test, $unmissed by none"
[ "$unmissed" -eq 0 ]
