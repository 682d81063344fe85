#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pipec lint: folders, threads, forms, comments that accept findings, baselines.
# shellcheck disable=SC2016,SC2317 # sh -c has its own words; functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
silent() {
    local want=$1 found=0
    shift
    "$@" >text 2>&1 </dev/null || found=$?
    [ "$found" -eq "$want" ] && [ ! -s text ] && return
    echo "exit status $found, expected $want and silence"
    cat text
    return 1
}
# rules COMMAND...: the ids that are reported, in order.
rules() { "$@" 2>/dev/null | sed -nE 's/.*\[([a-z-]*)\]$/\1/p' | tr '\n' ' '; }

# ---- the project's own sources ----

check "library and examples" says 0 '' "$PIPEC" lint --min-level=warning "$ROOT/lang" "$ROOT/examples"
check "no warnings there" [ "$(grep -c warning: text)" -eq 0 ]

# ---- folders, threads ----

mkdir -p tree/a/.hidden tree/b
for i in $(seq 60); do
    printf 'kernel k(in i32 x, out i32 y) { i32 spare%d = x; y <- x; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' "$i" >"tree/$([ $((i % 2)) -eq 0 ] && echo a || echo b)/$i.pipe"
done
printf 'kernel k(in i32 x, out i32 y) { y <- z; }\n' >tree/a/broken.pipe
printf 'import "broken.pipe";\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >tree/a/imports.pipe
cp tree/a/broken.pipe tree/a/.hidden/h.pipe
cp tree/a/broken.pipe tree/a/no_source.txt
ln -s ../a tree/b/loop
ln -s "../a/2.pipe" tree/b/link.pipe
for form in text short json jsonl sarif github gitlab checkstyle; do
    "$PIPEC" lint -j 1 --diagnostics=$form tree >"one.$form" 2>/dev/null || true
    "$PIPEC" lint -j 7 --diagnostics=$form tree/b tree tree/a/4.pipe >"many.$form" 2>/dev/null || true
    check "the same with any number of threads: $form" cmp "one.$form" "many.$form"
done
check "every file once, in order of path" sh -c 'sed "s/:.*//" one.short >files && sort -u files | cmp - files'
check "a finding for each" [ "$(grep -c 'unused-variable' one.short)" -eq 60 ]
check "an error of an import is said once" [ "$(grep -c 'unknown-name' one.short)" -eq 1 ]
check "hidden folders are left out" [ "$(grep -c hidden one.short)" -eq 0 ]
check "findings are on standard output" [ -s one.text ]
check "the exit status" says 1 '1 error, 60 warnings in 62 files' "$PIPEC" lint tree
check "a file without findings" silent 0 "$PIPEC" lint "$ROOT/examples/fmradio/filters.pipe"
check "no such file" says 2 "cannot read 'nothere'" "$PIPEC" lint nothere tree/a/2.pipe
check "the others are looked at" grep -q unused-variable text
check "an empty folder" silent 0 "$PIPEC" lint "$(mkdir -p empty && echo empty)"
check "standard input" says 1 '<stdin>.*unused-variable' sh -c '"$0" lint --diagnostics=short - <tree/a/2.pipe' "$PIPEC"
check "no path" says 2 'no input file' "$PIPEC" lint
check "threads that are no number" says 2 'a whole number' "$PIPEC" lint -j x tree
check "a sink over a source" says 2 'is a source' "$PIPEC" lint --diagnostics=json:tree/a/2.pipe tree
check "help" says 0 '^usage: pipec lint' "$PIPEC" lint --help
check "help says the exit status" says 0 '^Exit status: 0 no finding of the level of --fail-on or above, 1 there are some' "$PIPEC" lint --help
check "a full device" says 2 'cannot write' sh -c '"$0" lint tree >/dev/full' "$PIPEC"
check "--fail-on=error" says 0 unused-variable "$PIPEC" lint --fail-on=error tree/a/2.pipe
check "-Wno-NAME" silent 0 "$PIPEC" lint -Wno-unused-variable tree/a/2.pipe
check "-Wno-lint" silent 0 "$PIPEC" lint -Wno-lint tree/a/2.pipe
check "-Werror" says 1 'error: .*unused-variable' "$PIPEC" lint -Werror --diagnostics=short tree/a/2.pipe
check "compiling has them off" silent 0 "$PIPEC" tree/a/2.pipe
check "-Wlint has them on" says 0 unused-variable "$PIPEC" -Wlint tree/a/2.pipe
check "-WNAME has one on" says 0 unused-variable "$PIPEC" -Wunused-variable tree/a/2.pipe
check "-Werror=NAME too" says 1 'error: .*unused-variable' "$PIPEC" -Werror=unused-variable --diagnostics=short tree/a/2.pipe

