#!/bin/sh
# SPDX-License-Identifier: MIT
# Ports whose packets are structs, vectors, blocks and 16-bit floats, through files of every format that
# carries them, and back to the same bytes.
set -eu
cd "$TMP"

cat > make.pipe <<'END'
struct point {
    u8 id;
    f64 pos[3];
    i16x2 pair;
};
struct rgb { u8 r, g, b; };
fn f64[3] positions(i32 x) {
    f64 p[3] = {x, x + 0.5, x / 4.0};
    return p;
}
kernel point_of(in i32 x, out point p) { p <- point((u8)x, positions(x), i16x2(x, -x)); }
kernel block_of(in i32 x pop 4, out f16[2][2] y) {
    f16 b[2][2] = {{x[0] * 0.1, x[1]}, {x[2], x[3]}};
    y <- b;
}
kernel stereo(in i32 x, out f32x2 y) { y <- f32x2(x / 16.0, -x / 16.0); }
kernel colour(in i32 x, out rgb y) { y <- rgb((u8)x, (u8)(2 * x), (u8)(3 * x)); }
pipeline main(in i32 x, out point p, out f16[2][2] b, out f32x2 s, out rgb c) {
    point_of(x -> p);
    block_of(x -> b);
    stereo(x -> s);
    colour(x -> c);
}
END
cat > copy.pipe <<'END'
import "make.pipe";
kernel copy<type T>(in T x, out T y) { y <- x; }
pipeline again(in point p, in f16[2][2] b, in f32x2 s, in rgb c, out point p2, out f16[2][2] b2,
               out f32x2 s2, out rgb c2) {
    p -> copy -> p2;
    b -> copy -> b2;
    s -> copy -> s2;
    c -> copy -> c2;
}
END
"$PIPEC" -p main make.pipe -o make.pbc
"$PIPEC" -p again copy.pipe -o copy.pbc

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; fi
}
header() { # FILE TEXT
    head -c 256 "$1" | tr '\0' ' ' | grep -aqF "$2"
}
again() { "$PIPERUN" copy.pbc "$@" > out.txt 2>&1; }
same() { # EXTENSION: the four files of the second round are those of the first
    for port in p b s c; do cmp "$port.$1" "${port}2.$1" || return 1; done
}
refused() { # TEXT WORD...: exits with an error that says so
    text=$1
    shift
    if again "$@"; then return 1; fi
    grep -qF "$text" out.txt
}

"$PIPERUN" make.pbc x=gen:ramp:8 p=p.npy b=b.npy s=s.npy c=c.npy
check structured_types_have_names_shapes_and_gaps header p.npy \
    "[('id', '|u1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4'), ]"
check blocks_have_their_dimensions header b.npy "'descr': '<f2', 'fortran_order': False, 'shape': (2, 2, 2,)"
check vectors_have_their_dimension header s.npy "'shape': (8, 2,)"

again p=p.npy b=b.npy s=s.npy c=c.npy p2=p2.npy b2=b2.npy s2=s2.npy c2=c2.npy
check npy_comes_back same npy

again p=p.npy b=b.npy s=s.npy c=c.npy p2=p.csv b2=b.csv s2=s.wav c2=c.png,width=4
printf '0,0,0.5,0,0,0\n1,1,1.5,0.25,1,-1\n' > want.csv
head -n 2 p.csv > got.csv
check a_line_has_a_column_for_each_scalar cmp want.csv got.csv
printf '0,1,2,3\n0.4,5,6,7\n' > want.csv
check halves_are_printed_as_short_as_they_read_back cmp want.csv b.csv
again p=p.csv b=b.csv s=s.wav c=c.png p2=p2.npy b2=b2.npy s2=s2.npy c2=c2.npy
check csv_wav_and_png_come_back same npy

again p=p.npy b=b.npy s=s.npy c=c.npy p2=p.raw b2=b.raw s2=s.raw c2=c.raw
again p=p.raw b=b.raw s=s.raw c=c.raw p2=p2.npy b2=b2.npy s2=s2.npy c2=c2.npy
check raw_comes_back same npy
check a_struct_has_the_size_of_c test "$(wc -c < p.raw)" -eq 320

set -- b=b.npy s=s.npy c=c.npy p2=null b2=null s2=null c2=null
check a_ramp_has_no_fields refused "gen:ramp cannot carry packets of type point" p=gen:ramp:3 "$@"
check fields_are_not_converted refused "have fields" p=p.raw,raw:f32 "$@"
check a_plain_array_is_no_struct refused "is no struct" p=s.npy "$@"
check dimensions_are_those_of_a_packet refused "are not (2, 2), those of a packet of type f16[2][2]" \
    p=p.npy b=s.npy s=s.npy c=c.npy p2=null b2=null s2=null c2=null
