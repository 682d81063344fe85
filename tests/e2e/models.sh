#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The models of tests/model, searched by SPIN to the last state: what they claim holds in each.  A model names its twins:
# the same with one step dropped, in which SPIN has to find an error.  So each claim can fail.  `make check` searches the
# first twin of every third model, `make check-long` all of them.
#
#   " * run: NAME"        a second form of the model, with -D NAME
#   " * twin: NAME,..."   a broken one, with these
# shellcheck disable=SC2317 # functions are called through check
set -eu
export LC_ALL=C
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
for tool in spin cc; do command -v $tool >/dev/null || { echo "there is no $tool"; exit 77; }; done

# search OPTIMISATION MODEL NAME,...: what pan says is in `found`.
search() {
    local defines=()
    [ -z "$3" ] || IFS=, read -ra defines <<<"$3"
    rm -f pan*
    if spin -a "${defines[@]/#/-D}" "$ROOT/tests/model/$2.pml" >found 2>&1 &&
        cc "$1" -w -DSAFETY -DMEMLIM=1024 -o pan pan.c >>found 2>&1; then
        ./pan -m100000 -w22 >found 2>&1 || true
    fi
}
# The whole space has been looked at, and there is no error in it.
holds() {
    search -O0 "$1" "$2"
    if grep -q 'errors: 0$' found && ! grep -qE 'search depth too small|out of memory|^error' found; then return 0; fi
    cat found
    return 1
}
# There is an error, which is one of the model's claims or a deadlock.
fails() {
    search -O0 "$1" "$2"
    if grep -q 'errors: 1$' found && grep -qE 'assertion violated|invalid end state' found; then return 0; fi
    cat found
    return 1
}

number=0
for file in "$ROOT"/tests/model/*.pml; do
    model=$(basename "$file" .pml)
    for form in '' $(sed -nE 's/^ \* run: ([A-Z_,]+).*/\1/p' "$file"); do
        check "$model${form:+ $form} holds" holds "$model" "$form"
        echo "$model${form:+ $form}: $(sed -nE 's/^ *([0-9]+) states, stored.*/\1 states/p' found)"
    done
    mapfile -t twins < <(sed -nE 's/^ \* twin: ([A-Z_,]+).*/\1/p' "$file")
    check "$model has twins" [ ${#twins[@]} -gt 0 ]
    [ -n "${LONG-}" ] || twins=("${twins[@]:0:number++ % 3 == 0}")
    for twin in "${twins[@]}"; do
        check "$model without a step: $twin" fails "$model" "$twin"
    done
done
