#!/bin/bash
# SPDX-License-Identifier: MIT
# `pipec --time-report`: a table whose lines add up; what is written is the same, and without it nothing is said.
set -u
cd "$TMP" || exit 1

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }
verdict() { if "${@:2}"; then ok "$1"; else not_ok "$1"; fi; }

printf 'kernel k(in i32 x, out i32 y) { y <- x + 1; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >k.pipe
"$PIPEC" k.pipe -o plain.pbc 2>said || exit 1
verdict "without it nothing is said" [ ! -s said ]
"$PIPEC" --time-report k.pipe -o timed.pbc 2>report || exit 1
verdict "the container is the same" cmp plain.pbc timed.pbc

# The time of each phase is its own: the lines add up to the last one, but for rounding.
adds_up() {
    awk -v file="$1" 'NR == 1 { good = $1 == "phase"; next }
         /LLVM instructions|^after / { next }
         { name = substr($0, 1, 20); wall = substr($0, 21, 11) + 0; cpu = substr($0, 32, 11) + 0
           if (wall < 0 || cpu < 0) good = 0
           if (name ~ /^all *$/) { all = 1; if (wall - walls > 0.1 || walls - wall > 0.1 || cpu - cpus > 0.1 || cpus - cpu > 0.1) good = 0 }
           walls += wall; cpus += cpu }
         END { exit !(good && all) }' "$1"
}
verdict "its lines add up" adds_up report
for phase in 'front end' analyses plan 'LLVM: optimising' 'LLVM: machine code' link container; do
    verdict "it has the phase $phase" grep -q "^$phase  *[0-9.]* " report
done
verdict "it counts LLVM instructions" sh -c 'grep -q "^LLVM instructions built  *[0-9]*$" report && grep -q "^after optimising  *[0-9]*$" report'
grep -A 3 "^LLVM instructions" report >counts
"$PIPEC" --time-report k.pipe -o timed.pbc 2>report || exit 1
verdict "the counts are the same each time" sh -c 'grep -A 3 "^LLVM instructions" report | cmp - counts'
"$PIPEC" --time-report k.pipe 2>report || exit 1
verdict "where nothing is written there is no link" sh -c 'grep -q "^plan " report && ! grep -q "^link " report'
verdict "the lines of a check add up" adds_up report

printf 'kernel k(in i32 x, out i32 y) { y <- z; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >bad.pipe
"$PIPEC" --time-report bad.pipe -o bad.pbc 2>report
verdict "a program that is refused: status 1" [ $? = 1 ]
verdict "a program that is refused has a report behind the errors" sh -c 'tail -n 1 report | grep -q "^all " && grep -q "^front end " report'

# The linker: the one that is named, and only that.
printf '#!/bin/sh\necho no such luck >&2\nexit 9\n' >bad_linker && chmod +x bad_linker
"$PIPEC" --linker ./bad_linker k.pipe -o bad.pbc 2>said
verdict "a linker that fails is reported" sh -c 'grep -q "bad_linker.* failed with status 9" said && grep -q "no such luck" said && [ ! -e bad.pbc ]'
# One that is not for this machine language comes first on the PATH: LLVM's does it.
mkdir other && cp bad_linker other/ld.bfd
PATH=$TMP/other:$PATH "$PIPEC" k.pipe -o other.pbc && "$PIPERUN" -q other.pbc x=gen:ramp:4 y=-,csv >out
verdict "where GNU ld cannot link, LLVM's linker does" [ "$(tr '\n' ' ' <out)" = "1 2 3 4 " ]