check leading_dimensions_are_free again p=p.npy b=b.npy s=b.npy c=c.npy p2=null b2=null s2=null c2=null
head -c 60 p.raw > cut.raw
check half_a_packet_is_said refused "ends inside a packet of port 'p' (20 of 40 bytes)" p=cut.raw "$@"
again p=p.npy b=b.npy s=s.npy c=c.npy p2=p.jsonl b2=b.jsonl s2=s.jsonl c2=c.jsonl
check a_struct_is_an_object_of_json test "$(sed -n 2p p.jsonl)" = '{"id":1,"pos":[1,1.5,0.25],"pair":[1,-1]}'
check a_block_is_an_array_of_arrays test "$(head -n 1 b.jsonl)" = '[[0,1],[2,3]]'
again p=p.jsonl b=b.jsonl s=s.jsonl c=c.jsonl p2=p2.npy b2=b2.npy s2=s2.npy c2=c2.npy
check jsonl_comes_back same npy
sed 's/^{"id":1,/{"id":1,"station":"roof",/; s/,"pair"/,"other":[{}],"pair"/' p.jsonl > more.jsonl
again p=more.jsonl b=b.jsonl s=s.jsonl c=c.jsonl p2=p2.npy b2=b2.npy s2=s2.npy c2=c2.npy
check other_members_are_left_out same npy
sed '3s/"pos":\[[^]]*/"pos":[1,2/' p.jsonl > wrong.jsonl
check errors_have_line_and_field refused "error: wrong.jsonl:3: 'pos[0]': the array has 2 values, not 3" p=wrong.jsonl "$@"

printf '1,2,3\n' > short.csv
check missing_columns_are_said refused "has 3 columns, not 6" p=short.csv "$@"
printf '1,2,3,4,5,6,7\n' > long.csv
check surplus_columns_are_said refused "has 7 columns, not 6" p=long.csv "$@"
# Headings in another order, with a column more, and the marks of other programs.
again p=p.npy b=b.npy s=s.npy c=c.npy p2=named.csv,headings b2=null s2=named_s.csv,headings,separator=tab c2=null
check headings_are_names_of_fields test "$(head -n 1 named.csv)" = 'id,pos[0],pos[1],pos[2],pair[0],pair[1]'
check or_of_ports test "$(head -n 1 named_s.csv)" = "$(printf 's2[0]\ts2[1]')"
awk -F, -v OFS=';' '{ print $6, $5, $4, NR == 1 ? "note" : "\"a;\n\"\"b\"", $3, NR == 4 ? "" : $2, $1 } NR == 2 { print "# a log" }' \
    named.csv > turned.csv
check columns_are_found_by_their_names again 'p=turned.csv,headings,separator=;,comment=#,missing=2' b=b.npy s=s.npy c=c.npy \
    p2=p2.npy b2=b2.npy s2=s2.npy c2=c2.npy
check and_are_the_same_packets same npy
check errors_have_line_and_column refused "error: turned.csv:8:10: a number of type f64 is missing; missing=VALUE would fill it in" \
    'p=turned.csv,headings,separator=;,comment=#' "$@"
cat > wide.pipe <<'END'
kernel copy(in i32[20] x, out i32[20] y) { y <- x[0]; }
pipeline main(in i32[20] x, out i32[20] y) { x -> copy -> y; }
END
{ printf '%01030d,' 7; seq -s , 2 20; } > digits.csv
cut_short() { "$PIPERUN" wide.pipe x=digits.csv y=null 2> out.txt || grep -q "is not a number of type i32" out.txt; }
check a_number_is_not_cut_short cut_short
cat > mono.pipe <<'END'
kernel mono(in f32 x, out f32 y) { y <- x; }
pipeline main(in f32 x, out f32 y) { x -> mono -> y; }
END
"$PIPERUN" mono.pipe x=gen:ramp:8 y=mono.wav 2> /dev/null
"$PIPERUN" mono.pipe x=gen:ramp:8 y=flat.npy
check one_dimension_is_read_flat again p=p.npy b=flat.npy s=flat.npy c=c.npy p2=null b2=null s2=null c2=null
check channels_are_those_of_the_vector refused "has 1 channel, a packet of type f32x2 holds 2" \
    p=p.npy b=b.npy s=mono.wav c=c.npy p2=null b2=null s2=null c2=null
told() { # TEXT PORT=...: piperun says so
    text=$1
    shift
    "$PIPERUN" mono.pbc "$@" > out.txt 2>&1 || true
    grep -qF "$text" out.txt
}
"$PIPEC" mono.pipe -o mono.pbc
check stereo_in_a_port_of_scalars_is_refused told "declare it 'f32x2', or add channels=2" x=s.wav y=null
check unless_it_is_said test "$("$PIPERUN" mono.pbc x=s.wav,channels=2 y=-,csv | wc -l)" -eq 16
check colour_in_a_port_of_scalars_is_refused told "declare it 'f32x3', or add channels=3" x=c.png y=null
check a_rate_that_the_file_does_not_have told "the file has 48000 Hz, not 44100" x=mono.wav,rate=44100 y=null
check an_option_of_another_format told "'rate=' belongs to sound and y4m, and this is csv" x=mono.wav y=m.csv,rate=44100
"$PIPERUN" mono.pbc x=mono.wav y=cd.wav,rate=44100
"$PIPERUN" mono.pbc x=cd.wav y=o.wav
check an_output_has_the_rate_of_the_input test "$(od -An -tu4 -j24 -N4 o.wav | tr -d ' ')" = 44100
check channels_of_outputs_too refused "holds 2" p=p.npy b=b.npy s=s.npy c=c.npy p2=null b2=null \
    s2=s2.wav,channels=1 c2=null
"$PIPERUN" copy.pbc p=gen:zeros:3 b=gen:zeros:2 s=gen:ramp:2 c=gen:ramp:2 p2=p3.raw b2=b3.raw s2=s3.csv c2=c3.csv
check counts_of_generators_are_packets test "$(wc -c < p3.raw) $(wc -c < b3.raw)" = "120 16"
printf '0,1\n2,3\n' > want.csv
check a_ramp_goes_through_the_scalars cmp want.csv s3.csv
