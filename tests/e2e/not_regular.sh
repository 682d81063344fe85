#!/bin/bash
# SPDX-License-Identifier: MIT
# Named pipes and devices where a regular file belongs: refused at once, with the reason; nothing waits for their other end.
# Streams that are asked for (/dev/stdin, process substitution, named pipes as ports) work.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat >k.pipe <<'END'
kernel k(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, out i32 y) { x -> k -> y; }
END
"$PIPEC" k.pipe -o k.pbc || exit 1
"$PIPERUN" disasm k.pbc >k.sasm || exit 1
mkfifo fifo fifo.pipe fifo.dev fifo.pbc
mkdir -p folder
cp k.pipe folder/
mkfifo folder/fifo.pipe

soon() { timeout 60 "$@"; }
succeeds() { "$@" >text 2>&1 </dev/null || { cat text; return 1; }; }
pipe="named pipe, not a regular file"
device="device, not a regular file"

# ---- what is read ----

printf 'import "fifo.pipe";\n' >imports_fifo.pipe
printf 'import "/dev/zero";\n' >imports_device.pipe
cat k.pipe - >tests_fifo.pipe <<'END'
test t of main { x = file("fifo"); expect y == {1}; }
END
cat >foreign.pipe <<'END'
extern kernel f(in i32 x, out i32 y) from "fifo" cost 1;
pipeline main(in i32 x, out i32 y) { x -> f -> y; }
END
check "a source: a named pipe" says 2 "fifo.pipe.*$pipe" soon "$PIPEC" fifo.pipe
check "a source: a device" says 2 "/dev/zero.*$device" soon "$PIPEC" /dev/zero
check "a source that is formatted" says 2 "$pipe" soon "$PIPEC" fmt fifo.pipe
check "a source that is linted" says 2 "$pipe" soon "$PIPEC" lint fifo.pipe
check "a source that is drawn" says 2 "$pipe" soon "$PIPEC" graph fifo.pipe
check "a folder with one, linted" succeeds soon "$PIPEC" lint folder
check "a folder with one, formatted" succeeds soon "$PIPEC" fmt --check folder
check "an import: a named pipe" says 1 "fifo.pipe.*$pipe" soon "$PIPEC" imports_fifo.pipe
check "an import: a device" says 1 "/dev/zero.*$device" soon "$PIPEC" imports_device.pipe
check "a response file" says 2 "$pipe" soon "$PIPEC" @fifo
check "a device as a response file" says 2 "$device" soon "$PIPEC" @/dev/zero
check "a baseline" says 2 "$pipe" soon "$PIPEC" --baseline=fifo k.pipe
check "a device description, to compile for" says 2 "$pipe" soon "$PIPEC" --device fifo.dev k.pipe
check "a device description, to run on" says 2 "$pipe" soon "$PIPERUN" --device sim:fifo.dev k.pbc x=gen:ramp:1 y=null
check "a device description, to partition" says 2 "$pipe" soon "$PIPERUN" partition ./fifo.dev equally 2
check "a container, to run" says 2 "$pipe" soon "$PIPERUN" fifo.pbc x=gen:ramp:1 y=null
check "a container, to verify" says 2 "$pipe" soon "$PIPERUN" verify fifo.pbc
check "a container, to inspect" says 2 "$pipe" soon "$PIPEC" inspect fifo.pbc
check "a container, to disassemble" says 2 "$pipe" soon "$PIPERUN" disasm fifo.pbc
check "a counterexample" says 2 "$pipe" soon "$PIPERUN" --replay fifo.pbc
check "a source, to run" says 2 "$pipe" soon "$PIPERUN" fifo.pipe x=gen:ramp:1 y=null
check "the text of a program" says 2 "$pipe" soon "$PIPERUN" asm fifo --into k.pbc -o out.pbc
check "commands of the debugger" says 2 "$pipe" soon "$PIPERUN" --debug=fifo k.pbc x=gen:ramp:1 y=null
check "a report for a picture" says 2 "cannot read 'fifo': .*$pipe" soon "$PIPEC" graph --format=svg --stats=fifo k.pipe
check "code of an extern kernel" says 1 "'fifo' cannot be read: .*$pipe" soon "$PIPEC" --device=cpu foreign.pipe -o out.pbc
check "times of arrival" says 2 "$pipe" soon "$PIPERUN" k.pbc x=gen:ramp:1,arrive=@fifo y=null
check "the input of a test" says 1 "fifo.*$pipe" soon "$PIPEC" test tests_fifo.pipe

