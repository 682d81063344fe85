#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec complete: the candidates of command lines; every option and value that is offered exists; bash, zsh and fish.
# shellcheck disable=SC2016 # scripts for other shells
set -u
export LC_ALL=C
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"
mkdir bin
ln -s "$PIPEC" bin/pipec
ln -s "$PIPERUN" bin/piperun
export PATH=$TMP/bin:$PATH
pipec new -q smooth.pipe
# candidates WORD...: of the last one, on one line.
candidates() { pipec complete -- "$@" | sort | tr '\n' ' '; }
offers() { [ "$(candidates "${@:2}")" = "$1 " ] || { candidates "${@:2}"; echo; return 1; }; }
nothing() { [ -z "$(candidates "$@")" ]; }

check "commands" offers "bench" pipec be
check "all of them, and nothing that is none" offers "$(printf '%s\n' bench complete doctor edit explain fmt graph help inspect lint lsp new report run test | tr '\n' ' ' | sed 's/ $//')" pipec ''
check "options of a command" offers "--format=" pipec graph --fo
check "with what they share with a compilation" offers "--baseline --buffers=" pipec inspect --b
check "values" offers "--format=cmds --format=dot --format=html --format=json --format=sdf3 --format=svg" pipec graph --format=
check "of this command" offers "--format=tap" pipec test --format=ta
check "of the options that commands share" offers "--buffers=fast" pipec graph --buffers=f
check "values that a file name follows" offers "--stats=json:" piperun smooth.pipe --stats=j
check "instruction sets" offers "x86-64-v2 x86-64-v3 x86-64-v4" pipec --march x86-64-
check "commands of piperun" offers "asm disasm partition verify" piperun ''
check "devices" offers "--device=sim-h100 --device=sim-h200" pipec --device=sim-h
check "devices after a blank" offers "sim-h100 sim-h200" pipec --device sim-h
check "ports of the source" offers "samples= smooth=" pipec run smooth.pipe ''
check "what a port is bound to" offers "samples=gen:noise: samples=gen:ramp samples=gen:zeros" pipec run smooth.pipe samples=gen
check "for piperun, too" offers "samples= smooth=" piperun smooth.pipe s
check "options of piperun" offers "--trace-limit --trace=" piperun smooth.pipe --tra
check "pipelines" offers "main" pipec smooth.pipe -p ''
check "tests" offers "a_ramp_stays_a_ramp" pipec test smooth.pipe -k a_
check "arguments of the pipeline" offers "by=" pipec run smooth.pipe -D ''
check "rules" offers "deadlock" pipec explain deadl
check "rules as warnings" offers "-Wno-unused-import -Wno-unused-item" pipec lint -Wno-unused-i
check "topics" offers "feedback" pipec help feed
check "a file: no candidates" nothing pipec smo
check "not even of a file that does not exist" nothing pipec run none.pipe ''
printf 'pipeline main(in f32 x' >cut.pipe
check "a damaged source has none" nothing pipec run cut.pipe ''
check "an unknown shell" says 2 "'tcsh' is none of the shells" pipec complete tcsh
check "a shell is needed" says 2 "a shell is missing" pipec complete

