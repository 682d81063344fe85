#!/bin/sh
# SPDX-License-Identifier: MIT
# The leaves tile their intervals in order, their areas sum to the closed form, the work is where the slope is, bounds
# are kept, and the bits are the same on every device.
set -eu
here=$ROOT/examples/quadrature
cd "$TMP"
"$PIPEC" "$here/quadrature.pipe" -o quadrature.pbc
printf '0,1\n1,4\n0,100\n2,2.5\n' >intervals.csv
"$PIPERUN" -q quadrature.pbc intervals=intervals.csv leaves=leaves.csv

# sums: "ok" and the number of leaves, if the leaves tile the intervals and their areas are those of sqrt
awk -F, -v intervals=intervals.csv '
    function next_interval() {
        if ((getline line <intervals) <= 0) return 0
        split(line, ends, ","); at = ends[1] + 0; to = ends[2] + 0; sum = 0
        return 1
    }
    function close_interval(  exact) {
        exact = 2 / 3 * (to ^ 1.5 - from ^ 1.5)
        if (sum - exact > 1e-7 || exact - sum > 1e-7) bad = bad sprintf(" area %.10g of %.10g", sum, exact)
    }
    BEGIN { next_interval(); from = at }
    {
        if ($1 + 0 != at) bad = bad " leaf " NR " begins at " $1
        sum += $3; at = $2 + 0
        if (at == to) { close_interval(); more = next_interval(); from = at }
    }
    END { print (bad == "" && !more ? "ok" : bad) }' leaves.csv >sums
if [ "$(cat sums)" = ok ]; then echo "ok areas are those of the closed form"; else echo "not ok areas:$(cat sums)"; fi

# Of (0, 1) the first leaf is the smallest and the last the largest.
widths=$(awk -F, 'NR == 1 { first = $2 - $1 } $2 == 1 { print ($2 - $1) / first; exit }' leaves.csv)
if awk -v w="$widths" 'BEGIN { exit !(w > 100) }'; then
    echo "ok leaves are small where the slope is steep"
else
    echo "not ok leaves are small where the slope is steep: $widths"
fi

# A tolerance that needs more than the declared depth is a fault, not a hang and not a wrong number.
if "$PIPERUN" -q -D tolerance=1e-40 quadrature.pbc intervals=intervals.csv leaves=none.csv 2>err; then
    echo "not ok a tolerance that is never reached"
elif grep -q 'nesting-exceeded\|launches-exceeded\|amplification-exceeded' err; then
    echo "ok a tolerance that is never reached is a fault"
else
    echo "not ok a tolerance that is never reached: $(cat err)"
fi

for device in sim1 sim4 sim16; do
    "$PIPEC" --device $device "$here/quadrature.pipe" -o $device.pbc
    for threads in 1 2; do
        "$PIPERUN" -q --host-threads $threads $device.pbc intervals=intervals.csv leaves=$device.csv
        if cmp -s leaves.csv $device.csv; then
            echo "ok the same bits on $device with $threads threads"
        else
            echo "not ok the same bits on $device with $threads threads"
        fi
    done
done
