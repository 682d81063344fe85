#!/bin/bash
# SPDX-License-Identifier: MIT
# Live sound: with a libasound of the test's own, whose calls fail on request, and with the devices "null" and "file" of
# the real one.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat >half.pipe <<'END'
kernel half(in f32 x, out f32 y) { y <- x / 2; }
kernel same<type T>(in T x, out T y) { y <- x; }
pipeline halves(in f32 x, out f32 y) { x -> half -> y; }
pipeline wide(in f64 x, out f64 y) { x -> same -> y; }
pipeline stereo(in f32x2 x, out f32x2 y) { x -> same -> y; }
pipeline shorts(in i16 x, out i16 y) { x -> same -> y; }
pipeline words(in i32 x, out i32 y) { x -> same -> y; }
pipeline bytes(in u8 x, out u8 y) { x -> same -> y; }
pipeline longs(in i64 x, out i64 y) { x -> same -> y; }
END
for p in halves wide stereo shorts words bytes longs; do
    "$PIPEC" -p $p half.pipe -o $p.pbc --min-level=error || exit 1
done

# A libasound: the device is a file.  FAKE_CALLS gets the calls; FAKE_XRUN is the transfer that loses sound; FAKE_FAILS is
# the call that fails.
mkdir fake
cat >fake.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static FILE *device, *calls;
static unsigned long frame_bytes, transfers;
static int reads;
static int fails(const char *call) { const char *f = getenv("FAKE_FAILS"); return f != NULL && strcmp(f, call) == 0; }
static int xrun(void) { const char *x = getenv("FAKE_XRUN"); return x != NULL && transfers++ == strtoul(x, NULL, 10); }
const char *snd_strerror(int error) { return strerror(-error); }
int snd_lib_error_set_handler(void *handler) { return handler == NULL; }
int snd_pcm_open(void **pcm, const char *name, int stream, int mode)
{
    if (getenv("FAKE_CALLS") != NULL) calls = fopen(getenv("FAKE_CALLS"), "a");
    if (calls != NULL) fprintf(calls, "open %s %d %d\n", name, stream, mode), fflush(calls);
    if (fails("open")) return -ENOENT;
    reads = stream == 1;
    device = fopen(getenv(reads ? "FAKE_IN" : "FAKE_OUT"), reads ? "rb" : "wb");
    *pcm = device;
    return device != NULL ? 0 : -EBUSY;
}
int snd_pcm_set_params(void *pcm, int format, int access, unsigned channels, unsigned rate, int resample, unsigned latency)
{
    frame_bytes = channels * (format == 1 ? 1 : format == 2 ? 2 : 4);
    if (calls != NULL) fprintf(calls, "params %d %d %u %u %d %u\n", format, access, channels, rate, resample, latency), fflush(calls);
    return fails("params") || pcm == NULL ? -EINVAL : 0;
}
long snd_pcm_readi(void *pcm, void *buffer, unsigned long frames)
{
    static int waited;
    if (xrun()) return -EPIPE;
    if (fails("read")) return -ENODEV;
    if (!waited) { waited = 1; return -EAGAIN; }
    size_t got = fread(buffer, frame_bytes, frames, pcm);
    return got > 0 ? (long)got : -EAGAIN;
}
long snd_pcm_writei(void *pcm, const void *buffer, unsigned long frames)
{
    if (xrun()) return -EPIPE;
    if (fails("write")) return -ENODEV;
    return (long)fwrite(buffer, frame_bytes, frames > 7 ? 7 : frames, pcm);
}
int snd_pcm_start(void *pcm) { return pcm == NULL; }
int snd_pcm_wait(void *pcm, int milliseconds) { return pcm == NULL || milliseconds == 0; }
int snd_pcm_recover(void *pcm, int error, int silent) { return pcm != NULL && silent && error == -EPIPE ? 0 : error; }
int snd_pcm_drain(void *pcm) { if (calls != NULL) fprintf(calls, "drain\n"), fflush(calls); return fails("drain") ? -EIO : fflush(pcm); }
int snd_pcm_close(void *pcm) { if (calls != NULL) fprintf(calls, "close\n"), fflush(calls); return fclose(pcm); }
END
${CC:-cc} -shared -fPIC -w fake.c -o fake/libasound.so.2 || exit 1

