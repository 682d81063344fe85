/* SPDX-License-Identifier: MIT */
/*
 * snr SENT.wav RECEIVED.wav LEAST_DB: how well speech came through.
 *
 * Finds the delay and gain at which RECEIVED fits SENT best (least squares) and prints the ratio of
 * the signal's power to that of the difference.  Exit status 1 where it is below LEAST_DB.
 */
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DELAY = 400 };

struct sound {
    float *samples;
    long count;
};

static struct sound read_sound(const char *path)
{
    SF_INFO info = {0};
    SNDFILE *file = sf_open(path, SFM_READ, &info);
    if (file == NULL || info.channels != 1) {
        fprintf(stderr, "snr: cannot read '%s' as one channel: %s\n", path, sf_strerror(file));
        exit(2);
    }
    struct sound s = {.samples = malloc((size_t)info.frames * sizeof(float))};
    if (s.samples == NULL) exit(2);
    s.count = (long)sf_readf_float(file, s.samples, info.frames);
    sf_close(file);
    return s;
}

static double ratio_db(struct sound a, struct sound b, long delay)
{
    double aa = 0, ab = 0, bb = 0;
    for (long i = 0; i < a.count && i + delay < b.count; i++) {
        double x = (double)a.samples[i], y = (double)b.samples[i + delay];
        aa += x * x;
        ab += x * y;
        bb += y * y;
    }
    if (aa <= 0 || bb <= 0) return -INFINITY;
    double error = bb - ab * ab / aa; /* of b against its best fit by a */
    return 10 * log10((ab * ab / aa) / (error > 1e-12 * bb ? error : 1e-12 * bb));
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: snr SENT.wav RECEIVED.wav LEAST_DB\n", stderr);
        return 2;
    }
    struct sound sent = read_sound(argv[1]), received = read_sound(argv[2]);
    double best = -INFINITY;
    long best_delay = 0;
    for (long delay = -MAX_DELAY; delay <= MAX_DELAY; delay++) {
        struct sound a = sent, b = received;
        if (delay < 0) { /* what came back begins later in the speech than the file */
            a.samples -= delay;
            a.count += delay;
        }
        double db = ratio_db(a, b, delay < 0 ? 0 : delay);
        if (db > best) {
            best = db;
            best_delay = delay;
        }
    }
    printf("signal-to-noise ratio %.1f dB at a delay of %ld samples\n", best, best_delay);
    free(sent.samples);
    free(received.samples);
    return best < strtod(argv[3], NULL);
}
