/* SPDX-License-Identifier: MIT */
/* How long commands take to their first byte of output, and to their end.
 *
 *     bench_startup NAME WORD... -- NAME WORD... -- ...
 *
 * Each command is run ROUNDS times (environment, default 15), in turn with the others, with its
 * standard output into a pipe: medians of the wall time from before its creation to the first byte
 * and to its end, and of its processor time, with that of its children. */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { COMMANDS_MAX = 32, ROUNDS_MAX = 1000 };

struct command {
    const char *name;
    char **words; /* ended by NULL */
    double first_ms[ROUNDS_MAX], end_ms[ROUNDS_MAX], processor_ms[ROUNDS_MAX];
};

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void fail(const char *what)
{
    perror(what);
    exit(3);
}

static double used_ms(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-3;
}

static void run(struct command *command, int round)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    char bytes[65536];
    int ends[2], status;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    double begin = now_ms(), first = 0;
    if (posix_spawnp(&child, command->words[0], &actions, NULL, command->words, environ) != 0)
        fail(command->words[0]);
    close(ends[1]);
    while (read(ends[0], bytes, sizeof bytes) > 0)
        if (first == 0) first = now_ms() - begin;
    if (wait4(child, &status, 0, &usage) != child) fail("wait4");
    command->first_ms[round] = first;
    command->end_ms[round] = now_ms() - begin;
    command->processor_ms[round] = used_ms(&usage);
    close(ends[0]);
    posix_spawn_file_actions_destroy(&actions);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    fprintf(stderr, "bench_startup: %s: status %d\n", command->name, status);
    exit(3);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static int read_commands(int argc, char **argv, struct command *commands)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        if (count == COMMANDS_MAX || i + 1 >= argc) exit(2);
        commands[count].name = argv[i++];
        commands[count++].words = argv + i;
        while (i < argc && strcmp(argv[i], "--") != 0)
            i++;
        if (i < argc) argv[i] = NULL;
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct command commands[COMMANDS_MAX];
    const char *wanted = getenv("ROUNDS");
    int rounds = wanted != NULL ? atoi(wanted) : 15;
    if (rounds < 1 || rounds > ROUNDS_MAX) return 2;
    int count = read_commands(argc, argv, commands);
    for (int i = 0; i < count; i++)
        run(&commands[i], 0); /* its files are in memory from now on */
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++)
            run(&commands[i], round);
    printf("%-52s %12s %10s %10s\n", "milliseconds", "first byte", "end", "cpu");
    for (int i = 0; i < count; i++) {
        struct command *c = &commands[i];
        double first = median(c->first_ms, rounds);
        printf("%-52s ", c->name);
        if (first > 0)
            printf("%12.2f ", first);
        else
            printf("%12s ", "-");
        printf("%10.2f %10.2f\n", median(c->end_ms, rounds), median(c->processor_ms, rounds));
    }
    return 0;
}
