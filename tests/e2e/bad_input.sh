#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad input of every kind: a clear error, the documented exit code, nothing half-written.
set -u
cd "$TMP" || exit 1

# expect NAME STATUS PATTERN COMMAND...: exit status and a pattern on stderr; no sanitizer report, no crash.
expect() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$@" >stdout 2>stderr </dev/null
    got=$?
    if [ $got -ne "$status" ]; then
        echo "not ok $name: exit status $got, not $status: $(head -3 stderr | tr '\n' ' ')"
    elif [ -n "$pattern" ] && ! grep -q -- "$pattern" stderr; then
        echo "not ok $name: stderr lacks '$pattern': $(head -3 stderr | tr '\n' ' ')"
    elif grep -q 'Sanitizer\|runtime error' stderr; then
        echo "not ok $name: $(head -3 stderr | tr '\n' ' ')"
    else
        echo "ok $name"
    fi
}

# absent NAME FILE: nothing half-written, no temporary.
absent() {
    set -- "$1" "$2"*
    if [ -e "$2" ]; then
        echo "not ok $1 leaves $2"
        shift
        rm -f "$@"
    else
        echo "ok $1 leaves nothing"
    fi
}

cat >gain.pipe <<'END'
kernel gain(in f32 x, out f32 y; f32 factor = 2) { y <- factor * x; }
pipeline main(in f32 x, out f32 y) { x -> gain -> y; }
END
"$PIPEC" gain.pipe -o gain.pbc || echo "not ok the good program compiles"

# ---- pipec ----
: >empty.pipe
expect "an empty source" 1 'no pipeline' "$PIPEC" empty.pipe -o out.pbc
absent "an empty source" out.pbc
mkdir folder.pipe
expect "a directory as source" 2 "folder.pipe" "$PIPEC" folder.pipe -o out.pbc
expect "a source that is not there" 2 "No such file" "$PIPEC" missing.pipe -o out.pbc
head -c 100000 "$PIPEC" >noise.pipe
expect "binary noise as source" 1 'error:' "$PIPEC" noise.pipe -o out.pbc
absent "binary noise as source" out.pbc
{ printf 'kernel k(in f32 x, out f32 y) { y <- '; head -c 1048576 /dev/zero | tr '\0' '+'; printf 'x; }\n'; } >long.pipe
expect "a line of 1 MiB" 1 'long.pipe:1:' "$PIPEC" long.pipe -o out.pbc
if [ "$(wc -c <stderr)" -lt 65536 ]; then echo "ok a line of 1 MiB is not echoed whole"; else echo "not ok a line of 1 MiB is echoed: $(wc -c <stderr) bytes"; fi
{ cat gain.pipe; printf '// '; head -c 1048576 /dev/zero | tr '\0' 'c'; printf '\n'; } >comment.pipe
expect "a comment of 1 MiB is fine" 0 '' "$PIPEC" comment.pipe
expect "an output folder that is not there" 2 'nowhere' "$PIPEC" gain.pipe -o nowhere/out.pbc
expect "an output that is a directory" 2 'folder.pipe' "$PIPEC" gain.pipe -o folder.pipe
expect "a full disk under pipec" 2 'No space' "$PIPEC" gain.pipe -o /dev/full
expect "a full disk under --emit" 2 'No space' "$PIPEC" gain.pipe --emit=graph:/dev/full
expect "an unknown option" 2 'unknown option' "$PIPEC" --frobnicate gain.pipe
expect "an unknown device" 2 'sim16' "$PIPEC" --device sim17 gain.pipe
printf 'old' >kept.pbc
printf 'pipeline main(in f32 x, out f32 y) { x -> gian -> y; }\n' >wrong.pipe
expect "an error keeps the earlier output" 1 'gian' "$PIPEC" wrong.pipe -o kept.pbc
if [ "$(cat kept.pbc)" = old ]; then echo "ok the earlier output is untouched"; else echo "not ok the earlier output is gone"; fi

# ---- containers ----
head -c 4096 /dev/zero >in.f32
size=$(wc -c <gain.pbc)
for bytes in 0 7 63 64 200 $((size / 2)) $((size - 1)); do
    head -c "$bytes" gain.pbc >cut.pbc
    expect "a container cut at $bytes bytes" 1 'cut.pbc' "$PIPERUN" cut.pbc x=in.f32 y=out.f32
