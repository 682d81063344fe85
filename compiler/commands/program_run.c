/* SPDX-License-Identifier: MIT */
#include "compiler/commands/program_run.h"

#include <errno.h>
#include <stdbool.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn static void become_program(const char *program, const char *const *words, int to)
{
    int empty = open("/dev/null", O_RDONLY);
    if (empty >= 0) dup2(empty, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    execvp(program, (char *const *)words);
    _exit(PROGRAM_NOT_STARTED);
}

/* Reads to the end, so that the program is never stopped by a full pipe. */
static const char *read_all(struct arena *arena, int from)
{
    char rest[4096];
    char *bytes = malloc(PROGRAM_OUTPUT_MAX_BYTES);
    size_t size = 0;
    ssize_t got;
    if (bytes == NULL) arena_out_of_memory();
    for (;;) {
        bool full = size == PROGRAM_OUTPUT_MAX_BYTES;
        // cppcheck-suppress legacyUninitvar
        got = read(from, full ? rest : bytes + size,
                   full ? sizeof rest : PROGRAM_OUTPUT_MAX_BYTES - size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (!full) size += (size_t)got;
    }
    const char *text = arena_string(arena, bytes, size);
    free(bytes);
    return text;
}

struct program_run program_run(struct arena *arena, const char *program, const char *const *words)
{
    struct program_run run = {PROGRAM_NOT_STARTED, ""};
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return run;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) become_program(program, words, ends[1]);
    close(ends[1]);
    if (child > 0) run.text = read_all(arena, ends[0]);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0) run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return run;
}