live() { # WORD...: with the library of the test
    rm -f calls.txt
    LD_LIBRARY_PATH=$TMP/fake FAKE_CALLS=calls.txt FAKE_IN=in.raw FAKE_OUT=out.raw "$PIPERUN" "$@" >out.txt 2>err.txt
}
called() { # TEXT: a call of the last run
    grep -qxF -- "$1" calls.txt
}
refused() { # TEXT WORD...: exit status 2
    local text=$1
    shift
    live "$@"
    test $? -eq 2 && grep -qF -- "$text" err.txt
}

"$PIPERUN" halves.pbc x=gen:ramp:5000 y=want.raw
"$PIPERUN" halves.pbc x=gen:ramp:20000 y=in.raw
"$PIPERUN" halves.pbc x=in.raw y=quarter.raw
check a_device_plays_all live halves.pbc x=gen:ramp:5000 y=alsa:default
check of_the_same_bits cmp out.raw want.raw
check floats_at_48000_hertz called "params 14 3 1 48000 1 100000"
check the_rest_is_played called drain
check and_the_device_closed called close
check a_name_follows_the_colon live halves.pbc x=gen:ramp:50 y=alsa:plughw:CARD=USB
check and_is_the_name_of_alsa called "open plughw:CARD=USB 0 0"
check pipewire_is_a_device live halves.pbc x=gen:ramp:50 y=pipewire:
check of_its_name called "open pipewire 0 0"
live halves.pbc x=gen:ramp:50 y=pipewire:speakers
check with_a_node called "open pipewire:NODE=speakers 0 0"
live halves.pbc x=gen:ramp:50 y=jack:
check so_is_jack called "open jack 0 0"
live halves.pbc x=gen:ramp:50 y=alsa:
check without_a_name_it_is_the_default called "open default 0 0"

check an_input_is_read live halves.pbc x=alsa:default y=got.raw --firings 20000
check with_the_same_bits cmp got.raw quarter.raw
check without_blocking called "open default 1 1"
check the_rate_goes_on live halves.pbc x=alsa:default,rate=44100 y=alsa:default --firings 100
check to_the_output test "$(grep -c '44100' calls.txt)" -eq 2
check a_vector_is_a_frame live stereo.pbc x=gen:ramp:2000 y=alsa:default,rate=96000
check of_its_channels called "params 14 3 2 96000 1 100000"
check channels_may_be_told live halves.pbc x=gen:ramp:2000 y=alsa:default,channels=2
check as_frames called "params 14 3 2 48000 1 100000"
live shorts.pbc x=gen:ramp:2000 y=alsa:default
check shorts_are_16_bits called "params 2 3 1 48000 1 100000"
live words.pbc x=gen:ramp:2000 y=alsa:default
check words_are_32_bits called "params 10 3 1 48000 1 100000"
live bytes.pbc x=gen:ramp:2000 y=alsa:default
check bytes_are_8_bits called "params 1 3 1 48000 1 100000"
"$PIPERUN" halves.pbc x=gen:ramp:2000 y=want.raw
live wide.pbc x=want.raw,raw:f32 y=alsa:default
check wide_floats_are_narrowed cmp out.raw want.raw

FAKE_XRUN=1 live halves.pbc x=gen:ramp:2000 y=alsa:default
check a_gap_is_no_error cmp out.raw want.raw
check but_reported grep -qF "note: 'alsa:default' had a gap 1 time, because the pipeline was too slow" err.txt
FAKE_XRUN=3 live halves.pbc x=alsa:default y=got.raw --firings 20000
check so_is_lost_sound grep -qF "note: 'alsa:default' lost sound 1 time" err.txt
check and_the_stream_goes_on cmp got.raw quarter.raw

