#!/bin/sh
# SPDX-License-Identifier: MIT
# What piperun binds to ports: each format is written, read back, and looked at by another program.
set -eu
cd "$TMP"
copy() { # copy TYPE: a pipeline that passes packets on
    printf 'kernel copy(in %s x, out %s y) { y <- x; }\npipeline main(in %s x, out %s y) { x -> copy -> y; }\n' \
        "$1" "$1" "$1" "$1" >"copy_$1.pipe"
    "$PIPEC" "copy_$1.pipe" -o "copy_$1.pbc"
}
same() { if cmp -s "$2" "$3"; then echo "ok $1"; else echo "not ok $1"; fi; }
run() { "$PIPERUN" -q "$@"; }
for type in u8 i16 i32 f32 f64; do copy $type; done

# raw, standard input and output, byte order, conversion by value
perl -e 'print pack "f<*", map { $_ / 8 } -50 .. 1000' >x.f32
run copy_f32.pbc x=x.f32 y=y.raw && same "raw files" x.f32 y.raw
run copy_f32.pbc x=-,raw y=-,raw <x.f32 >y.raw && same "standard input and output" x.f32 y.raw
run copy_f32.pbc x=x.f32 y=be.raw,raw:f32be
perl -e 'print pack "f>*", map { $_ / 8 } -50 .. 1000' >want.raw && same "big-endian out" want.raw be.raw
run copy_f32.pbc x=be.raw,raw:f32be y=y.raw && same "big-endian in" x.f32 y.raw
perl -e 'print pack "s<*", -300 .. 300' >x.s16
run copy_f32.pbc x=x.s16,raw:s16le y=y.raw
perl -e 'print pack "f<*", -300 .. 300' >want.raw && same "integers to f32 by value" want.raw y.raw

# npy: header as NumPy writes it, round trip
run copy_f32.pbc x=x.f32 y=y.npy
if perl -0777 -ne "exit !(/^\\x93NUMPY\\x01\\x00/ && /'descr': '<f4'/ && /'fortran_order': False/ && /'shape': \\(1051,\\)/)" y.npy; then
    echo "ok the npy header"
else
    echo "not ok the npy header"
fi
run copy_f32.pbc x=y.npy y=y.raw && same "npy round trip" x.f32 y.raw

# wav: 16 bits, round trip through floats
voice=$ROOT/examples/fmradio/voice.wav
run copy_i16.pbc x="$voice" y=v.wav,rate=16000
run copy_i16.pbc x="$voice" y=a.raw && run copy_i16.pbc x=v.wav y=b.raw && same "wav round trip" a.raw b.raw
tail -c +45 "$voice" >samples.raw && same "wav samples are those of the file" samples.raw a.raw

if readelf -d "$PIPERUN" | grep -q 'NEEDED.*libsndfile'; then
    echo "not ok libsndfile is loaded only when sound is read"
else
    echo "ok libsndfile is loaded only when sound is read"
fi
# refused_library NAME WHY: libsndfile as it is found in the folder NAME cannot be loaded: old output stays
refused_library() {
    printf before >old.raw
    status=0
    LD_LIBRARY_PATH=$PWD/$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} run copy_i16.pbc x="$voice" y=old.raw 2>said || status=$?
    if [ $status -eq 2 ] && [ "$(cat old.raw)" = before ] &&
        grep -Eq "^piperun: error: $voice: cannot load libsndfile.so.1, .*$2.* package libsndfile1" said; then
        echo "ok libsndfile that cannot be loaded is told: $1"
    else
        echo "exit status $status"
        cat said
        echo "not ok libsndfile that cannot be loaded is told: $1"
    fi
}
mkdir no_library other_library broken_library
printf 'no library\n' >no_library/libsndfile.so.1
refused_library no_library 'file too short|invalid ELF header'
echo 'int pipec_other; int pipec_other = 1;' | ${CC:-cc} -shared -fPIC -x c - -o other_library/libsndfile.so.1
refused_library other_library 'undefined symbol: sf_open_virtual'
echo 'int pipec_missing(void); int sf_close(void); int sf_close(void) { return pipec_missing(); }' |
    ${CC:-cc} -shared -fPIC -x c - -o broken_library/libsndfile.so.1
