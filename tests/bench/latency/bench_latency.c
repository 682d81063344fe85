/* SPDX-License-Identifier: MIT */
/* The latency and the throughput of packets that are pushed, beside a loop that is written by hand.
 *
 *     bench_latency CONTAINER PIPERUN
 *     bench_latency --filter          the loop by hand, from standard input to standard output
 *
 * Two ways to push: callbacks in one thread (an eager port of the C API), and pipes to another process.
 * Latency: from the moment before the last packets are given to the moment when their output is there; the
 * next packets are pushed after that.  Throughput: pushes of the same size, without waiting for outputs.
 * Ours and the loop by hand take turns for ROUNDS rounds (environment, default 5): medians of the rounds.
 * Outputs are compared: they have the same bits. */
#include "runtime/host/pipert.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    TAPS = 32,
    HISTORY = TAPS - 1,
    HAND_CHUNK = 16384, /* packets that the loop by hand asks for at a time */
    ROUNDS_MAX = 99,
    PUSHES_MAX = 4000,
    SINE_HERTZ = 44100,
    SINE_PIECE = 44 /* packets in a millisecond */
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_latency: %s: %s\n", what, strerror(errno));
    exit(3);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, compare);
    return values[(size_t)((double)(count - 1) * part)];
}

/* ---- the filter by hand ---- */

typedef size_t read_packets(void *context, float *packets, size_t capacity);
typedef void write_packets(void *context, const float *packets, size_t count);

static void filter(const float *restrict in, float *restrict out, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        float sum = 0;
        for (int i = 0; i < TAPS; i++)
            sum += in[k + (size_t)i] * (float)(i + 1);
        sum /= 528;
        out[k] = sum > 1 ? 1 : sum;
    }
}

static void filter_by_hand(read_packets *read, write_packets *write, void *context)
{
    static float in[HISTORY + HAND_CHUNK], out[HAND_CHUNK];
    size_t held = 0, came;
    while ((came = read(context, in + held, HISTORY + HAND_CHUNK - held)) > 0) {
        held += came;
        if (held <= HISTORY) continue;
        filter(in, out, held - HISTORY);
        write(context, out, held - HISTORY);
        memmove(in, in + held - HISTORY, HISTORY * sizeof *in);
        held = HISTORY;
    }
}

static size_t read_stdin(void *context, float *packets, size_t capacity)
{
    char *bytes = (char *)packets;
    size_t held = 0;
    (void)context;
    do {
        ssize_t came = read(0, bytes + held, capacity * sizeof *packets - held);
        if (came < 0) fail("read");
        if (came == 0) return 0;
        held += (size_t)came;
    } while (held % sizeof *packets != 0);
    return held / sizeof *packets;
}

static void write_all(int to, const void *from, size_t bytes)
{
    const char *at = from;
    while (bytes > 0) {
        ssize_t went = write(to, at, bytes);
        if (went < 0) fail("write");
        at += went;
        bytes -= (size_t)went;
    }
}

static void write_stdout(void *context, const float *packets, size_t count)
{
    (void)context;
    write_all(1, packets, count * sizeof *packets);
}

/* ---- the stream ---- */

struct stream {
    size_t piece, pushes;     /* packets in a push */
    size_t pushed, pulled;    /* packets */
    double began[PUSHES_MAX]; /* latencies, in the end */
    size_t measured;
    bool waits; /* for the output of a push before the next one */
    float check;
};

static float packet(size_t index)
{
    return (float)(index % 97) / 64;
}

static size_t push(struct stream *s, float *packets, size_t capacity)
{
    if (s->pushed == 0) { /* the filter's history first */
        for (; s->pushed < HISTORY; s->pushed++)
            packets[s->pushed] = packet(s->pushed);
        return HISTORY;
    }
    if (s->pushed - HISTORY == s->piece * s->pushes) return 0;
    size_t left = s->piece - (s->pushed - HISTORY) % s->piece;
    if (left > capacity) left = capacity;
    for (size_t i = 0; i < left; i++)
        packets[i] = packet(s->pushed++);
    if (s->waits) s->began[s->measured] = now_us();
    return left;
}

static void pull(struct stream *s, const float *packets, size_t count)
{
    s->pulled += count;
    s->check += packets[count - 1];
    if (!s->waits || s->pulled % s->piece != 0) return;
    s->began[s->measured] = now_us() - s->began[s->measured];
    s->measured++;
}

static size_t push_to_hand(void *context, float *packets, size_t capacity)
{
    return push(context, packets, capacity);
}