# ---- two pipelines, neither of which is main; libraries ----

cat >two.pipe <<'END'
kernel k(in i32 x, out i32 y) { y <- x; }
kernel mix(in i32 x, in i32 back, out i32 y) { y <- x + back; }
pipeline first(in i32 x, out i32 y) { x -> k -> y; }
pipeline second(in i32 x, out i32 y) {
    buffer i32 sum;
    mix(x, sum -> sum);
    sum -> k -> y;
}
END
check "every pipeline is analysed" says 1 'two.pipe:6:.*deadlock' "$PIPEC" lint two.pipe
cat >refused.pipe <<'END'
kernel k(in i32 x, out i32 y) { y <- x; }
kernel mix(in i32 x, in i32 back, out i32 y) { y <- x + back; }
kernel beyond(in i32 x, out i32 y) { i32 t[3] = {1, 2, 3}; y <- t[5] + x; }
kernel two(in i32 x, out i32 y push 2) { y <- x; y <- x; }
pipeline first(in i32 x, out i32 y) { x -> beyond -> y; }
pipeline second(in i32 x, out i32 y) {
    buffer i32 sum;
    mix(x, sum -> sum);
    sum -> k -> y;
}
pipeline third(in i32 x, out i32 y) {
    buffer i32 a, b;
    x -> k -> a;
    x -> two -> b;
    mix(a, b -> y);
}
pipeline fourth(in i32 x, out i32 y) { x -> second -> y; }
pipeline fifth(in i32 x, out i32 y) { x -> k -> absent -> y; }
END
found=$(rules "$PIPEC" lint --diagnostics=short refused.pipe)
check "errors of a pipeline do not hide those of another, and each is there once" [ "$found" = "out-of-range deadlock inconsistent-rates unknown-name " ]
sed -i '/^pipeline fifth/d; s/pipeline first/pipeline main/' refused.pipe
found=$(rules "$PIPEC" lint --diagnostics=short refused.pipe)
check "nor do those of main" [ "$found" = "out-of-range deadlock inconsistent-rates " ]
printf '/// Doubles.\nfn i32 twice(i32 n) { return 2 * n; }\n' >library.pipe
check "a file without a pipeline" silent 0 "$PIPEC" lint library.pipe

# ---- what hides something of the library ----

cat >hides.pipe <<'END'
import "std/image.pipe";
kernel invert(in u8 x, out u8 y) { y <- 7 + x % 2; }
kernel lonely(in u8 x, out u8 y) { y <- x; }
pipeline main(in u8 x, out u8 y) { x -> invert -> y; }
END
found=$(rules "$PIPEC" lint --diagnostics=short hides.pipe)
check "the program's own kernel is the one that is used" [ "$found" = "unused-import unused-item " ]
check "and the other is not" grep -q "'lonely' is never used" <("$PIPEC" lint --diagnostics=short hides.pipe 2>&1)

# ---- -D ----

mkdir -p sized
cat >sized/taps.pipe <<'END'
kernel total<int N>(in i32 x pop N, out i32 y; i32 add) {
    i32 kept[3] = {1, 2, 3};
    y <- x[0] + kept[N] + add;
}
pipeline main<int N>(in i32 x, out i32 y; i32 add = 1) { x -> total<N>(add) -> y; }
END
printf 'kernel k(in i32 x, out i32 y; i32 by) { y <- by * x; }\npipeline main(in i32 x, out i32 y; i32 by = 2) { x -> k(by) -> y; }\n' >sized/by.pipe
check "without its parameters a pipeline is left out" silent 0 "$PIPEC" lint sized
check "-D gives them" says 1 'taps.pipe:3:.*\[out-of-range\]' "$PIPEC" lint --diagnostics=short -D N=3 sized
check "each has what it knows" silent 0 "$PIPEC" lint -j 2 -D N=2 -D by=4 -D add=2 sized
check "a value that is none" says 1 "'four' is not a value of type i32" "$PIPEC" lint -D by=four sized
check "a name that nobody knows" says 2 "-D bye: no pipeline of these files has an argument 'bye'" "$PIPEC" lint -D bye=4 sized
check "no value" says 2 'write -D NAME=VALUE' "$PIPEC" lint -D N sized
"$PIPEC" graph --format=cmds sized/by.pipe >by.cmds
check "of a command list" silent 0 "$PIPEC" lint -D by=4 by.cmds

