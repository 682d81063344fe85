#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# verify_rules.sh [FILE...]: leaves out each rule of reader and verifier in turn (runtime/load/verify_rule.h) and
# looks whether a rejecting test fails without it.  FILE: rules of these sources only ("verify_levels.c").  Prints
# the rules that nothing misses; exit 0 if there are none, else 1.
#
# Environment: BUILD (default build).
set -eu
export LC_ALL=C
unset T # would have the tests leave most of them out (tests/test.h)
cd "$(dirname "$0")/.."

build=${BUILD:-build}/rules
# Which tests are asked: the quick ones of all rules, then those that are about a file.
quick=(test_verify test_container_rules test_reader test_verify_program test_device_queue)
tests=("${quick[@]}" test_debug_info test_certify test_image_elf)
seconds=60 # a test that hangs without the rule misses it, too

make --no-print-directory -s BUILD="$build" VARIANT=debug CPPFLAGS="-DPRT_VERIFY_REMOVABLE ${CPPFLAGS-}" "${tests[@]}"
bin=$build/debug/tests
rules=$(mktemp)
trap 'rm -f "$rules"' EXIT
for name in "${tests[@]}"; do PRT_RULES=list "$bin/$name" 2>/dev/null; done | grep '^runtime/' | sort -t: -k1,1 -k2n -u >"$rules"
if [ $# -gt 0 ]; then
    grep -E "^[^ ]*/($(IFS='|'; echo "$*")):" "$rules" >"$rules.some" || true
    mv "$rules.some" "$rules"
fi

# Everything is accepted and refused as it should be while all rules stand.
for name in "${tests[@]}"; do
    "$bin/$name" >/dev/null 2>&1 || { echo "verify_rules: $name fails with all rules"; exit 2; }
done

# missed PLACE: does a test fail without the rule?
missed() {
    local name about=() slow=()
    case $1 in
    */reader.c:*) about=(test_reader test_container_rules test_device_queue) ;;
    */verify_program.c:* | */verify_flow.c:* | */verify_levels.c:*) about=(test_verify_program) ;;
    */verify_launches.c:*) about=(test_device_queue) ;;
    */verify_debug.c:*) about=(test_debug_info) ;;
    */image_elf.c:*) about=(test_image_elf) ;;
    */verify_certificate.c:* | */verify_schedule.c:* | */verify_bounded.c:*) about=(test_verify test_certify) ;;
    esac
    case $1 in */reader.c:*) slow=(test_debug_info) ;; esac
    for name in "${about[@]}" "${quick[@]}" "${slow[@]}"; do
        (PRT_RULES=$1 timeout "$seconds" "$bin/$name" || exit 1) >/dev/null 2>&1 || return 0
    done
    return 1
}

count=0 unmissed=0
while read -r place text; do
    count=$((count + 1))
    if ! missed "$place"; then
        unmissed=$((unmissed + 1))
        echo "nothing misses $place: $text"
    fi
done <"$rules"
echo "$count rules, $((count - unmissed)) missed by a test, $unmissed by none"
[ "$unmissed" -eq 0 ]
