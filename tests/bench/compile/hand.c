/* SPDX-License-Identifier: MIT */
/*
 * The result of a program of this folder, as its C computes it.
 *
 *   cc -DN=16 -DPROGRAM=nest3 -DSOURCE='"nest3.c"' hand.c -lm && ./a.out X B RESULT
 *
 * Writes the packets of the in-ports to the files X and B and those of the out-port to RESULT, raw.  Only nest3 has a
 * second in-port.  Signed integers and floats are from -500 to 500, so that no sum overflows.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include SOURCE

/* Of each program: type of the packets, packets in and out of a call, packets that it sees beyond, calls, and the call. */
#define OF_nest3(of) of(float, N *N, N *N, 0, 16, product(x, b, y))
#define OF_nest4(of) of(float, 4 * N * N, N * N, 0, 16, filter(make_taps(), x, y))
#define OF_nest5(of) of(int32_t, 4 * N * N * N, N * N * N, 0, 16, filter(x, y))
#define OF_nest6(of) of(int32_t, N * N * N, N * N * N, 0, 16, sums(x, y))
#define OF_vocoder(of) of(float, 50, N, 77, 16, (prepare(), vocoder(x, y)))
#define OF_fourier(of) of(float, 2 * N, 2 * N, 0, 16, (prepare(), fourier(x, y)))
#define OF_cipher(of) of(uint32_t, 2, 2, 0, 200, cipher(x, y, 1))
#define OF_chacha(of) of(uint32_t, 16, 16, 0, 100, chacha(x, y, 1))
#define OF_fan(of) of(float, 1, 1, 0, 200, fan(x, y, 1))
#define OF_chain(of) of(float, 1, 1, 0, 200, chain(x, y, 1))
#define OF_picture(of) of(uint8_t, 1920 * 1080, 1920 * 1080, 0, 1, picture(x, y))
#define OF_OF(program) OF_##program
#define OF(program) OF_OF(program)

#define PACKET(type, in, out, beyond, calls, call) type
#define IN(type, in, out, beyond, calls, call) (in)
#define OUT(type, in, out, beyond, calls, call) (out)
#define BEYOND(type, in, out, beyond, calls, call) (beyond)
#define CALLS(type, in, out, beyond, calls, call) (calls)
#define CALL(type, in, out, beyond, calls, call) (call)

typedef OF(PROGRAM)(PACKET) packet;
enum {
    CALL_COUNT = OF(PROGRAM)(CALLS),
    IN_COUNT = OF(PROGRAM)(IN),
    OUT_COUNT = OF(PROGRAM)(OUT),
    SEEN_COUNT = CALL_COUNT * IN_COUNT + OF(PROGRAM)(BEYOND),
};

/* The taps of nest4.pipe. */
float *make_taps(void)
{
    static float taps[N * N];
    for (int i = 0; i < N * N; i++)
        taps[i] = (float)i / (N * N);
    return taps;
}

static packet *make_packets(uint32_t seed)
{
    packet *packets = calloc(SEEN_COUNT, sizeof *packets);
    if (packets == NULL) exit(2);
    for (int i = 0; i < SEEN_COUNT; i++) {
        seed = seed * 1664525 + 1013904223;
        packets[i] = (packet)((packet)-1 < 0 ? (int)(seed >> 8) % 1001 - 500 : (int)(seed >> 8));
    }
    return packets;
}

static void write_packets(const char *path, const packet *packets, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(packets, sizeof *packets, count, file) != count || fclose(file) != 0)
        exit(2);
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    packet *first = make_packets(1), *second = make_packets(2);
    packet *result = calloc((size_t)CALL_COUNT * OUT_COUNT, sizeof *result);
    if (result == NULL) return 2;
    write_packets(argv[1], first,
                  SEEN_COUNT); /* before the calls: one of them uses its input as scratch */
    write_packets(argv[2], second, SEEN_COUNT);
    for (int i = 0; i < CALL_COUNT; i++) {
        packet *x = first + (size_t)i * IN_COUNT, *b = second + (size_t)i * IN_COUNT;
        packet *y = result + (size_t)i * OUT_COUNT;
        (void)b;
        OF(PROGRAM)(CALL);
    }
    write_packets(argv[3], result, (size_t)CALL_COUNT * OUT_COUNT);
    return 0;
}