# ---- comments ----

program() { printf 'kernel k(in i32 x, out i32 y) {\n%s\n    y <- x;\n}\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' "$1" >accept.pipe; }
# accepts NAME EXPECTED TEXT...
accepts() {
    program "$3"
    local found
    found=$(rules "$PIPEC" lint --diagnostics=short accept.pipe)
    check "$1" [ "$found" = "$2" ]
}
why='reason="to be used"'
accepts "in the line before" "" "    // pipec: allow(unused-variable) $why
    i32 n = x;"
accepts "in the same line" "" "    i32 n = x; // pipec: allow(unused-variable) $why"
accepts "over several lines of a statement" "" "    // pipec: allow(unused-variable) $why
    i32 a = x,
        b = x;"
accepts "not beyond the statement" "unused-variable " "    // pipec: allow(unused-variable) $why
    i32 a = x;
    i32 b = x;"
accepts "several rules" "" "    // pipec: allow(unused-variable, implicit-narrowing) $why
    u8 n = x;"
accepts "of no use" "unused-suppression " "    // pipec: allow(unused-variable) $why"

cat >apart.pipe <<'END'
kernel f(in f32 x, out f32 y) { if (x > 0) y <- x; }
kernel add(in f32 a, in f32 b, out f32 y) { y <- a + b; }
pipeline a(in f32 x, out f32 y) {
    buffer f32 p;
    f(x -> p); // pipec: allow(liveness-unproven) reason="all are positive"
    add(p, x -> y);
}
pipeline b(in f32 x, out f32 y) {
    buffer f32 p;
    f(x -> p); // pipec: allow(liveness-unproven) reason="all are positive"
    add(p, x -> y);
}
END
shown() { "$@" 2>&1; } # what pipec itself says is on standard error
found=$(rules shown "$PIPEC" --diagnostics=short -p a -Wno-rate-unproven apart.pipe)
check "in a pipeline that is not compiled" [ "$found" = "" ]
sed -i '1s/if (x > 0) //' apart.pipe
found=$(rules shown "$PIPEC" --diagnostics=short -p a apart.pipe)
check "of no use, beside one that is not compiled" [ "$found" = "unused-suppression " ]
accepts "without a reason" "suppression-without-reason " "    // pipec: allow(unused-variable)
    i32 n = x;"
accepts "an empty reason" "suppression-without-reason " "    // pipec: allow(unused-variable) reason=\" \"
    i32 n = x;"
accepts "an error" "suppression-of-error " "    // pipec: allow(deadlock) $why"
accepts "no rule" "invalid-suppression unused-variable " "    // pipec: allow(unused-varable) $why
    i32 n = x;"
check "the nearest one" says 1 "did you mean 'unused-variable'" "$PIPEC" lint accept.pipe
accepts "another word" "invalid-suppression " "    // pipec: alow(unused-variable) $why"
accepts "more behind it" "invalid-suppression unused-variable " "    // pipec: allow(unused-variable) $why and more
    i32 n = x;"
accepts "no names" "invalid-suppression " "    // pipec: allow() $why"
accepts "not in a block comment" "unused-variable " "    /* // pipec: allow(unused-variable) $why */
    i32 n = x;"
accepts "behind a string that holds a comment" "" "    i32 c = '\"'; // pipec: allow(unused-variable) $why"
program "    // pipec: allow(unused-variable) $why"
check "a rule that is off is not missed" silent 0 "$PIPEC" accept.pipe
program "    // pipec: allow(widened-afterwards) $why
    i64 n = x * x; y <- n;"
sed -i '/^    y <- x;/d' accept.pipe
check "warnings of the compiler" silent 0 "$PIPEC" -Werror accept.pipe -o accept.pbc

# ---- baselines ----

program "    i32 n = x;
    i32 m = x;"