done
absent "a cut container" out.f32
for at in 0 9 20 70 $((size / 2)) $((size - 1)); do
    cp gain.pbc flipped.pbc
    byte=$(od -An -tu1 -j "$at" -N 1 gain.pbc | tr -d ' ')
    # shellcheck disable=SC2059 # the format is the octal escape of one byte
    printf "\\$(printf '%03o' $((byte ^ 16)))" | dd of=flipped.pbc bs=1 seek="$at" conv=notrunc 2>/dev/null
    expect "a container with byte $at flipped" 1 'flipped.pbc' "$PIPERUN" flipped.pbc x=in.f32 y=out.f32
done
absent "a flipped container" out.f32
head -c 65536 "$PIPEC" >noise.pbc
expect "binary noise as container" 1 'noise.pbc' "$PIPERUN" noise.pbc x=in.f32 y=out.f32
: >empty.pbc
expect "an empty container" 1 'empty.pbc' "$PIPERUN" empty.pbc x=in.f32 y=out.f32
expect "a directory as container" 2 'folder.pipe' "$PIPERUN" folder.pipe x=in.f32 y=out.f32
expect "a container that is not there" 2 'No such file' "$PIPERUN" missing.pbc x=in.f32 y=out.f32

# ---- data ----
expect "an input that is not there" 2 'No such file' "$PIPERUN" gain.pbc x=missing.f32 y=out.f32
expect "an input that is a directory" 2 'folder.pipe' "$PIPERUN" gain.pbc x=folder.pipe,raw:f32le y=out.f32
absent "a missing input" out.f32
head -c 4097 /dev/zero >ragged.f32
expect "an input that ends inside a packet" 1 'ragged.f32' "$PIPERUN" gain.pbc x=ragged.f32 y=out.f32
absent "a ragged input" out.f32
voice=$ROOT/examples/fmradio/voice.wav
head -c 50001 "$voice" >cut.wav
expect "a WAV cut in the middle" 1 'cut.wav' "$PIPERUN" gain.pbc x=cut.wav y=out.f32
absent "a cut WAV" out.f32
head -c 20 "$voice" >header.wav
sed 's/f32/u8/g; s/factor \* x/(u8)(factor * x)/' gain.pipe >narrow.pipe && "$PIPEC" narrow.pipe -o narrow.pbc
expect "wav samples that are too wide" 1 'do not fit a port of type u8: f32 and f64 take them, and signed integers that are wide enough' \
    "$PIPERUN" narrow.pbc x="$voice" y=null
expect "channels= that the file has not" 1 "the file has 1 channel, not 2: leave channels= out" "$PIPERUN" gain.pbc x="$voice,channels=2" y=null
expect "an image without a width" 2 "add width=N, or give port 'y' a shape in the source" "$PIPERUN" gain.pbc x=in.f32 y=out.pgm
cat >wide.pipe <<'END'
kernel copy(in u8x3 x, out u8x3 y) { y <- x; }
pipeline main(in u8x3 x, out u8x3 y) { x -> copy -> y; }
END
"$PIPEC" wide.pipe -o wide.pbc
printf 'r,g,b\n1,2,3\n' >headed.csv
printf '1;2;3\n' >semicolons.csv
expect "a csv with headings" 1 "headed.csv:1:1: 'r' is not a number of type u8; if this is a line of headings, add 'headings'" "$PIPERUN" wide.pbc x=headed.csv y=null
expect "a csv with semicolons" 1 "has 1 column, not 3: write commas between them" "$PIPERUN" wide.pbc x=semicolons.csv y=null
expect "channels= against the packets" 2 "o.png: channels= says 1 channel, and a packet of type u8x3 holds 3: leave it out" \
    "$PIPERUN" wide.pbc x=gen:zeros:4 y=o.png,width=2,channels=1
