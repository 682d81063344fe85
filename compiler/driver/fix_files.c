/* SPDX-License-Identifier: MIT */
#include "compiler/driver/fix_files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/diagnostics/fixes_apply.h"
#include "compiler/driver/driver_files.h"
#include "compiler/support/output.h"
#include "base/plural.h"

/* Fixes can make further findings known: those that a syntax error has hidden. */
enum { ROUNDS_MAX = 8, EXIT_FIXED = 100 };

static int report_failure(const char *path)
{
    if (errno != 0) return file_failure("write", path);
    fprintf(stderr, "pipec: error: '%s' is not fixed: it has changed\n", path);
    return EXIT_FILES;
}

/* In the child. */
static int examine_and_fix(const struct command_line *line, fix_examine *examine)
{
    struct arena *arena = arena_create();
    const struct diags *diags = NULL;
    const struct sources *sources = NULL;
    int status = examine(line, arena, &diags, &sources);
    if (status >= EXIT_FILES) return status;
    struct fixes_applied applied = fixes_apply(arena, diags, sources, line->diagnostics.min_level);
    if (applied.failed != NULL) return report_failure(applied.failed);
    if (applied.findings > 0 && !line->quiet)
        fprintf(stderr, "pipec: %zu finding%s fixed in %zu file%s\n", applied.findings,
                plural(applied.findings), applied.files, plural(applied.files));
    return applied.findings > 0 ? EXIT_FIXED : EXIT_DONE;
}

/* One round: its exit status, or EXIT_FIXED. */
static int run_round(const struct command_line *line, fix_examine *examine)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        fprintf(stderr, "pipec: error: cannot start a process: %s\n", strerror(errno));
        return EXIT_FILES;
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        cleanup_install();
        exit(examine_and_fix(line, examine));
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    fprintf(stderr, "pipec: error: fixing has ended by signal %d\n", WTERMSIG(status));
    return EXIT_INTERNAL;
}

int fix_files(const struct command_line *line, fix_examine *examine)
{
    for (size_t i = 0; i < line->input_count; i++)
        if (strcmp(line->inputs[i], "-") == 0) {
            fputs("pipec: error: --fix writes into files; standard input is none\n", stderr);
            return EXIT_FILES;
        }
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, a child leaves no status */
    int status = EXIT_FIXED;
    for (int round = 0; round < ROUNDS_MAX && status == EXIT_FIXED; round++)
        status = run_round(line, examine);
    return status == EXIT_FIXED ? EXIT_DONE : status;
}
