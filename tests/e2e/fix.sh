#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec --fix and pipec lint --fix: the edits of findings are written into the sources, and the rest is reported.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat >broken.txt <<'END'
// A header.

kernel mix(in f32 x, in f32 back, out f32 y) { y <- x + 0.5 * back }
kernel step(in f32 x, out f32 y) { y = x[1] - x[0]; }
kernel narrow(in i32 a, out i64 y) { y <- a * a; }
kernel forget(in f32 x) {}
pipeline main(in f32 dry, out f32 wet) {
    buffer f32 sum, late;
    mix(dry, late -> sum);
    sum -> gian(0.5) -> late;
    sum -> gain(0.5) -> step -> wet;
    sum -> fir_lowpas<11>(0.1) -> copy -> forget;
}
pipeline other(in i32 x, out i64 y) { x -> narrow -> y; }
END
cat >fixed.txt <<'END'
// A header.

import "std/dsp.pipe";
import "std/streams.pipe";

kernel mix(in f32 x, in f32 back, out f32 y) { y <- x + 0.5 * back; }
kernel step(in f32 x peek 2, out f32 y) { y <- x[1] - x[0]; }
kernel narrow(in i32 a, out i64 y) { y <- (i64)a * a; }
kernel forget(in f32 x) {}
pipeline main(in f32 dry, out f32 wet) {
    buffer f32 sum, late init 1 x 0;
    mix(dry, late -> sum);
    sum -> gain(0.5) -> late;
    sum -> gain(0.5) -> step -> wet;
    sum -> fir_lowpass<11>(0.1) -> copy -> forget;
}
pipeline other(in i32 x, out i64 y) { x -> narrow -> y; }
END
sed 's/$/\r/' broken.txt >lines.pipe
cp broken.txt a.pipe
check "one run fixes eight mistakes" says 0 "findings fixed in 1 file" "$PIPEC" --fix a.pipe
check "the result is as it would be written by hand, but for blank lines" cmp -s <(grep . fixed.txt) <(grep . a.pipe)
check "a second run says nothing" test -z "$("$PIPEC" --fix a.pipe 2>&1)"
check "and the program compiles" "$PIPEC" a.pipe -o a.pbc
"$PIPEC" --fix -q lines.pipe >said 2>&1
check "-q prints no number" test ! -s said
check "lines with carriage returns keep them" test "$(grep -c $'\r$' lines.pipe)" -ge 14

# ---- files ----
printf '\xef\xbb\xbf' >mark.pipe
grep -v '^//' broken.txt >>mark.pipe
chmod 640 mark.pipe
ln -s mark.pipe link.pipe
"$PIPEC" --fix -q link.pipe
check "a byte-order mark stays in front" test "$(head -c 3 mark.pipe | od -An -tx1 | tr -d ' ')" = efbbbf
check "a link stays a link" test -L link.pipe
check "permissions stay" test "$(stat -c %a mark.pipe)" = 640
check "it compiles" "$PIPEC" mark.pipe
mkdir folder
cp broken.txt folder/one.pipe
printf '#\n' >folder/other.txt
cat >folder/two.pipe <<'END'
kernel quiet(in i32 x, out i32 y) {
    if (x > 0);
    y <- x;
}
kernel squares(in i32 a, out i64 y) { y <- a * a; }
pipeline main(in i32 x, out i64 y) { x -> quiet -> squares -> y; }
END
check "lint fixes all files of a folder" says 0 "fixed in 2 files" "$PIPEC" lint --fix folder
check "and reports the rest" grep -q '\[unused-port\]' text
check "lint's own edits too" grep -q '{ }' folder/two.pipe
cp folder/two.pipe before
check "a second run changes nothing" says 0 "unused-port" "$PIPEC" lint --fix folder
check "not even a byte" cmp -s before folder/two.pipe

# ---- what is left as it is ----
cat >guess.pipe <<'END'
kernel half(in f32 x, out f32 y) { y <- x / 2; }
pipeline main(in f32 x, out f32 y) { x -> mian -> y; }
END
cp guess.pipe before
check "a pipeline is not meant within itself" says 1 "there is no kernel 'mian'" "$PIPEC" --fix guess.pipe
check "so nothing is changed" cmp -s before guess.pipe
cat >known.pipe <<'END'
kernel squares(in i32 a, out i64 y) { y <- a * a; }
pipeline main(in i32 x, out i64 y) { x -> squares -> y; }
END
cp known.pipe before
"$PIPEC" --write-baseline known.json known.pipe
check "a finding of the baseline is accepted" "$PIPEC" --fix --baseline known.json known.pipe
check "so it is not fixed" cmp -s before known.pipe
"$PIPEC" --fix --min-level=error known.pipe
check "one that is not shown is not fixed either" cmp -s before known.pipe
"$PIPEC" --fix -q -Wno-widened-afterwards known.pipe
check "nor one that is switched off" cmp -s before known.pipe
"$PIPEC" --fix -q known.pipe
check "else it is" grep -q '(i64)a \* a' known.pipe
check "standard input is refused" says 2 "writes into files" "$PIPEC" --fix -
check "and inspect" says 2 "does not belong to 'pipec inspect'" "$PIPEC" inspect --fix known.pipe
check "a file that is not there" says 2 "cannot read 'no.pipe'" "$PIPEC" --fix no.pipe
check "is reported once" test "$(grep -c 'no.pipe' text)" = 1
cp broken.txt full.pipe
check "a file that cannot be written" says 2 "cannot write" bash -o pipefail -c "(ulimit -f 0; exec '$PIPEC' --fix full.pipe) 2>&1 | cat"
check "stays as it was" cmp -s broken.txt full.pipe
check "and nothing is left beside it" test -z "$(find . -name '.full*')"

# ---- the same edits for other tools ----
"$PIPEC" --diagnostics=sarif:found.sarif full.pipe 2>/dev/null
check "SARIF has the edits as fixes" test "$(grep -c '"fixes"' found.sarif)" -ge 4
check "among them the import" grep -qF 'import \"std/dsp.pipe\";\n' found.sarif