# ---- what is offered exists ----
known() {
    local option
    for option in $(pipec complete -- "$@" -); do
        case $option in -h | --help | --version | --debug | --list-devices | --stats | -v | -q) continue ;; esac
        "${@:1:$#}" "$option" </dev/null >said 2>&1
        ! grep -qE "unknown option|there is no option|unrecognized" said || { echo "$option"; cat said; return 1; }
    done
    [ "$(pipec complete -- "$@" - | wc -l)" -ge "$wanted" ]
}
for command in bench:12 explain:3 fmt:5 graph:10 inspect:30 lint:15 new:2 test:15; do
    wanted=${command#*:}
    check "each option of ${command%:*} is known to it" known pipec "${command%:*}"
done
wanted=40 check "each option of pipec is known to it" known pipec
wanted=20 check "each option of piperun is known to it" known piperun
values() {
    local value seen=0
    for value in $(pipec complete -- pipec "$1" "$2"); do
        seen=$((seen + 1))
        pipec ${1:+"$1"} "$value" smooth.pipe </dev/null >said 2>&1
        ! grep -qE "error: (-|[a-z]* ?--)|not supported|there is no device|: the (forms|kinds|levels)" said || { echo "$value"; cat said; return 1; }
    done
    pipec ${1:+"$1"} "$2nonsense" smooth.pipe </dev/null >said 2>&1 && { echo "$2nonsense is taken"; return 1; }
    [ "$seen" -ge "$wanted" ]
}
for option in --emit=:11 --buffers=:3 --layout=:4 --policy=:4 --color=:3 --diagnostics=:8 --min-level=:3 --fail-on=:3 --march=:5 --device=:8; do
    wanted=${option#*:}
    check "each value of ${option%:*} is taken, nonsense is not" values "" "${option%:*}"
done
check "each value of the formats of test is taken" env wanted=2 bash -c 'for v in $(pipec complete -- pipec test --format=); do pipec test "$v" smooth.pipe >/dev/null || exit 1; done'
check "and of graph" bash -c 'for v in $(pipec complete -- pipec graph --format= ); do pipec graph -q "$v" smooth.pipe >/dev/null || exit 1; done'
check "and each kind of new" bash -c 'n=0; for v in $(pipec complete -- pipec new --kind=); do n=$((n + 1)); pipec new -q "$v" k$n.pipe || exit 1; done; [ $n = 3 ]'
for form in --dispatch --depths; do
    check "and of piperun $form" bash -c 'for v in $(pipec complete -- piperun '$form'=); do piperun -q smooth.pipe samples=gen:ramp:4 smooth=null --device=cpu "$v" || exit 1; done'
done

# ---- the shells ----
cat >bash-test <<'E'
source <(pipec complete bash)
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _pipec; printf '%s ' "${COMPREPLY[@]}"; echo; }
ask pipec be
ask pipec graph --format = c
ask pipec run smooth.pipe samples = gen : r
ask pipec run smooth.pipe sa
complete -p piperun
E
printf '%s\n' 'bench ' 'cmds ' 'ramp ' 'samples= ' 'complete -o default -F _pipec piperun' >wanted
check "bash" bash -c 'bash bash-test | diff wanted -'
# on_terminal SETUP SHELL OPTION...: types command lines that end in a tab, and waits for what completes them.
on_terminal() {
    local setup=$1
    shift
    printf '%s\n' "> 	$setup; PS1=re''ady:\\n" 'ready:	pipec be\t' 'bench 	\x15pipec graph --format=s\t' 'svg	\x15pipec run smooth.pipe sa\t' \
        'samples=	\x15pipec new --kind \x15exit\n' |
        PS1='> ' TERM=dumb python3 "$ROOT/tests/e2e/terminal.py" "$(command -v "$1")" "${@:2}" >shown 2>&1 || { cat shown; return 1; }
}
has_python() { command -v python3 >/dev/null || { echo "skip $1 there is no python3"; return 1; }; }
if has_python "bash on a terminal"; then
    check "bash on a terminal" on_terminal 'source <(pipec complete bash)' bash --norc --noprofile -i
fi
if command -v zsh >/dev/null; then
    mkdir functions
    pipec complete zsh >functions/_pipec
    if has_python "zsh on a terminal"; then
        check "zsh on a terminal, the first line too" on_terminal 'fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -d dump' zsh -f -i
    fi
    cat >zsh-test <<'E'
compdef() { print -r -- "compdef $*" }
compadd() { shift $(( ${argv[(i)-a]} - 1 )); print -r -- "${(P)argv[2]}" }
_files() { print files }
source <(pipec complete zsh)
ask() { local -a words; words=("$@"); local CURRENT=$#; _pipec }
ask pipec be
ask pipec graph --format=c
ask pipec run smooth.pipe sa
ask pipec smo
E
    printf '%s\n' 'compdef _pipec pipec piperun' bench --format=cmds samples= files >wanted
    check "zsh" bash -c 'zsh -f zsh-test | diff wanted -'
else
    echo "skip zsh it is not installed"
fi
if command -v fish >/dev/null; then
    printf '%s\n' bench --format=cmds samples= >wanted
    mkdir empty # fish adds files that fit
    check "fish" env HOME="$TMP" bash -c 'cp smooth.pipe empty; cd empty; fish --no-config -c "pipec complete fish | source; complete -C \"pipec be\"; complete -C \"pipec graph --format=c\"; complete -C \"pipec run smooth.pipe samp\"" | diff ../wanted -'
else
    echo "skip fish it is not installed"
fi