static void pull_from_hand(void *context, const float *packets, size_t count)
{
    pull(context, packets, count);
}

static enum prt_status push_to_run(void *context, void *packets, size_t capacity, size_t *count,
                                   struct prt_error *error)
{
    (void)error;
    *count = push(context, packets, capacity);
    return PRT_OK;
}

static enum prt_status pull_from_run(void *context, const void *packets, size_t count,
                                     struct prt_error *error)
{
    (void)error;
    pull(context, packets, count);
    return PRT_OK;
}

/* ---- ways: callbacks ---- */

struct figures {
    double median_us, most_us, packets_per_us;
};

static void need(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "bench_latency: %s\n", error->message);
    exit(3);
}

static void call_run(const char *container, struct stream *s)
{
    struct prt_error error;
    struct prt_program *program;
    struct prt_run *run;
    struct prt_run_options options = {.device = "cpu:1"};
    need(prt_program_load_file(container, &program, &error), &error);
    need(prt_run_create(program, &options, &run, &error), &error);
    uint32_t in = prt_program_find_port(program, "x"), out = prt_program_find_port(program, "y");
    need(prt_run_bind_input(run, in, push_to_run, s, &error), &error);
    need(prt_run_bind_output(run, out, pull_from_run, s, &error), &error);
    need(prt_run_input_eager(run, in, &error), &error);
    need(prt_run_execute(run, &error), &error);
    prt_run_destroy(run);
    prt_program_free(program);
}

static float by_calls(const char *container, size_t piece, size_t pushes, struct figures *found)
{
    static struct stream s;
    s = (struct stream){.piece = piece, .pushes = pushes, .waits = true};
    if (container != NULL)
        call_run(container, &s);
    else
        filter_by_hand(push_to_hand, pull_from_hand, &s);
    found->median_us = quantile(s.began, s.measured, 0.5);
    found->most_us = quantile(s.began, s.measured, 0.99);
    float check = s.check;
    s = (struct stream){.piece = piece, .pushes = piece < 64 ? 400000 : 1600000 / piece * 16};
    double begin = now_us();
    if (container != NULL)
        call_run(container, &s);
    else
        filter_by_hand(push_to_hand, pull_from_hand, &s);
    found->packets_per_us = (double)s.pulled / (now_us() - begin);
    return check;
}

/* ---- ways: pipes ---- */

struct process {
    pid_t pid;
    int in, out; /* our ends */
};