check "a baseline is written" silent 0 "$PIPEC" lint --write-baseline base.json accept.pipe
check "what is known is not reported" silent 0 "$PIPEC" lint --baseline base.json accept.pipe
mkdir -p below
check "however the file is named" silent 0 "$PIPEC" lint --baseline base.json below/..//./accept.pipe
check "by its whole name, too" silent 0 "$PIPEC" lint --baseline base.json "$PWD/accept.pipe"
cat >above.sh <<'END'
cd below
"$PIPEC" lint --write-baseline ../up.json ../below/../accept.pipe
"$PIPEC" lint --baseline ../up.json ../accept.pipe
grep -q '"file": *"../accept.pipe"' ../up.json
END
check "a file above the folder" silent 0 sh -eu above.sh
check "in no form" says 0 '^\[\]$' "$PIPEC" lint --baseline base.json --diagnostics=gitlab accept.pipe
sed -i '1i\\n\n' accept.pipe
check "lines may move" silent 0 "$PIPEC" lint --baseline base.json accept.pipe
sed -i 's/i32 m = x;/i32   m  =  x;/; s/    i32 n/\ti32 n/' accept.pipe
check "and blanks may change" silent 0 "$PIPEC" lint --baseline base.json accept.pipe
program "    i32 n = x;
    i32 m = x;
    i32 o = x;"
check "what is new is reported" says 1 "'o' is never used" "$PIPEC" lint --baseline base.json --diagnostics=short accept.pipe
check "and nothing else" [ "$(grep -c unused-variable text)" -eq 1 ]
program "    i32 n = x;"
check "what is gone is outdated" says 0 'outdated-baseline' "$PIPEC" lint --baseline base.json accept.pipe
check "compiling takes it, too" silent 0 "$PIPEC" -Wlint -Werror --baseline base.json --min-level=warning accept.pipe
sed -i 's/accept.pipe/gone.pipe/' base.json
check "a file that is gone" says 1 "gone.pipe' that are no longer there" "$PIPEC" lint --baseline base.json accept.pipe
sed -i 's/unused-variable/no-such-rule/' base.json
check "an unknown rule in it" says 1 'a rule that does not exist' "$PIPEC" lint --baseline base.json accept.pipe
echo '{' >bad.json
check "a baseline that is no JSON" says 2 "'bad.json' is no baseline: line" "$PIPEC" lint --baseline bad.json accept.pipe
echo '{"version": 1, "findings": [{"file": 3}]}' >bad.json
check "a baseline of another form" says 2 'no baseline of version 1' "$PIPEC" lint --baseline bad.json accept.pipe
check "no such baseline" says 2 "cannot read 'none.json'" "$PIPEC" lint --baseline none.json accept.pipe
check "--write-baseline without its file" says 2 'needs a value' "$PIPEC" lint accept.pipe --write-baseline
cp accept.pipe kept.pipe
check "a baseline is read or written" says 2 'give one of the two' "$PIPEC" lint --baseline base.json --write-baseline accept.pipe kept.pipe
check "and no source becomes one" cmp accept.pipe kept.pipe
check "a baseline on standard output" says 0 '"findings"' "$PIPEC" --write-baseline - accept.pipe
check "but not beside the findings" says 2 'two outputs to standard output' "$PIPEC" lint --write-baseline - accept.pipe
check "a baseline over a source" says 2 'is a source' "$PIPEC" lint --write-baseline accept.pipe accept.pipe
cp base.json base.copy
check "findings over the baseline" says 2 "'base.json' is a file that this command reads" "$PIPEC" lint --baseline base.json \
    --diagnostics=json:base.json accept.pipe
check "and those of the compiler" says 2 "'base.json' is a file that this command reads" "$PIPEC" --baseline base.json \
    --diagnostics=json:base.json accept.pipe
check "and the container" says 2 "the output 'base.json' is a file" "$PIPEC" --baseline base.json accept.pipe -o base.json
check "the baseline is as it was" cmp base.json base.copy
"$PIPEC" lint --write-baseline all.json tree >/dev/null 2>&1 || true
"$PIPEC" lint -j 1 --write-baseline all1.json tree >/dev/null 2>&1 || true
check "a baseline is the same with any number of threads" cmp all.json all1.json
check "errors stay" says 1 '^pipec: 1 error in' "$PIPEC" lint --baseline all.json tree
