#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec help, pipec new, pipec run: every topic, every example of every help, and their errors.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
mkdir bin
ln -s "$PIPEC" bin/pipec
ln -s "$PIPERUN" bin/piperun
export PATH=$TMP/bin:$PATH

# ---- help ----
check "help lists the commands and the topics" says 0 "run FILE.pipe" pipec help
pipec help >overview
commands=(bench complete doctor edit explain fmt graph help inspect lint lsp new run test)
for topic in "$ROOT"/compiler/topics/*.txt; do
    name=$(basename "$topic" .txt)
    topics+=("$name")
    check "topic $name is listed with its first line" grep -qF "$name  " overview
    check "help $name is its page" cmp -s <(pipec help "$name") "$topic"
done
for command in "${commands[@]}"; do
    check "help $command is its --help" cmp -s <(pipec help "$command") <(pipec "$command" --help)
    check "help $command says how it is used" says 0 "^usage: pipec $command" pipec help "$command"
done
check "help of a rule is its page" cmp -s <(pipec help deadlock) <(pipec explain deadlock)
check "help of an item of the library" says 0 "fir_lowpass<int N>" pipec help fir_lowpass
check "help of a group" says 0 "int-in-body" pipec help type
check "an unknown topic has a nearest one" says 2 "no help on 'feedbak'; did you mean 'feedback'" pipec help feedbak
check "or the list" says 2 "'pipec help' lists the topics" pipec help qqqqqqqq
check "two topics are refused" says 2 "one topic at a time" pipec help rates ports
check "an unknown option is refused" says 2 "unknown option '--no'" pipec help --no
for word in help run explain; do check "$word has a version" says 0 '"version": 1' pipec $word --version=json; done

# examples TEXT: the lines after `$`, with the next line after a pipe; they must end with status 0.
examples() { awk '/^  \$ / || more { more = /\|$/; sub(/^  \$ /, ""); print }' "$1"; }
tried=0
try_examples() {
    # The editor serves until a signal.
    examples "$2" | sed 's/^pipec edit .*/timeout -s INT 2 & || test $? -eq 124/' >"$TMP/script"
    mkdir "try-$1"
    grep -q 'new smooth.pipe' script || pipec new -q "try-$1/smooth.pipe"
    if (cd "try-$1" && bash -euo pipefail "$TMP/script" >"$TMP/said" 2>&1 </dev/null); then
        echo "ok the examples of $1 work"
    else
        echo "not ok the examples of $1 work"
        cat script said
    fi
    tried=$((tried + $(grep -c . script)))
}
for name in "${topics[@]}" "${commands[@]}"; do
    pipec help "$name" >text-of
    try_examples "$name" text-of
done
pipec --help >text-of
try_examples pipec text-of
for command in verify disasm asm partition; do
    piperun $command --help >text-of
    check "piperun $command has examples" grep -q '^  \$ piperun' text-of
    try_examples "piperun-$command" text-of
done
pipec help lsp >text-of
check "lsp has an example" grep -q '^  \$ ' text-of
check "there are examples in every help" test "$tried" -ge 60

# ---- new ----
for kind in numbers sound picture; do
    pipec new --kind=$kind $kind.pipe >commands
    check "new --kind=$kind has the canonical layout" pipec fmt --check $kind.pipe
    check "new --kind=$kind has no finding" pipec lint --fail-on=note $kind.pipe
    check "new --kind=$kind says where it is" grep -q "^'$kind.pipe' is written" commands
    sed -n 's/^  //p' commands >script
    check "new --kind=$kind: the commands that it prints work" says 0 "1 test: 1 ok" bash -e script
    check "new --kind=$kind: its comment has the same commands" test "$(sed -n 's,^//     ,,p' $kind.pipe)" = "$(cat script)"
done
check "new does not change a file" says 2 "cannot write 'sound.pipe': File exists" pipec new sound.pipe
check "not even an empty one" cmp -s sound.pipe <(sed 's/FILE.pipe/sound.pipe/' "$ROOT/compiler/starts/sound.pipe")
check "new needs the ending" says 2 "ends in .pipe" pipec new first
check "and a name before it" says 2 "ends in .pipe" pipec new bin/.pipe
check "new writes one file" says 2 "a second file 'b.pipe'" pipec new a.pipe b.pipe
check "and knows its kinds" says 2 "numbers, sound or picture" pipec new --kind=video a.pipe
check "a folder that does not exist" says 2 "No such file" pipec new no/a.pipe
check "nothing is left of these" test ! -e a.pipe
check "new -q says nothing" test -z "$(pipec new -q quiet.pipe)"

# ---- run ----
check "run compiles and runs" test "$(pipec run numbers.pipe samples=gen:ramp:5 smooth=-,csv | tr '\n' ' ')" = "15 25 "
check "run passes arguments" test "$(pipec run numbers.pipe -D by=2 samples=gen:ramp:4 smooth=-,csv)" = 3
pipec numbers.pipe -o numbers.pbc
check "run takes a container" test "$(pipec run numbers.pbc samples=gen:ramp:4 smooth=-,csv)" = 15
check "run has the exit status of piperun" says 2 "not bound|no binding|smooth" pipec run numbers.pbc samples=gen:ramp:4
sed 's/0, i < N/0, i <= N/; s/i < N/i <= N/' numbers.pipe >bad.pipe
check "run refuses a program with its errors" says 1 "out-of-window" pipec run bad.pipe samples=gen:ramp:4 smooth=null
check "run needs a file" says 2 "no input file" pipec run
mkdir other empty
cp "$PIPEC" other/pipec
check "run without a piperun" says 2 "cannot start .piperun.: No such file" env PATH="$TMP/empty" "$TMP/other/pipec" run numbers.pbc
check "a misspelt command" says 2 "did you mean 'run'" pipec rnu