static struct process start(char *const words[])
{
    posix_spawn_file_actions_t actions;
    struct process made;
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (posix_spawn(&made.pid, words[0], &actions, NULL, words, environ) != 0) fail(words[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    made.in = in[1];
    made.out = out[0];
    return made;
}

static void await(struct process *process)
{
    int status;
    close(process->in);
    close(process->out);
    if (waitpid(process->pid, &status, 0) < 0) fail("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("the process failed");
}

static void read_all(int from, void *to, size_t bytes)
{
    char *at = to;
    while (bytes > 0) {
        ssize_t came = read(from, at, bytes);
        if (came <= 0) fail("the output ended");
        at += came;
        bytes -= (size_t)came;
    }
}

/* The history, whose packets give no output. */
static void push_history(struct stream *s, int to)
{
    float packets[HISTORY];
    write_all(to, packets, push(s, packets, HISTORY) * sizeof *packets);
}

static float by_pipes(char *const words[], size_t piece, size_t pushes, struct figures *found)
{
    static struct stream s;
    static float packets[1 << 16];
    s = (struct stream){.piece = piece, .pushes = pushes, .waits = true};
    struct process process = start(words);
    push_history(&s, process.in);
    size_t count;
    while ((count = push(&s, packets, piece)) > 0) {
        write_all(process.in, packets, count * sizeof *packets);
        read_all(process.out, packets, count * sizeof *packets);
        pull(&s, packets, count);
    }
    await(&process);
    found->median_us = quantile(s.began, s.measured, 0.5);
    found->most_us = quantile(s.began, s.measured, 0.99);
    float check = s.check;
    s = (struct stream){.piece = piece, .pushes = piece < 64 ? 200000 : 8000000 / piece};
    process = start(words);
    push_history(&s, process.in);
    double begin = now_us();
    pid_t writer = fork();
    if (writer < 0) fail("fork");
    if (writer == 0) {
        while ((count = push(&s, packets, piece)) > 0)
            write_all(process.in, packets, count * sizeof *packets);
        _exit(0);
    }
    for (size_t left = s.piece * s.pushes; left > 0; left -= count) {
        count = left < 1 << 14 ? left : 1 << 14;
        read_all(process.out, packets, count * sizeof *packets);
    }
    found->packets_per_us = (double)(s.piece * s.pushes) / (now_us() - begin);
    waitpid(writer, NULL, 0);
    await(&process);
    return check;
}

/* ---- the table ---- */

/* One number for a column: the median of the rounds. */
static double middle(const struct figures *rounds, int count, size_t member)
{
    double values[ROUNDS_MAX];
    for (int i = 0; i < count; i++)
        values[i] = *(const double *)((const char *)&rounds[i] + member);
    return quantile(values, (size_t)count, 0.5);
}

static void row(bool pipes, size_t piece, int rounds, char *const words[], char *const by_hand[],
                const char *container)
{
    struct figures ours[ROUNDS_MAX], hand[ROUNDS_MAX];
    size_t pushes = piece < 4096 ? PUSHES_MAX : PUSHES_MAX / 4;
    for (int i = 0; i < rounds; i++) {
        float a = pipes ? by_pipes(words, piece, pushes, &ours[i])
                        : by_calls(container, piece, pushes, &ours[i]);
        float b = pipes ? by_pipes(by_hand, piece, pushes, &hand[i])
                        : by_calls(NULL, piece, pushes, &hand[i]);
        if (memcmp(&a, &b, sizeof a) != 0) fail("other packets than by hand");
    }
    size_t median = offsetof(struct figures, median_us), most = offsetof(struct figures, most_us);
    size_t rate = offsetof(struct figures, packets_per_us);
    printf("%-10s %6zu %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f\n", pipes ? "pipes" : "callbacks",
           piece, middle(ours, rounds, median), middle(hand, rounds, median),
           middle(ours, rounds, most), middle(hand, rounds, most), middle(ours, rounds, rate),
           middle(hand, rounds, rate));
    fflush(stdout);
}

/* Milliseconds from the first packet of a sine in real time to the first packet of output. */
static double time_sine(char *const words[])
{
    struct process process = start(words);
    float packets[SINE_PIECE], out;
    double first = now_us();
    pid_t writer = fork();
    if (writer < 0) fail("fork");
    for (size_t at = 0; writer == 0 && at < SINE_HERTZ / 10; at += SINE_PIECE) {
        double due = first + (double)at * 1e6 / SINE_HERTZ;
        for (size_t i = 0; i < SINE_PIECE; i++)
            packets[i] = (float)sin(6.283185307179586 * 1000 * (double)(at + i) / SINE_HERTZ);
        while (now_us() < due)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        write_all(process.in, packets, sizeof packets);
    }
    if (writer == 0) _exit(0);
    read_all(process.out, &out, sizeof out);
    double came = now_us();
    close(process.in);
    waitpid(writer, NULL, 0);
    char rest[4096];
    while (read(process.out, rest, sizeof rest) > 0)
        continue;
    await(&process);
    return (came - first) / 1000;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--filter") == 0) {
        filter_by_hand(read_stdin, write_stdout, NULL);
        return 0;
    }
    const char *wanted = getenv("ROUNDS");
    int rounds = wanted != NULL ? atoi(wanted) : 5;
    if (argc != 3 || rounds < 1 || rounds > ROUNDS_MAX) return 2;
    char *const ours[] = {argv[2], "-q", "--device", "cpu", argv[1], "x=-,raw", "y=-,raw", NULL};
    char *const by_hand[] = {argv[0], "--filter", NULL};
    printf("%-17s %21s %21s %21s\n", "packets pushed", "latency, microseconds",
           "99 % of them below", "packets/us, streaming");
    printf("%-10s %6s %10s %10s %10s %10s %10s %10s\n", "way", "push", "ours", "hand", "ours",
           "hand", "ours", "hand");
    static const size_t pieces[] = {1, 64, 4096};
    for (int pipes = 0; pipes < 2; pipes++)
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
            row(pipes, pieces[i], rounds, ours, by_hand, argv[1]);
    double sines[2][ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) {
        sines[0][i] = time_sine(ours);
        sines[1][i] = time_sine(by_hand);
    }
    printf("\nsine of 1 kHz at 44.1 kHz, written each millisecond to a process that starts "
           "meanwhile:\n"
           "milliseconds from its first packet to the first output: ours %.2f, hand %.2f\n",
           quantile(sines[0], (size_t)rounds, 0.5), quantile(sines[1], (size_t)rounds, 0.5));
    return 0;
}
