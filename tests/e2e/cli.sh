#!/bin/sh
# SPDX-License-Identifier: MIT
# The command lines of pipec and piperun, as their manual pages have them.
set -u
cd "$TMP" || exit 1
expect() { # expect NAME STATUS OUT ERR COMMAND...: patterns for stdout and stderr, "" for nothing wanted
    name=$1 status=$2 out=$3 err=$4
    shift 4
    "$@" >stdout 2>stderr </dev/null
    got=$?
    if [ $got -ne "$status" ]; then
        echo "not ok $name: exit status $got: $(head -2 stderr | tr '\n' ' ')"
    elif [ -n "$out" ] && ! grep -q -e "$out" stdout; then
        echo "not ok $name: no '$out' on stdout"
    elif [ -n "$err" ] && ! grep -q -e "$err" stderr; then
        echo "not ok $name: no '$err' on stderr: $(head -2 stderr | tr '\n' ' ')"
    else
        echo "ok $name"
    fi
}
mkdir -p lib
printf 'kernel scale(in f32 x, out f32 y; f32 by) { y <- by * x; }\n' >lib/scale.pipe
cat >two.pipe <<'END'
import "scale.pipe";
pipeline first(in f32 x, out f32 y; f32 by = 2) { x -> scale(by) -> y; }
pipeline second(in f32 x, out f32 y; f32 by = 3) { x -> scale(by) -> y; }
END
expect "-I finds imports" 0 '' '' "$PIPEC" -I lib -p first two.pipe
expect "an import that is not found" 1 '' 'import-not-found' "$PIPEC" -p first two.pipe
expect "a word that is neither a command nor a file" 2 '' "there is no command 'frobnicate', and no such file" "$PIPEC" frobnicate
expect "a command that is misspelt" 2 '' "there is no command 'lnt'; did you mean 'lint'?" "$PIPEC" lnt
expect "a command behind options" 2 '' "the command 'inspect' stands before all options" "$PIPEC" -q inspect
expect "the same with its arguments" 2 '' "did you mean 'inspect'?" "$PIPEC" inspct two.pipe
expect "a source that is not there" 2 '' "cannot read 'none.pipe'" "$PIPEC" none.pipe
expect "inspect of a file that is not there" 2 '' "cannot read 'lnt'" "$PIPEC" inspect lnt
expect "-p chooses" 0 '' '' "$PIPEC" -I lib -p second two.pipe -o second.pbc
expect "-p that does not exist" 1 '' "did you mean '-p first'" "$PIPEC" -I lib -p frist two.pipe
expect "-p that is not near lists the pipelines" 1 '' "the pipelines are 'first', 'second'" "$PIPEC" -I lib -p nothing two.pipe
expect "several pipelines and no -p" 1 '' 'choose one: -p first' "$PIPEC" -I lib two.pipe
expect "-D sets a default" 0 '' '' "$PIPEC" -I lib -p first -D by=5 two.pipe -o five.pbc
expect "the default is used" 0 '^10$' '' "$PIPERUN" five.pbc x=gen:ramp:3 y=-,csv
expect "piperun -D overrides" 0 '^14$' '' "$PIPERUN" five.pbc -D by=7 x=gen:ramp:3 y=-,csv
expect "-D with an unknown name" 1 '' "did you mean 'by'" "$PIPEC" -I lib -p first -D bye=5 two.pipe
expect "-D with a bad value" 1 '' 'is not a value of type f32' "$PIPEC" -I lib -p first -D by=five two.pipe
expect "piperun -D with an unknown name" 2 '' "by" "$PIPERUN" five.pbc -D bye=7 x=gen:ramp:3 y=null
expect "piperun -D with a bad value" 2 '' 'by' "$PIPERUN" five.pbc -D by=seven x=gen:ramp:3 y=null
cat >sized.pipe <<'END'
struct pair { f32 a; f32 b; };
kernel copy<type T>(in T x, out T y) { y <- x; }
kernel times<int N>(in i32 x, out i32 y; i32 add) { y <- N * x + add; }
pipeline generic<type T>(in T x, out T y) { x -> copy -> y; }
pipeline sized<int N>(in i32 x, out i32 y; i32 add = 1) { x -> times<N>(add) -> y; }
END
for type in f32 u8x4 pair; do
    expect "-D T=$type" 0 '' '' "$PIPEC" -p generic -D T=$type sized.pipe