expect "a wav with the other order of bytes" 2 "o.wav: wav has its own order of bytes: wav:i16" "$PIPERUN" gain.pbc x=in.f32 y=o.wav,wav:i16be
expect "a WAV cut in its header" 1 'header.wav' "$PIPERUN" gain.pbc x=header.wav y=out.f32
expect "an output folder that is not there, at run time" 2 'nowhere' "$PIPERUN" gain.pbc x=in.f32 y=nowhere/out.f32
expect "a full disk under piperun" 2 'No space' "$PIPERUN" gain.pbc x=gen:ramp:1000000 y=/dev/full,raw
expect "a port that does not exist" 2 "no port 'z'" "$PIPERUN" gain.pbc x=in.f32 z=out.f32
expect "a port that is not bound" 2 "x" "$PIPERUN" gain.pbc y=out.f32
expect "all ports that are not bound are said" 2 "out-port 'y' (f32) is not bound; for example: y=FILE,raw:f32 or y=null" "$PIPERUN" gain.pbc
if [ "$(grep -c 'is not bound' stderr)" -eq 2 ]; then echo "ok each once"; else echo "not ok each once"; fi
expect "an argument that does not exist" 2 'volume' "$PIPERUN" gain.pbc -D volume=2 x=in.f32 y=out.f32
expect "a device the container was not compiled for" 6 'sim16' "$PIPERUN" --device sim4 gain.pbc x=in.f32 y=out.f32
absent "a refused run" out.f32
printf 'old' >kept.f32
"$PIPERUN" gain.pbc x=ragged.f32 y=kept.f32 2>/dev/null
if [ "$(cat kept.f32)" = old ]; then echo "ok a failed run keeps the earlier output"; else echo "not ok a failed run keeps the earlier output"; fi

# ---- ports ----
cat >pair.pipe <<'END'
kernel copy(in u8 x, out u8 y) { y <- x; }
pipeline main(in u8 x[2], out u8 y[2]) { for (int i = 0; i < 2; i++) copy(x[i] -> y[i]); }
END
"$PIPEC" pair.pipe -o pair.pbc
expect "a port array as a whole" 2 "'x.0.=...'" "$PIPERUN" pair.pbc x=in.f32
if "$PIPERUN" pair.pbc 'x[0]=gen:ramp:4' 'x[1]=gen:ramp:5' --hash 'y[0]' --hash 'y[1]' >hashes && [ "$(wc -l <hashes)" -eq 2 ]; then
    echo "ok two hashes"
else
    echo "not ok two hashes"
fi

# ---- ports that would get in each other's way ----
cp pair.pbc mine.pbc
ln -s mine.pbc other_name.pbc
pair() { "$PIPERUN" "$@"; }
# shellcheck disable=SC2016 # the inner shell's
piped() { sh -c 'printf abcd | "$@"' sh "$PIPERUN" "$@"; }
mkfifo one_pipe
expect "two ports on standard input" 2 "both bound to '-'" pair pair.pbc 'x[0]=-' 'x[1]=-' 'y[0]=null' 'y[1]=null'
expect "also by another name" 2 "'-' is '/dev/stdin' by another name" piped pair.pbc 'x[0]=-' 'x[1]=/dev/stdin' 'y[0]=null' 'y[1]=null'
expect "two ports on one pipe" 2 "both bound to 'one_pipe'" pair pair.pbc 'x[0]=one_pipe,raw' 'x[1]=one_pipe,raw' 'y[0]=null' 'y[1]=null'
expect "two ports that read one file" 0 '' pair pair.pbc 'x[0]=in.f32,raw:u8' 'x[1]=in.f32,raw:u8' 'y[0]=null' 'y[1]=null'
expect "two ports that write one device" 0 '' pair pair.pbc 'x[0]=gen:ramp:4' 'x[1]=gen:ramp:4' 'y[0]=/dev/null' 'y[1]=/dev/null'
expect "two ports that write one file" 2 "'new.raw' is './new.raw' by another name" pair pair.pbc 'x[0]=gen:ramp:4' 'x[1]=gen:ramp:4' 'y[0]=new.raw' 'y[1]=./new.raw'
expect "an output over the program" 2 "port 'y.0.': 'other_name.pbc' is the program that is run" pair mine.pbc 'x[0]=gen:ramp:4' 'x[1]=gen:ramp:4' \
    'y[0]=other_name.pbc,raw' 'y[1]=null'