refused_library broken_library 'undefined symbol: pipec_missing'
status=0
LD_LIBRARY_PATH=$PWD/no_library run copy_i16.pbc x=a.raw y=none.flac 2>said || status=$?
if [ $status -eq 2 ] && [ ! -e none.flac ] && grep -q 'none.flac: cannot load libsndfile.so.1, which reads sound and writes aiff and flac' said; then
    echo "ok without libsndfile no flac is written"
else
    cat said
    echo "not ok without libsndfile no flac is written"
fi
LD_LIBRARY_PATH=$PWD/no_library run copy_i16.pbc x=a.raw y=b.raw && same "without sound nobody looks for libsndfile" a.raw b.raw
LD_LIBRARY_PATH=$PWD/no_library run copy_i16.pbc x=a.raw y=written.wav,rate=16000 && same "wav is written without libsndfile" v.wav written.wav

# aiff, flac: files, pipes in and out; rates as of wav
for format in aiff flac; do
    run copy_i16.pbc x="$voice" y=v.$format
    run copy_i16.pbc x=v.$format y=b.raw && same "$format round trip" a.raw b.raw
    cat v.$format | run copy_i16.pbc x=-,$format y=b.raw && same "$format from a pipe" a.raw b.raw
    run copy_i16.pbc x=v.$format y=-,$format | cat >w.$format && same "$format to a pipe: the file, with its rate" v.$format w.$format
    run copy_i16.pbc x=v.$format y=w.wav && same "$format to wav" v.wav w.wav
    head -c 30000 v.$format >cut.$format
    status=0
    run copy_i16.pbc x=cut.$format y=old.raw 2>said || status=$?
    if [ $status -eq 1 ] && [ "$(cat old.raw)" = before ] && grep -Eq "cut.$format: .*byte [0-9]+" said; then
        echo "ok $format that is cut is refused with the place, and old output stays"
    else
        cat said
        echo "not ok $format that is cut is refused with the place, and old output stays"
    fi
done
run copy_f32.pbc x="$voice" y=v.f32.aiff && run copy_f32.pbc x=v.f32.aiff y=f.raw && run copy_f32.pbc x="$voice" y=g.raw && same "floats in aiff" f.raw g.raw

# images
perl -e 'print pack "C*", map { $_ * 7 % 256 } 0 .. 34' >pixels.raw
{ printf 'P5\n7 5\n255\n' && cat pixels.raw; } >g.pgm
run copy_u8.pbc x=g.pgm y=a.raw && same "pgm in" pixels.raw a.raw
run copy_u8.pbc x=g.pgm y=h.pgm,width=7
if perl -0777 -ne 'exit !(/^P5\s+7\s+5\s+255\s/s && length == $+[0] + 35)' h.pgm; then echo "ok pgm out"; else echo "not ok pgm out"; fi
tail -c 35 h.pgm >a.raw && same "pgm out keeps the pixels" pixels.raw a.raw
run copy_u8.pbc x=g.pgm y=g.png,width=7
if perl -0777 -ne 'exit !/^\x89PNG\r\n\x1a\n....IHDR\0\0\0\x07\0\0\0\x05\x08\0/s' g.png; then echo "ok png out is 7x5 grey"; else echo "not ok png out is 7x5 grey"; fi
run copy_u8.pbc x=g.png y=a.raw && same "png round trip" pixels.raw a.raw

# csv, generators
run copy_i32.pbc x=gen:ramp:5 y=-,csv >ramp.csv
printf '0\n1\n2\n3\n4\n' >want.csv && same "a ramp as csv" want.csv ramp.csv
run copy_i32.pbc x=ramp.csv y=ramp.jsonl && run copy_i32.pbc x=ramp.jsonl y=-,csv >again.csv && same "jsonl round trip" want.csv again.csv
run copy_i32.pbc x=ramp.csv y=-,csv >again.csv && same "csv round trip" want.csv again.csv
run copy_f64.pbc x=gen:noise:7:1000 y=n1.raw && run copy_f64.pbc x=gen:noise:7:1000 y=n2.raw && same "noise depends on its seed alone" n1.raw n2.raw
run copy_f64.pbc x=gen:noise:8:1000 y=n3.raw
if cmp -s n1.raw n3.raw; then echo "not ok another seed is other noise"; else echo "ok another seed is other noise"; fi
run copy_f64.pbc x=gen:zeros y=z.raw --firings 10
head -c 80 /dev/zero >want.raw && same "--firings ends an endless generator" want.raw z.raw
run copy_u8.pbc x=/dev/null,raw y=empty.raw && same "no input is no output" /dev/null empty.raw