done
expect "-D with an unknown type" 1 '' "there is no type 'f33'" "$PIPEC" -p generic -D T=f33 sized.pipe
expect "a type with more behind it" 1 '' "there is no type 'f32x5'" "$PIPEC" -p generic -D T=f32x5 sized.pipe
expect "-D of a compile-time parameter" 0 '' '' "$PIPEC" -p sized -D N=3 sized.pipe -o sized.pbc
expect "its value is used" 0 '^7$' '' "$PIPERUN" sized.pbc x=gen:ramp:3 y=-,csv
expect "the only one whose parameters are given" 0 '' '' "$PIPEC" -D N=3 sized.pipe
expect "a parameter without -D" 1 '' 'give them: -D N=INTEGER' "$PIPEC" -p sized -D add=3 sized.pipe
expect "no -D at all" 1 '' 'choose one and give its parameters' "$PIPEC" sized.pipe
expect "-D that is no integer" 1 '' "'3.5' is not a value of type i64: a whole number" "$PIPEC" -p sized -D N=3.5 sized.pipe
expect "-D beside a parameter" 1 '' "did you mean 'add'" "$PIPEC" -p sized -D N=3 -D ad=3 sized.pipe
expect "inspect with -D" 0 'pipeline sized' '' "$PIPEC" inspect -p sized -D N=3 sized.pipe
expect "graph with -D" 0 'times<3>' '' "$PIPEC" graph --format=cmds -p sized -D N=3 sized.pipe
expect "piperun gives -D and -p to pipec" 0 '^11$' '' "$PIPERUN" sized.pipe -p sized -D N=3 -D add=5 x=gen:ramp:3 y=-,csv
expect "piperun without a parameter" 1 '' 'give them: -D N=INTEGER' "$PIPERUN" sized.pipe -p sized x=gen:ramp:3 y=null
expect "piperun -p of a container" 2 '' 'is compiled already' "$PIPERUN" sized.pbc -p sized x=gen:ramp:3 y=null
# shellcheck disable=SC2016
expect "a source from standard input" 0 'pipeline main' '' sh -c \
    'echo "kernel k(in i32 x, out i32 y) { y <- x; } pipeline main(in i32 x, out i32 y) { x -> k -> y; }" | "$1" --emit=graph -' sh "$PIPEC"
for kind in ast graph llvm asm sched; do
    expect "--emit=$kind" 0 '.' '' "$PIPEC" -I lib -p first --emit=$kind two.pipe
done
expect "--emit=KIND:FILE" 0 '' '' "$PIPEC" -I lib -p first --emit=graph:graph.txt two.pipe
expect "the file is there" 0 'scale' '' cat graph.txt
expect "--emit of an unknown kind" 2 '' 'the kinds are' "$PIPEC" --emit=pdf two.pipe
expect "inspect" 0 'pipeline first on sim4' '' "$PIPEC" inspect -I lib -p first --device sim4 two.pipe
expect "-O0" 0 '' '' "$PIPEC" -I lib -p first -O0 two.pipe -o o0.pbc
expect "--march of an unknown set" 2 '' 'x86-64-v3' "$PIPEC" --march=foo two.pipe
expect "a word with one dash" 2 '' "unknown option '-m'; did you mean '--march'" "$PIPEC" -march=native two.pipe
expect "a misspelt option" 2 '' "did you mean '--device'" "$PIPEC" --devcie=sim4 two.pipe
expect "a misspelt option of a command" 2 '' "did you mean '--device'" "$PIPEC" test --devcie=sim4 two.pipe
expect "an option that takes no value" 2 '' '--no-fuse=1: the option takes no value' "$PIPEC" --no-fuse=1 two.pipe
expect "piperun: a misspelt option" 2 '' "did you mean '--device'" "$PIPERUN" --devcie=sim4 five.pbc
expect "piperun: an unknown option" 2 '' "unknown option '--frobnicate' (piperun --help)" "$PIPERUN" --frobnicate five.pbc
expect "piperun: an option that takes no value" 2 '' '--replay=1: the option takes no value' "$PIPERUN" --replay=1 five.pbc
expect "-D without a value" 2 '' "'=' with a value is missing" "$PIPEC" -D by two.pipe
expect "-D without a name" 2 '' "the name is missing" "$PIPEC" -D =2 two.pipe
expect "piperun -D with a far name" 2 '' "it has 'by'" "$PIPERUN" five.pbc -D volume=7 x=gen:ramp:3 y=null
expect "piperun -D beyond the type" 2 '' "'1e99' is outside of f32" "$PIPERUN" five.pbc -D by=1e99 x=gen:ramp:3 y=null
expect "an output over the source" 2 '' 'is the input' "$PIPEC" -I lib -p first two.pipe -o two.pipe
expect "an output over an import" 2 '' "lib/scale.pipe' is a source" "$PIPEC" -I lib -p first two.pipe -o lib/scale.pipe
echo '-I lib -p first' >words
expect "an output over a file of arguments" 2 '' "the output 'words' is a file that this command reads" "$PIPEC" @words two.pipe -o words
if grep -qx -- '-I lib -p first' words; then echo "ok the file is untouched"; else echo "not ok the file is untouched"; fi
expect "-O9" 2 '' 'levels' "$PIPEC" -O9 two.pipe
expect "-v says what was made" 0 '' 'for sim16' "$PIPEC" -v -I lib -p first two.pipe
expect "--version of pipec" 0 'pipec .*LLVM' '' "$PIPEC" --version
expect "--version names the licence" 0 '^Licence: MIT$' '' "$PIPEC" --version
expect "--version of piperun, too" 0 '^Licence: MIT$' '' "$PIPERUN" --version
expect "--version=json" 0 '"tool": "pipec [0-9.]*", "commit": .*, "llvm": [0-9]*, "llvm_version": "[0-9.a-z-]*", "libraries": .*"xxhash": "[0-9.]*".*"devices": .*"sim16".*"license": "MIT"' '' "$PIPEC" --version=json
expect "--version in another form" 2 '' 'the only form is json' "$PIPEC" --version=xml
expect "--help=all" 0 'usage' '' "$PIPEC" --help=all
expect "help on something else" 2 '' 'all, or nothing' "$PIPEC" --help=some
for word in inspect test graph fmt lint explain; do
    expect "--help=all of $word" 0 "pipec $word" '' "$PIPEC" $word --help=all
    expect "--version=json of $word" 0 '"tool"' '' "$PIPEC" $word --version=json
