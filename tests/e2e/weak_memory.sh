#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The memory orders of the runtime's atomic accesses, one by one.  tests/weak executes cpu_pool.c and port_thread.c under
# orders of events that C11 allows and this machine need not show (explorer.h).  As they are, no execution may fail; with
# one access weakened, some execution has to: so each order is needed.  One that is not says so where it stands: "Stronger
# than needed".  All accesses have to be reached.
# `make check` tries 3,000 executions of each program as it is, and weakens every second access; `make check-long` tries 20,000 and all.
# shellcheck disable=SC2317 # functions are called through check
set -eu
export LC_ALL=C
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
for tool in gcc objdump addr2line; do command -v $tool >/dev/null || { echo "there is no $tool"; exit 77; }; done
executions=20000 samples=3000
[ -z "${LONG-}" ] || samples=$executions
seed=$((RANDOM * 32768 + RANDOM))
echo "seeds from $seed on"

# ---- building: calls of POSIX go to the explorer, and threads spin briefly ----

common=(-std=c11 -D_GNU_SOURCE -I"$ROOT" -g -fno-pie -Wall -Wextra -Wconversion -Werror)
tested=("${common[@]}" -O1 -fno-inline -fsanitize=thread)
for name in pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait pthread_cond_timedwait pthread_cond_signal \
    pthread_cond_broadcast clock_gettime; do
    tested+=("-D$name=explorer_${name#pthread_}")
done
sed 's/SPINS = 500/SPINS = 3/' "$ROOT/runtime/sched/port_thread.c" >port_thread.c
sed 's/SPINS_PER_LOOK = 64/SPINS_PER_LOOK = 3/' "$ROOT/runtime/backend/cpu/cpu_pool.c" >cpu_pool.c
spins_briefly() { grep -q ' SPINS = 3' port_thread.c && grep -q ' SPINS_PER_LOOK = 3' cpu_pool.c; }
check "whoever spins does so briefly" spins_briefly
for source in port_thread.c cpu_pool.c "$ROOT"/runtime/backend/cpu/cpu_trial.c "$ROOT"/tests/weak/weak_*.c; do
    gcc "${tested[@]}" -c "$source" -o "$(basename "$source" .c).o"
done
gcc "${common[@]}" -O2 -Wno-builtin-declaration-mismatch -c "$ROOT/tests/weak/explorer.c" -o explorer.o
gcc -no-pie -o weak_port weak_port.o port_thread.o explorer.o
gcc -no-pie -o weak_pool weak_pool.o cpu_pool.o cpu_trial.o explorer.o

# ---- as they are ----

# line_of PROGRAM ADDRESS: function, file:line.
line_of() { addr2line -f -s -p -e "$1" "$2" | sed 's/ (discriminator.*//; s/ at / /'; }
# text_of FILE:LINE: that line and the one before.
text_of() {
    local file=${1%:*} line=${1##*:}
    find "$ROOT/runtime" "$ROOT/tests/weak" -name "$file" -exec sed -n "$((line - 1)),${line}p" {} +
}
holds() { "./$1" list $samples "$2" >"$1.places" || { cat "$1.places"; return 1; }; }
all_reached() {
    local calls
    calls=$(objdump -d "$1" | grep -cE 'call.*<__tsan_atomic[0-9]+_')
    [ "$calls" -gt 5 ] && [ "$calls" -eq "$(wc -l <"$1.places")" ]
}

# ---- weakened: which orders stand below one ----

below() {
    case $1 in
    5) echo 4 0 ;;     # sequentially consistent: acquire and release; relaxed
    4) echo 2 3 0 ;;   # acquire and release: one of them
    1 | 2 | 3) echo 0 ;;
    esac
}
found() { "./$1" weaken $executions 1 "$2" "$3" >said; }
not_needed() { text_of "$1" | grep -q 'Stronger than needed' && ! grep -q '^#' said; }

number=0
for program in weak_pool weak_port; do
    check "$program: every execution holds" holds $program 1
    check "$program: every access is reached" all_reached $program
    check "$program: every execution holds, other seeds" holds $program "$seed"
    sort -u "$program.places" >places
    while read -r address order <&4; do
        [ -n "${LONG-}" ] || [ $((number++ % 2)) = 0 ] || continue
        place=$(line_of $program "$address")
        for weaker in $(below "$order"); do
            if found $program "$address" "$weaker"; then
                echo "ok $place: order $order is needed, $weaker is not enough"
            else
                check "$place: order $order is said to be stronger than needed ($weaker)" not_needed "${place##* }"
            fi
        done
    done 4<places
done
