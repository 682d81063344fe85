#!/bin/sh
# SPDX-License-Identifier: MIT
# At rest what is absorbed and what leaves is what is born; the launches of an iteration are one packet; the same bits
# however kernels are launched, and on every device.
set -eu
here=$ROOT/examples/sweep
cd "$TMP"
iterations=60
i=0
while [ $i -lt $iterations ]; do
    echo 1
    i=$((i + 1))
done >strength.csv

"$PIPEC" "$here/sweep.pipe" -o sweep.pbc
for form in condensed reference full; do
    "$PIPERUN" -q --dispatch=$form --stats=json:$form.json sweep.pbc strength=strength.csv balance=$form.csv
done

# The slab is 32 cells of 0.25: 8 neutrons are born in each iteration.
if tail -n 3 condensed.csv | awk 'NR == 1 { a = $1 } NR == 2 { l = $1 } END { d = a + l - 8; exit d < -1e-4 || d > 1e-4 }'; then
    echo "ok at rest what is born is absorbed or leaves"
else
    echo "not ok at rest what is born is absorbed or leaves: $(tail -n 3 condensed.csv | tr '\n' ' ')"
fi
if head -n 2 condensed.csv | awk '{ s += $1 } END { exit s > 7.9 }'; then
    echo "ok in the first iteration it is not at rest"
else
    echo "not ok in the first iteration it is not at rest"
fi

for form in reference full; do
    if cmp -s condensed.csv $form.csv; then
        echo "ok the same bits by $form packets"
    else
        echo "not ok the same bits by $form packets"
    fi
done

# A figure of how a run was dispatched: `figure FILE KEY`; of several forms, the sum.
figure() {
    sed -n 's/^  "dispatch": {\(.*\)},$/\1/p' "$1" | sed -n "s/.*\"$2\": *{*\([^{}]*\).*/\1/p" |
        awk -v key="$2" 'BEGIN { RS = "," } { sub(/.*: /, ""); if (NR <= 3) sum += $1; if (NR == 1) one = $1 }
            END { print (key == "packets" || key == "launches" ? sum : one) }'
}

# All but the first iteration, which stores the references, and the beginning of the last.
wanted=$((6 + iterations))
packets=$(figure condensed.json packets)
launches=$(figure condensed.json launches)
if [ "$packets" = $wanted ]; then
    echo "ok $launches launches in $packets packets: six references, and one for each iteration"
else
    echo "not ok $launches launches in $packets packets, not $wanted"
fi
if [ "$(figure condensed.json cleanups)" = "$packets" ]; then
    echo "ok one clean-up a packet"
else
    echo "not ok one clean-up a packet: $(figure condensed.json cleanups)"
fi
if [ "$(figure full.json packets)" = "$launches" ]; then
    echo "ok one packet a launch without condensing"
else
    echo "not ok one packet a launch without condensing: $(figure full.json packets)"
fi

overhead() {
    awk -v o="$1" -v w="$2" 'BEGIN { printf "%.1f%%", 100 * o / (o + w) }'
}
work=$(sed -n 's/^  "execute_cycles": \([0-9]*\),$/\1/p' condensed.json)
work=$((work + $(sed -n 's/^  "switch_cycles": \([0-9]*\),$/\1/p' condensed.json)))
spent=$(sed -n 's/^  "launch_cycles": \([0-9]*\),$/\1/p' condensed.json)
spent_full=$(figure condensed.json full_cycles)
if [ $((spent * 5)) -lt "$spent_full" ]; then
    echo "ok overhead of launching: $(overhead "$spent" $work), by full packets $(overhead "$spent_full" $work)"
else
    echo "not ok overhead of launching: $spent cycles, by full packets $spent_full"
fi

for device in sim1 sim4; do
    "$PIPEC" --device $device "$here/sweep.pipe" -o $device.pbc
    "$PIPERUN" -q --host-threads 3 $device.pbc strength=strength.csv balance=$device.csv
    if cmp -s condensed.csv $device.csv; then
        echo "ok the same bits on $device"
    else
        echo "not ok the same bits on $device"
    fi
done