done
for word in '' inspect test graph 'fmt --check'; do
    # shellcheck disable=SC2086 # words
    expect "-j of pipec $word" 0 '' '' "$PIPEC" $word -j 2 "$ROOT/examples/edges/edges.pipe"
    # shellcheck disable=SC2086
    expect "-j 0 of pipec $word" 2 '' 'a whole number' "$PIPEC" $word -j 0 two.pipe
done
# A command refuses options that it has no use for.
for words in 'fmt --device=sim1' 'fmt -O2' 'fmt --baseline=b' 'fmt -I.' 'graph --device=sim1' 'graph -O2' 'graph --baseline=b' \
    'lint --device=sim1' 'lint -O2' 'test --baseline=b'; do
    # shellcheck disable=SC2086
    expect "$words" 2 '' 'unknown option' "$PIPEC" $words two.pipe
done
expect "inspect --emit" 2 '' 'does not belong' "$PIPEC" inspect --emit=ast two.pipe
expect "a word that takes no value" 2 '' 'takes no value' "$PIPEC" --fast-math=1 two.pipe
expect "--emit=opencl" 2 '' 'not supported yet' "$PIPEC" --emit=opencl two.pipe
expect "--version of piperun" 0 'piperun' '' "$PIPERUN" --version
expect "--help of pipec" 0 'usage' '' "$PIPEC" --help
expect "--help of piperun" 0 'usage' '' "$PIPERUN" --help
expect "which names the signals" 0 'SIGUSR1' '' "$PIPERUN" --help
expect "no arguments" 2 '' 'no input file' "$PIPEC"
expect "an option without its value" 2 '' 'needs a value' "$PIPEC" -o
expect "a mode of buffers that is none" 2 '' 'min, fast or default' "$PIPEC" --buffers=max two.pipe
expect "--pareto without inspect" 2 '' "belongs to 'pipec inspect'" "$PIPEC" --pareto two.pipe
expect "--pareto of a container" 2 '' '[-]-pareto needs its source' "$PIPEC" inspect --pareto five.pbc
expect "--buffers of a container" 2 '' '[-]-buffers needs its source' "$PIPEC" inspect --json --buffers=min five.pbc
expect "colour" 1 '' '[0-9]m' "$PIPEC" --color=always two.pipe
plain() { ! "$@" 2>&1 | grep -q '[0-9]m'; }
coloured() { "$@" 2>&1 | grep -q '[0-9]m'; }
on_terminal() { script -qec "$*" /dev/null; }
expect "no colour without a terminal" 0 '' '' plain "$PIPEC" two.pipe
expect "CLICOLOR_FORCE" 0 '' '' coloured env -u NO_COLOR TERM=xterm CLICOLOR_FORCE=1 "$PIPEC" two.pipe
expect "CLICOLOR_FORCE=0" 0 '' '' plain env -u NO_COLOR TERM=xterm CLICOLOR_FORCE=0 "$PIPEC" two.pipe
expect "NO_COLOR is stronger" 0 '' '' plain env NO_COLOR=1 TERM=xterm CLICOLOR_FORCE=1 "$PIPEC" two.pipe
expect "CLICOLOR_FORCE of lint" 0 '' '' coloured env -u NO_COLOR TERM=xterm CLICOLOR_FORCE=1 "$PIPEC" lint two.pipe
if command -v script >/dev/null; then
    expect "a terminal has colours" 0 '' '' coloured on_terminal env -u NO_COLOR TERM=xterm "$PIPEC" two.pipe
    expect "TERM=dumb has none" 0 '' '' plain on_terminal env -u NO_COLOR TERM=dumb "$PIPEC" two.pipe