# ---- what is written ----

check "a container" says 2 "fifo.*$pipe" soon "$PIPEC" k.pipe -o fifo
check "a stage of the compilation" says 2 "$pipe" soon "$PIPEC" k.pipe --emit=graph:fifo
check "diagnostics" says 2 "$pipe" soon "$PIPEC" k.pipe --diagnostics=json:fifo
check "a graph" says 2 "$pipe" soon "$PIPEC" graph k.pipe -o fifo
check "a dependency file" says 2 "$pipe" soon "$PIPEC" k.pipe -o out.pbc -MD -MF fifo
check "a container that is assembled" says 2 "$pipe" soon "$PIPERUN" asm k.sasm --into k.pbc -o fifo
check "statistics" says 2 "$pipe" soon "$PIPERUN" --stats=json:fifo k.pbc x=gen:ramp:1 y=null
check "a timeline" says 2 "$pipe" soon "$PIPERUN" --trace=fifo k.pbc x=gen:ramp:1 y=null
printf 'trace fifo\nquit\n' >commands
check "a trace of the debugger" says 1 "$pipe" soon "$PIPERUN" --debug=commands k.pbc x=gen:ramp:1 y=null
# One that has a reader is refused as well: whether it has one is chance.
exec 6<>fifo
check "a named pipe with a reader" says 2 "$pipe" soon "$PIPEC" k.pipe -o fifo
exec 6>&-
check "an output to a device" succeeds soon "$PIPEC" k.pipe -o /dev/null
check "nothing was made" [ ! -e out.pbc ]

# ---- what is asked for ----

soon "$PIPERUN" k.pbc x=gen:ramp:4 y=one.raw
runs_alike() { soon "$PIPERUN" "$1" x=gen:ramp:4 y=other.raw && cmp one.raw other.raw; }
by_redirection() { soon "$PIPEC" /dev/stdin -o two.pbc <k.pipe && runs_alike two.pbc; }
# shellcheck disable=SC2002 # a pipe is what is tried
through_a_pipe() { cat k.pipe | soon "$PIPEC" /dev/stdin -o three.pbc && runs_alike three.pbc; }
by_substitution() { soon "$PIPEC" <(cat k.pipe) -o four.pbc && runs_alike four.pbc; }
# shellcheck disable=SC2002 # a pipe is what is tried
container_through_a_pipe() { cat k.pbc | runs_alike /dev/stdin; }
container_to_a_pipe() { soon "$PIPEC" k.pipe -o /dev/stdout | cat >six.pbc && cmp k.pbc six.pbc; }
named_ports() {
    cat one.raw >fifo &
    soon "$PIPERUN" k.pbc x=fifo,raw y=seven.raw && cmp one.raw seven.raw
}
check "a source by /dev/stdin" by_redirection
check "a source through a pipe" through_a_pipe
check "a source by process substitution" by_substitution
check "options by process substitution" succeeds soon "$PIPEC" @<(echo k.pipe)
check "a container through a pipe" container_through_a_pipe
check "a container to a pipe" container_to_a_pipe
check "statistics by process substitution" succeeds soon "$PIPERUN" --stats=json:>(cat >/dev/null) k.pbc x=gen:ramp:1 y=null
check "/dev/null is an empty file" succeeds soon "$PIPEC" k.pipe @/dev/null
check "a named pipe as a port" named_ports