check a_type_without_samples_is_refused refused "'alsa:default': live sound has packets of u8, i16, i32, f32 or f64, not i64" \
    longs.pbc x=gen:ramp:5 y=alsa:default
check a_format_is_refused refused "a sound device has no format" halves.pbc x=gen:ramp:5 y=alsa:default,wav
check a_part_of_a_frame_is_refused test "$(live halves.pbc x=gen:ramp:5 y=alsa:default,channels=2; cat err.txt)" = \
    "piperun: error: alsa:default: the last frame has 1 of 2 samples"
export FAKE_FAILS=open
check a_device_that_is_not_there_is_told refused "'alsa:none': cannot open: No such file or directory ('aplay -L' and" \
    halves.pbc x=gen:ramp:5 y=alsa:none
check with_its_package refused "(the package pipewire-alsa has this device)" halves.pbc x=pipewire: y=null
check or_plugins refused "(the package libasound2-plugins has this device)" halves.pbc x=jack: y=null
FAKE_FAILS=params
check parameters_that_it_refuses_are_told refused "the device refuses 3 channels of f32 at 5 Hz: Invalid argument" \
    halves.pbc x=gen:ramp:5 y=alsa:default,channels=3,rate=5
FAKE_FAILS="write"
check a_device_that_fails_ends_the_run refused "alsa:default: No such device" halves.pbc x=gen:ramp:5 y=alsa:default
FAKE_FAILS="read"
check also_when_it_records refused "alsa:default: No such device" halves.pbc x=alsa:default y=null
FAKE_FAILS=drain
check also_at_the_end refused "cannot play to the end: Input/output error" halves.pbc x=gen:ramp:5 y=alsa:default
unset FAKE_FAILS
FAKE_IN=/dev/null LD_LIBRARY_PATH=$TMP/fake timeout -k 5 -s INT 0.5 "$PIPERUN" halves.pbc x=alsa:default y=stopped.raw 2>err.txt
check ctrl_c_ends_a_silent_input test $? -eq 124 -a -e stopped.raw

mkdir none broken
echo 'no library' >none/libasound.so.2
echo 'int pipec_other; int pipec_other = 1;' | ${CC:-cc} -shared -fPIC -x c - -o broken/libasound.so.2
without() { # FOLDER
    LD_LIBRARY_PATH=$TMP/$1 "$PIPERUN" halves.pbc x=gen:ramp:5 y=alsa:default 2>err.txt
    test $? -eq 2 && grep -q "'alsa:default': cannot load libasound.so.2, which leads to sound devices: .*libasound2 has it" err.txt
}
check without_the_library_it_is_said without none
check a_library_without_functions_too without broken

if ! ldconfig -p | grep -q libasound.so.2; then
    echo "skip the_real_library: there is no libasound.so.2"
    exit 0
fi
cat >asound.conf <<END
pcm.silent { type null }
pcm.out { type file slave.pcm "silent" file "$TMP/out.raw" format "raw" }
pcm.in { type file slave.pcm "silent" file "/dev/null" infile "$TMP/in.raw" format "raw" }
END
export ALSA_CONFIG_PATH=$TMP/asound.conf
rm -f out.raw got.raw
"$PIPERUN" halves.pbc x=gen:ramp:2000 y=alsa:out
check the_real_library_plays cmp out.raw want.raw
"$PIPERUN" halves.pbc x=alsa:in y=got.raw --firings 5000
check and_records cmp got.raw <(head -c 20000 quarter.raw)
"$PIPERUN" halves.pbc x=alsa:in y=got.raw --firings 5000 2>&1 | cmp - /dev/null
check its_messages_are_ours test "$("$PIPERUN" halves.pbc x=alsa:nowhere y=null 2>&1 | wc -l)" -eq 1