fi
expect "list of devices" 0 '^sim16' '' "$PIPERUN" --list-devices
expect "disasm" 0 'round_robin' '' "$PIPERUN" disasm five.pbc
expect "verify says what it has proven" 0 '1 of 1 stage is run by a static schedule' '' "$PIPERUN" verify five.pbc
expect "stats" 0 '' 'cycles' "$PIPERUN" five.pbc --stats x=gen:ramp:3 y=null
expect "hash" 0 '[0-9a-f]\{16\}  y' '' "$PIPERUN" five.pbc --hash y x=gen:ramp:3
"$PIPERUN" disasm five.pbc >five.sasm
expect "asm puts the program back" 0 '' '' "$PIPERUN" asm five.sasm --into five.pbc -o again.pbc
if cmp -s five.pbc again.pbc; then echo "ok disasm and asm are exact"; else echo "not ok disasm and asm are exact"; fi
sed 's/round_robin 0/round_robin 7/' five.sasm >bad.sasm
for word in asm disasm verify partition; do
    expect "help of $word" 0 "^usage: piperun $word" '' "$PIPERUN" $word --help
    expect "its first letter" 0 "^usage: piperun $word" '' "$PIPERUN" $word -h
done
expect "verify without a file" 2 '' '--help' "$PIPERUN" verify
expect "asm verifies" 1 '' "'round_robin 7, @[0-9]*': there is no set 7 (1 set) \[set\]" "$PIPERUN" asm bad.sasm --into five.pbc -o bad.pbc
if [ -e bad.pbc ]; then echo "not ok a refused program leaves nothing"; else echo "ok a refused program leaves nothing"; fi
printf "kernel k(in i32 x, out i32 y) { y <- 2 * x; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n" >small.pipe
expect "piperun compiles sources" 0 '^4$' '' "$PIPERUN" small.pipe x=gen:ramp:3 y=-,csv
mkdir -p other # a piperun beside a pipec that makes containers of another kind
cp "$PIPERUN" other/piperun
printf '#!/bin/sh\necho container of another kind\n' >other/pipec
chmod +x other/pipec
expect "a container that is refused has the source's name" 1 '' '^piperun: error: small.pipe: not a container' other/piperun small.pipe x=gen:ramp:3 y=-,csv
printf '#!/bin/sh\nexit 0\n' >other/pipec
expect "and one that is empty" 3 '' 'small.pipe: pipec has written no container' other/piperun small.pipe x=gen:ramp:3 y=-,csv
ln -s /proc/self/fd/1 descriptor
ln -s linked.pbc link.pbc
ln -s not_yet.pbc early.pbc
for link in descriptor link.pbc early.pbc; do
    # shellcheck disable=SC2016 # the inner shell's
    expect "$link is written" 0 '' '' sh -c '"$1" -I lib -p first -D by=5 two.pipe -o "$2" >standard.pbc' sh "$PIPEC" "$link"
    expect "$link stays a link" 0 '' '' test -L "$link"
    case $link in descriptor) written=standard.pbc ;; *) written=$(readlink "$link") ;; esac
    expect "$link has led to $written" 0 '' '' cmp five.pbc "$written"
done
expect "piperun and a command that is misspelt" 2 '' "there is no command 'verfy', and no such file; did you mean 'verify'?" "$PIPERUN" verfy five.pbc
expect "one that is an option" 2 '' "did you mean '--list-devices'?" "$PIPERUN" list-devices
expect "one that it has not" 2 '' "there is no command 'run' (disasm, verify, asm or partition), and no such file" "$PIPERUN" run five.pbc
expect "a container that is not there" 2 '' "cannot open 'none.pbc': No such file" "$PIPERUN" none.pbc x=gen:ramp:3 y=null
expect "one that is like none" 2 '' "unknown option '--frobnicate' (piperun --help)" "$PIPERUN" five.pbc --frobnicate
expect "--stats without its =" 2 '' "did you mean '--stats=json:s'?" "$PIPERUN" five.pbc --stats json:s x=gen:ramp:3 y=null
expect "--timeout 1s" 2 '' "'1s' is not a number of seconds above 0; for example: 2.5" "$PIPERUN" five.pbc --timeout 1s
printf 'name = tiny\ncus = 2\n' >tiny.dev
expect "an incomplete device description" 1 '' 'tiny.dev' "$PIPEC" -I lib -p first --device tiny.dev two.pipe
