#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pipec inspect --predict`: the cycles of a whole run, without running it.  Where pipec assumes nothing, they are those of piperun.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cat >smooth.pipe <<'END'
kernel average<int N>(in f32 x peek N, out f32 y) {
    f32 sum = 0;
    for (i32 i = 0; i < N; i++) sum += x[i];
    y <- sum / N;
}
kernel keep(in f32 x, out f32 y push 0..1) { if (x > 0) y <- x; }
pipeline main(in f32 samples, out f32 smooth) { samples -> average<4> -> smooth; }
pipeline some(in f32 samples, out f32 kept) { samples -> keep -> kept; }
END

# ---- the same cycles ----

mapfile -t programs < <(ls "$ROOT"/tests/lang/*.pipe "$ROOT"/examples/*/*.pipe)
all_the_same() {
    python3 "$ROOT/tests/e2e/predictions.py" "$PIPEC" "$PIPERUN" sim1,sim4,sim16,sim-h100 "${programs[@]}" >compared
    cat compared
    [ "$(wc -l <compared)" -eq 1 ] && [ "$(cat compared)" -ge $((${LONG:-0} > 0 ? 50 : 12)) ]
}
check "exact programs take the predicted cycles" all_the_same

# ---- with named ports, in text and JSON ----

"$PIPEC" --device=sim16 -p main smooth.pipe -o smooth.pbc
for packets in 0 3 4 100000; do
    "$PIPERUN" smooth.pbc samples=gen:ramp:$packets smooth=null --stats=json:stats
    cycles=$(sed -n 's/^ *"total_cycles": \([0-9]*\),/\1/p' stats)
    check "$packets packets" says 0 "^cycles  *$cycles on sim16" \
        "$PIPEC" inspect --device=sim16 -p main --predict="$packets" smooth.pipe
done
check "an in-port by its name" says 0 "^cycles  *$cycles on sim16" \
    "$PIPEC" inspect --device=sim16 -p main --predict=7,samples=100000 smooth.pipe
check "as JSON" says 0 "\"cycles\": $cycles," \
    "$PIPEC" inspect --device=sim16 -p main --predict=100000 --json smooth.pipe
check "nothing is assumed" says 0 '^exact  *yes' "$PIPEC" inspect --device=sim16 -p main --predict=8 smooth.pipe
check "what data decides is named" says 0 "^assumed  *what is appended by 'keep' depends on data" \
    "$PIPEC" inspect --device=sim16 -p some --predict=8 smooth.pipe

# ---- what is refused ----

check "no number" says 2 "'many' is not COUNT" "$PIPEC" inspect -p main --predict=many smooth.pipe
check "no such port" says 2 "has no in-port 'smooth'" "$PIPEC" inspect -p main --predict=8,smooth=1 smooth.pipe
check "no number of a port" says 2 "'x' is not a number" "$PIPEC" inspect -p main --predict=8,samples=x smooth.pipe
check "a port without a number" says 2 "is not PORT=COUNT" "$PIPEC" inspect -p main --predict=8,samples smooth.pipe
check "a number that is too large" says 2 'is not COUNT' "$PIPEC" inspect -p main --predict=18446744073709551616 smooth.pipe
check "a device in real time" says 2 'is no model' "$PIPEC" inspect -p main --device=cpu --predict=8 smooth.pipe
check "not without inspect" says 2 "belongs to 'pipec inspect'" "$PIPEC" --predict=8 smooth.pipe
check "one inspection at a time" says 2 'one at a time' "$PIPEC" inspect --pareto --predict=8 smooth.pipe
check "a container has no plan to play" says 2 'predict needs its source' "$PIPEC" inspect --predict=8 smooth.pbc
