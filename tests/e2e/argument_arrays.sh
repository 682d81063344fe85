#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrays as run-time arguments: from the command line, from files, and in command lists; and arguments that an input
# knows.  The same program with constants in their place has the same bits on every device.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# npy FILE SHAPE DESCR FORTRAN BYTES: the bytes as printf writes them.
npy() {
    local header="{'descr': '$3', 'fortran_order': $4, 'shape': ($2), }"
    while [ $(((${#header} + 11) % 64)) -ne 0 ]; do header="$header "; done
    # shellcheck disable=SC2059 # the format is made here
    printf "\\x93NUMPY\\x01\\x00\\x$(printf %02x $((${#header} + 1)))\\x00%s\\n$5" "$header" >"$1"
}
quarter='\x00\x00\x80\x3e' half='\x00\x00\x00\x3f' one='\x00\x00\x80\x3f' none='\x00\x00\x00\x00'
npy taps.npy 4, '<f4' False "$half$quarter$none$one"
npy big.npy 4, '>f4' False '\x3f\x00\x00\x00\x3e\x80\x00\x00\x00\x00\x00\x00\x3f\x80\x00\x00'
npy words.npy 4, '<i2' False '\x01\x00\xff\xff\x00\x00\x10\x00'
npy square.npy '2, 2' '<f4' False "$half$quarter$none$one"
npy turned.npy '2, 2' '<f4' True "$half$quarter$none$one"
npy three.npy 3, '<f4' False "$half$quarter$none"
npy short.npy 4, '<f4' False "$half$quarter"
npy nan.npy 2, '<f4' False "\\x00\\x00\\xc0\\x7f$one"
npy signs.npy 2, '<i2' False '\x01\x00\xff\xff'

cat >fir.pipe <<'END'
kernel fir<int N>(in f32 x peek N, out f32 y; f32 taps[N]) {
    f32 s = 0;
    for (i32 i = 0; i < N; i++) s = fma(x[i], taps[i], s);
    y <- s;
}
kernel gain(in f32 x, out f32 y; f32 by) { y <- by * x; }
pipeline main(in f32 x, out f32 y; f32 taps[4] = {1, 2, 3}, f32 volume = 1) {
    x -> fir<4>(taps) -> gain(volume) -> fir<4>(taps) -> y;
}
pipeline needed(in f32 x, out f32 y; f32 taps[4]) { x -> fir<4>(taps) -> y; }
END
sed 's/f32 taps\[4\] = {1, 2, 3}, //; s/fir<4>(taps)/fir<4>({0.5, 0.25, 0, 1})/g; /pipeline needed/d' fir.pipe >constant.pipe
cat >bytes.pipe <<'END'
kernel pick(in u8 x, out u8 y; u8 t[2], bool b[2]) { y <- b[1] ? t[0] + x : t[1]; }
pipeline main(in u8 x, out u8 y; u8 t[2] = {1, 2}, bool b[2] = {true, false}) { x -> pick(t, b) -> y; }
END
"$PIPEC" -p main fir.pipe -o fir.pbc && "$PIPEC" -p needed fir.pipe -o needed.pbc && "$PIPEC" bytes.pipe -o bytes.pbc || exit 1

# fir WORD...: what it writes.
fir() { "$PIPERUN" -q fir.pbc x=gen:ramp:8 y=-,csv "$@" 2>&1 | tr '\n' ' '; }
gives() { [ "$(fir "${@:2}")" = "$1 " ] || { fir "${@:2}"; return 1; }; }
check "a default with zeros at its end" gives "96 132" volume=1
check "values on the command line" gives "11.375 14.4375" taps=0.5,0.25,0,1
check "and with -D, and blanks" gives "11.375 14.4375" -D "taps=0.5, 0.25, 0, 0x1p0"
check "a npy file" gives "11.375 14.4375" taps=@taps.npy
check "of the other byte order" gives "11.375 14.4375" taps=@big.npy
check "of another type, converted by value" gives "1504 1760" taps=@words.npy
printf '0.5\n.25\n0\n1\n' >taps.csv
check "other formats, by their ending" gives "11.375 14.4375" taps=@taps.csv
cp taps.csv taps.list
check "or by name" gives "11.375 14.4375" taps=@taps.list,csv
from_source() { "$PIPERUN" -q fir.pipe -p main x=gen:ramp:8 y=-,csv "$@" | tr '\n' ' ' | grep -qx '11.375 14.4375 '; }
check "a source that is compiled first" from_source taps=@taps.npy
check "and with -D" from_source -D taps=@taps.npy
from_pipe() { "$PIPERUN" -q fir.pbc x=gen:ramp:8 y=-,csv taps=@-,csv <taps.csv | tr '\n' ' ' | grep -qx '11.375 14.4375 '; }
check "standard input" from_pipe
default_of_pipec() {
    "$PIPEC" -p main -D taps=0.5,.25,0,1 fir.pipe -o other.pbc &&
        "$PIPERUN" -q other.pbc x=gen:ramp:8 y=-,csv | tr '\n' ' ' | grep -qx '11.375 14.4375 '
}
check "pipec -D sets the default" default_of_pipec

run() { "$PIPERUN" "$1" x=gen:ramp:8 y=null "${@:2}"; }
check "no value" says 2 "argument 'taps' \(f32\[4\]\) has no value: give one, taps=V,V,... with 4 values, or taps=@FILE" run needed.pbc
check "too few" says 2 "taps=1,2,3: argument 'taps' \(f32\[4\]\): 3 values, not 4" run fir.pbc taps=1,2,3
check "too many" says 2 "5 values, not 4" run fir.pbc taps=1,2,3,4,5
check "nothing" says 2 "0 values, not 4" run fir.pbc taps=
check "no number" says 2 "value 3 of 4: 'x' is not a value of type f32" run fir.pbc taps=1,2,x,4
check "an empty place" says 2 "value 2 of 4: there is no value" run fir.pbc taps=1,,3,4
check "out of range" says 2 "value 1 of 4: '1e39' is outside of f32" run fir.pbc taps=1e39,2,3,4
check "out of range, an integer" says 2 "value 2 of 2: '256' is outside of u8: 0 to 255" run bytes.pbc t=1,256
check "no truth value" says 2 "value 1 of 2: '2' is not a value of type bool" run bytes.pbc b=2,0
check "twice" says 2 "argument 'taps' is given twice" run fir.pbc taps=1,2,3,4 -D taps=1,2,3,4
check "a scalar twice" says 2 "argument 'volume' is given twice" run fir.pbc -D volume=1 -D volume=2
check "no file" says 2 "argument 'taps': no.npy: cannot open" run fir.pbc taps=@no.npy
check "a folder" says 2 "argument 'taps': .: cannot open: is a directory" run fir.pbc taps=@.,raw
check "another shape" says 1 "square.npy: the array has the shape \(2, 2\), and that of f32\[4\] is \(4\): save array.reshape\(4\)" run fir.pbc taps=@square.npy
check "another length" says 1 "the array has the shape \(3\), and that of f32\[4\] is \(4\)$" run fir.pbc taps=@three.npy
check "another order" says 1 "fortran_order is True: only C order is read" run fir.pbc taps=@turned.npy
check "a file that ends" says 1 "argument 'taps': short.npy: the file ends" run fir.pbc taps=@short.npy
check "NaN where there is none" says 1 "argument 't': nan.npy: the f32 value at byte [0-9]* does not fit the type u8" run bytes.pbc t=@nan.npy
check "a negative number where there is none" says 1 "signs.npy: the i16 value at byte [0-9]* does not fit the type u8" run bytes.pbc t=@signs.npy
printf '1\n2\n3\n' >three.csv
check "too few in a file without a shape" says 1 "three.csv: 3 values, and f32\[4\] takes 4" run fir.pbc taps=@three.csv
check "too many in one" says 1 "more than the 4 values that f32\[4\] takes" run fir.pbc taps=@gen:zeros:5
check "no format" says 2 "argument 'taps': " run fir.pbc taps=@taps.unknown
check "an option of ports" says 2 "arrive= is for in-ports" run fir.pbc taps=@taps.npy,arrive=48000
check "what a port reads" says 2 "'-' is what port 'x' reads" "$PIPERUN" fir.pbc x=-,raw y=null taps=@-,raw
cp taps.npy kept.npy
check "what a report replaces" says 2 "'kept.npy' is taken by '--stats'" run fir.pbc taps=@kept.npy --stats=json:kept.npy
check "or a timeline" says 2 "'kept.npy' is taken by '--trace'" run fir.pbc taps=@kept.npy --trace=./kept.npy
check "is as it was" cmp taps.npy kept.npy
check "a name that is near" says 2 "has no port or argument 'tap'; did you mean 'taps'" run fir.pbc tap=1,2
check "pipec reads no files" says 1 "files are read when the program runs" "$PIPEC" -p main -D taps=@taps.npy fir.pipe
check "nor a list of another length" says 1 "-D taps: 2 values, not 4" "$PIPEC" -p main -D taps=1,2 fir.pipe

# The bytes of a run on a device, after compiling with these words.
# shellcheck disable=SC2086 # $2 is a word or none
bytes_of() { "$PIPEC" "${@:3}" "$1" -o bits.pbc && "$PIPERUN" -q bits.pbc $2 x=gen:noise:7:5000 y=-,raw | cksum; }
same_bits() {
    local wanted got words
    for words in "--device sim1" "--device sim16 --fuse" "--device cpu" "--device cpu --fuse" "--device cpu -O0" "--device sim4 --debug-mode"; do
        # shellcheck disable=SC2086 # words
        wanted=$(bytes_of constant.pipe "" $words) && got=$(bytes_of fir.pipe taps=@taps.npy -p main $words)
        [ "$wanted" = "$got" ] || { echo "$words: $got, not $wanted"; return 1; }
    done
    wanted=$(bytes_of constant.pipe "--device cuda-emulated" --device cuda --march x86-64-v3,sm_80)
    got=$(bytes_of fir.pipe "--device cuda-emulated taps=@taps.npy" -p main --device cuda --march x86-64-v3,sm_80)
    [ "$wanted" = "$got" ] || { echo "cuda-emulated: $got, not $wanted"; return 1; }
}
check "constants in their place give the same bits" same_bits
null_runs() { "$PIPERUN" -q fir.pbc --device null x=gen:ramp:8 y=null taps=@taps.npy; }
check "the null device takes them" null_runs

lists() {
    "$PIPEC" -p main --emit=cmds:fir.cmds fir.pipe && grep -qx 'argument f32\[4\] taps = {1.0f, 2.0f, 3.0f, 0.0f};' fir.cmds &&
        "$PIPEC" fir.cmds -o again.pbc && "$PIPEC" --emit=cmds:again.cmds fir.cmds && cmp fir.cmds again.cmds &&
        [ "$("$PIPERUN" -q again.pbc x=gen:ramp:8 y=-,csv taps=@taps.npy | tr '\n' ' ')" = "11.375 14.4375 " ]
}
check "command lists have them" lists
inspected() { "$PIPEC" inspect "$1" | grep -qxF "$2"; }
check "inspect shows type and default" inspected fir.pbc "argument taps: f32[4] = 1, 2, 3, 0"
check "and that there is none" inspected needed.pbc "argument taps: f32[4]"
debugged() {
    "$PIPEC" -p main --debug-mode fir.pipe -o debug.pbc && printf 'info program\nquit\n' >script &&
        "$PIPERUN" debug.pbc x=gen:ramp:8 y=null taps=@taps.npy --debug=script 2>&1 | grep -q 'argument taps: f32\[4\] = 0.5, 0.25, 0, 1'
}
check "the debugger shows them" debugged
cat >foreign.pipe <<'END'
extern kernel weighted(in f32 x, out f32 y; f32 taps[2], f32 m[2][3], f32x2 v) from "weighted.o" cost 4;
pipeline main(in f32 x, out f32 y; f32 taps[2] = {1, 2}) { x -> weighted(taps, {{1, 2, 3}, {4, 5, 6}}, f32x2(7, 8)) -> y; }
END
cat >weighted.c <<'END'
#include "foreign.h"
int32_t weighted_run(const float *x, float *y, const float *taps, const float (*m)[3], const float *v)
{
    *y = *x * taps[1] + m[1][2] * v[1];
    return 0;
}
END
extern_kernel() {
    "$PIPEC" --emit=header:foreign.h foreign.pipe && "${CC:-cc}" -Wall -Werror -fPIC -c weighted.c -o weighted.o &&
        "$PIPEC" foreign.pipe -o foreign.pbc && [ "$("$PIPERUN" -q foreign.pbc x=gen:ramp:3 y=-,csv taps=0,3 | tr '\n' ' ')" = "48 51 54 " ]
}
check "an extern kernel gets pointers to them" extern_kernel

cat >know.pipe <<'END'
kernel plus(in f32 x, out f32 y; f32 more) { y <- x + more; }
kernel size(in u8 x, out i32 y; i32 w, u16 h, i64 c) { y <- (i32)(w * 10000 + (i32)h * 100 + (i32)c); }
pipeline paced(in f32 x, out f32 y; f32 rate = x.rate) { x -> plus(rate) -> y; }
pipeline picture(in u8 x, out i32 y; i32 w = x.width, u16 h = x.height, i64 c = x.channels) { x -> size(w, h, c) -> y; }
pipeline narrow(in f32 x, out f32 y; u8 rate = x.rate) { x -> plus(rate) -> y; }
pipeline second(in f32 x[2], out f32 y[2]; f32 rate = x[1].rate) { for (int i = 0; i < 2; i++) x[i] -> plus(rate) -> y[i]; }
END
for name in paced picture narrow second; do "$PIPEC" -q -p $name know.pipe -o $name.pbc 2>said || { cat said; exit 1; }; done
"$PIPEC" -p paced -D rate=7 know.pipe -o fallback.pbc
"$PIPERUN" -q fir.pbc x=gen:ramp:8 y=8000.wav,rate=8000,wav:f32 taps=0,0,0,1 || exit 1
printf 'P5 3 2 255\nabcdef' >grey.pgm
printf 'P6 3 2 255\nabcdefabcdefabcdef' >colour.ppm
npy grey.npy '2, 3' '|u1' False abcdef
npy colour.npy '2, 3, 3' '|u1' False abcdefabcdefabcdef
npy row.npy 6, '|u1' False abcdef
npy four.npy '1, 1, 2, 3' '|u1' False abcdef
# begins VALUE WORD...: what piperun writes.
begins() { [ "$("$PIPERUN" -q "${@:2}" 2>&1 | head -1)" = "$1" ] || { "$PIPERUN" "${@:2}"; return 1; }; }
first() { begins "$@" y=-,csv; }
check "the rate of sound" first 8006 paced.pbc x=8000.wav
check "a given value wins" first 11 paced.pbc x=8000.wav rate=5
check "the default of pipec -D, where the input knows none" first 7 fallback.pbc x=gen:ramp:3
check "and not where it does" first 8006 fallback.pbc x=8000.wav
check "an element of an array of ports" begins 8006 second.pbc "x[0]=8000.wav" "x[1]=8000.wav" "y[1]=null" "y[0]=-,csv"
for file in grey.pgm grey.npy; do check "the size of $file" first 30201 picture.pbc x=$file; done
check "of colour.ppm" first 30203 picture.pbc x=colour.ppm
check "of colour.npy" first 30203 picture.pbc x=colour.npy
check "of one row" first 60101 picture.pbc x=row.npy
check "four dimensions are no picture" says 2 "argument 'w' \(i32\) has no value: 'four.npy', which is bound to 'x', knows no width; give it, w=VALUE" \
    "$PIPERUN" picture.pbc x=four.npy y=null
check "an input that knows nothing" says 2 "'gen:ramp', which is bound to 'x', knows no rate; give it, rate=VALUE" "$PIPERUN" paced.pbc x=gen:ramp:3 y=null
check "a type that does not hold it" says 2 "argument 'rate' is u8, which cannot be 8000, the rate of the input of 'x'" "$PIPERUN" narrow.pbc x=8000.wav y=null
check "inspect says so" inspected paced.pbc "argument rate: f32 = x.rate"
check "and the fallback" inspected fallback.pbc "argument rate: f32 = x.rate, else 7"
known_lists() {
    "$PIPEC" -p second --emit=cmds:second.cmds know.pipe && grep -qx 'argument f32 rate = x\[1\].rate;' second.cmds &&
        "$PIPEC" second.cmds -o again.pbc && begins 8006 again.pbc "x[0]=8000.wav" "x[1]=8000.wav" "y[1]=null" "y[0]=-,csv"
}
check "command lists have it" known_lists
