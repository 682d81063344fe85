#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pipec test: results, selection, formats, exit statuses, files, and leftovers.
set -u
export TMPDIR=$TMP/temporary
mkdir -p "$TMPDIR" && cd "$TMP" || exit 1

check() { # NAME CONDITION...
    local name=$1
    shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; fi
}
status_is() { # N COMMAND...
    local wanted=$1 status=0
    shift
    "$@" >out 2>err </dev/null || status=$?
    [ $status -eq "$wanted" ] || { echo "exit status $status, expected $wanted: $*"; cat out err; return 1; }
}
says() { grep -qF -- "$1" "$2" || { echo "no '$1' in $2:"; cat "$2"; return 1; }; }
clean() { [ -z "$(ls -A "$TMPDIR")" ] || { ls -A "$TMPDIR"; return 1; }; }

cat >good.pipe <<'END'
kernel gain(in f32 x, out f32 y; f32 by = 2) { y <- by * x; }
pipeline main(in f32 x, out f32 y) { x -> gain -> y; }
test one of main { x = {1}; expect y == {2}; }
test two of gain(3) { x = {1, 2}; expect y == {3, 6}; }
test from_file of main { x = file("in/x.csv"); expect y == file("in/y.csv"); }
END
mkdir in && printf '1\n2.5\n' >in/x.csv && printf '2\n5\n' >in/y.csv
cat >bad.pipe <<'END'
kernel gain(in f32 x, out f32 y; f32 by = 2) { y <- by * x; }
kernel divide(in i32 x, out i32 y; i32 by) { y <- x / by; }
kernel stuck(in i32 x, out i32 y) { i32 n = 1; while (n != 0) n = n | x; y <- n; }
test value of gain { x = {1, 2}; expect y == {2, 5}; }
test longer of gain { x = {1, 2}; expect y == {2}; }
test shorter of gain { x = {1}; expect y == {2, 4}; }
test no_fault of divide(1) { x = {1}; expect fault "division-by-zero"; }
test other_fault of divide(0) { x = {1}; expect fault "index-out-of-range"; }
test faulty of divide(0) { x = {1}; expect y == {1}; }
test compiles of gain { expect error "deadlock"; }
test missing of gain { x = file("none.npy"); expect y == {}; }
test fine of gain { x = {1}; expect y == {2}; }
END
sed 's/expect y == {2}; }/expect y == {2} }/' good.pipe >broken.pipe
printf 'kernel k(in i32 x, out i32 y) { y <- x; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >none.pipe

check all-pass status_is 0 "$PIPEC" test good.pipe
check summary says '3 tests: 3 ok, 0 failed' out
check lines says 'ok      good.pipe: from_file' out
check quiet status_is 0 "$PIPEC" test -q good.pipe
check quiet-is-silent test ! -s out
check list status_is 0 "$PIPEC" test --list good.pipe
check list-names says 'good.pipe: two of gain' out
check select status_is 0 "$PIPEC" test -k on good.pipe
check select-counts says '1 test: 1 ok' out
check select-pattern status_is 0 "$PIPEC" test -k 't*' -k one good.pipe
check select-pattern-counts says '2 tests: 2 ok' out
check select-nothing status_is 2 "$PIPEC" test -k nothing good.pipe
mkdir -p tree/sub tree/.hidden && cp good.pipe tree/sub/b.pipe && cp good.pipe tree/.hidden/c.pipe
sed '/from_file/d' good.pipe >tree/a.pipe && sed -i '/from_file/d' tree/sub/b.pipe
check folder status_is 0 "$PIPEC" test --list tree
check folder-order cmp -s out - <<'END'
tree/a.pipe: one of main
tree/a.pipe: two of gain
tree/sub/b.pipe: one of main
tree/sub/b.pipe: two of gain
END
check folder-runs status_is 0 "$PIPEC" test tree
check folder-counts says '4 tests: 4 ok' out
check folder-absent status_is 2 "$PIPEC" test absent
check no-tests status_is 0 "$PIPEC" test none.pipe
check tap status_is 1 "$PIPEC" test --format=tap bad.pipe
check tap-plan says '1..9' out
check tap-failure says 'not ok 1 - bad.pipe: value' out
check tap-success says 'ok 9 - bad.pipe: fine' out
check failures status_is 1 "$PIPEC" test -j 3 bad.pipe
cp out first
check names says 'FAILED  bad.pipe: value (bad.pipe:4)' out
check first-difference says "bad.pipe:4:34: error: test 'value': packet 1 of 'y' is 4.0, expected 5.0 (off by 1, 2097152 ulp)" err
check said-once test "$(cat out err | grep -c 'is 4.0, expected 5.0')" = 1
check too-many says "test 'longer': 'y' has 2 packets, expected 1" err
check as-expected says 'note: the first one is as expected' err
check too-few says "test 'shorter': 'y' has 1 packet, expected 2" err
check no-fault says "test 'no_fault': it runs to its end, expected fault \"division-by-zero\"" err
check other-fault says '[division-by-zero]' err
check fault-for-packets says "test 'faulty': the run ends in a fault: kernel '" err
check fault-for-packets-says-which says 'divided by zero in firing' err
check no-error says "test 'compiles': 'gain' compiles, expected error \"deadlock\"" err
check no-file says "cannot read 'none.npy'" err
check counts says '9 tests: 1 ok, 8 failed' out
status_is 1 "$PIPEC" test -j 1 bad.pipe
check any-j-the-same cmp out first
check json status_is 1 "$PIPEC" test --diagnostics=json:found.json bad.pipe
check json-has-failures says '"test-failed"' found.json
check broken-file status_is 1 "$PIPEC" test broken.pipe good.pipe
check broken-file-counts says '3 tests: 3 ok, 0 failed, 1 file refused' out
check absent-file status_is 2 "$PIPEC" test absent.pipe
check no-input status_is 2 "$PIPEC" test
check bad-option status_is 2 "$PIPEC" test --lists good.pipe
check bad-format status_is 2 "$PIPEC" test --format=xml good.pipe
check bad-jobs status_is 2 "$PIPEC" test -j 0 good.pipe
check bad-device status_is 2 "$PIPEC" test --device none good.pipe
check no-piperun status_is 2 "$PIPEC" test --piperun ./absent good.pipe
check help status_is 0 "$PIPEC" test --help
check one-device status_is 0 "$PIPEC" test --device sim1 good.pipe
cp "$ROOT/lang/devices/sim4.dev" own.dev
check own-device status_is 0 "$PIPEC" test --device own.dev good.pipe
check nothing-left clean

cat >slow.pipe <<'END'
kernel slow(in u32 x, out u32 y) { u32 s = x; for (u32 i = 0; i < 4000000000; i++) s = s * 1664525 + i; y <- s; }
test slow of slow { x = zeros(1000); expect y == {}; }
END
check timeout status_is 1 "$PIPEC" test --timeout 0.5 slow.pipe
check timeout-said says 'it has not ended after 0.5 seconds' err
check nothing-left-after-timeout clean
"$PIPEC" test slow.pipe >out 2>err &
runner=$!
for _ in $(seq 100); do [ -z "$(ls -A "$TMPDIR")" ] || break; sleep 0.1; done
sleep 1
kill -TERM $runner
wait $runner
check terminated test $? -eq 143
sleep 0.2
check nothing-left-after-signal clean