for report in stats=json: trace=; do
    expect "--${report%%=*} over the program" 2 "--${report%%=*}: 'mine.pbc' is the program that is run" pair mine.pbc 'x[0]=gen:ramp:4' 'x[1]=gen:ramp:4' \
        'y[0]=null' 'y[1]=null' --${report}mine.pbc
    expect "--${report%%=*} over an input" 2 "in.f32 is taken by 'x.0.'" pair pair.pbc 'x[0]=in.f32,raw:u8' 'x[1]=gen:ramp:4' 'y[0]=null' 'y[1]=null' \
        --${report}in.f32
done
cp "$ROOT/tests/fuzz/corpus/devdesc/sim16.dev" mine.dev
echo continue >script
echo '0 4' >times.txt
cp script script.copy
cp times.txt times.copy
"$PIPEC" --device mine.dev pair.pipe -o described.pbc
# over FILE WHAT WORD...: neither a port nor a report replaces FILE.
over() {
    file=$1 what=$2
    shift 2
    expect "an output over $what" 2 "port 'y.0.': '$file' is $what" pair "$@" 'x[1]=gen:ramp:4' "y[0]=$file,raw" 'y[1]=null'
    expect "--stats over $what" 2 "--stats: '$file' is $what" pair "$@" 'x[1]=gen:ramp:4' 'y[0]=null' 'y[1]=null' "--stats=json:$file"
    expect "--trace over $what" 2 "--trace: '$file' is $what" pair "$@" 'x[1]=gen:ramp:4' 'y[0]=null' 'y[1]=null' "--trace=$file"
}
over mine.dev "the description of the device" described.pbc --device=mine.dev 'x[0]=gen:ramp:4'
over mine.dev "the description of the device" described.pbc --device=sim:mine.dev 'x[0]=gen:ramp:4'
over script "the script of the debugger" pair.pbc --debug=script 'x[0]=gen:ramp:4'
over times.txt "the file of arrivals" pair.pbc 'x[0]=gen:ramp:4,arrive=@times.txt'
if cmp -s mine.dev "$ROOT/tests/fuzz/corpus/devdesc/sim16.dev" && cmp -s script script.copy && cmp -s times.txt times.copy; then
    echo "ok they are untouched"
else
    echo "not ok they are untouched"
fi
if cmp -s pair.pbc mine.pbc; then echo "ok the program is untouched"; else echo "not ok the program is untouched"; fi

# ---- no text ----
printf 'kernel copy(in f32 x, out f32 y) { y <- x; }\npipeline main(in f32 x, out f32 y) { x -> copy -> y; }\n' >text.pipe
"$PIPEC" text.pipe -o text.pbc
expect "a container as a source" 1 "compiled already.*" "$PIPEC" text.pbc -o other.pbc
expect "a container as a source, its mend" 1 "give it to 'piperun'" "$PIPEC" text.pbc -o other.pbc
head -c 3000 /dev/zero >zeros.pipe
expect "a binary file" 1 'not a text: 3000 of its bytes' "$PIPEC" zeros.pipe -o other.pbc
"$PIPEC" zeros.pipe -o other.pbc 2>stderr
if [ "$(wc -l <stderr)" -le 5 ]; then echo "ok a binary file is said once"; else echo "not ok a binary file is said once"; fi
absent "no text" other.pbc
"$PIPEC" text.pipe --emit=cmds:text.cmds
expect "a command list is run as a source is" 0 '' "$PIPERUN" text.cmds x=gen:ramp:8 y=out.f32

# ---- a reader that goes away ----
"$PIPERUN" gain.pbc x=gen:ramp y=-,raw 2>stderr | head -c 100 >taken
if [ "$(wc -c <taken)" -eq 100 ] && ! grep -q error stderr; then
    echo "ok an endless run into head ends quietly"
else
    echo "not ok an endless run into head ends quietly: $(head -2 stderr)"
fi
if command -v bash >/dev/null 2>&1; then
    # shellcheck disable=SC2016
    status=$(bash -c '"$0" gain.pbc x=gen:ramp y=-,raw 2>/dev/null | head -c 100 >/dev/null; echo "${PIPESTATUS[0]}"' "$PIPERUN")
    if [ "$status" = 0 ]; then echo "ok a closed output pipe is exit status 0"; else echo "not ok a closed output pipe is exit status $status"; fi
fi
