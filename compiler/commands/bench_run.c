/* SPDX-License-Identifier: MIT */
#include "compiler/commands/bench_run.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/commands/piperun_path.h"
#include "compiler/driver/driver_files.h"

enum { STATUS_SKIPPED = 77 }; /* of piperun --skip-if-unavailable */

/* ---- one run ---- */

_Noreturn static void become_piperun(const char *program, const char *const *words, int out,
                                     int err)
{
    dup2(out, STDOUT_FILENO);
    if (err >= 0) dup2(err, STDERR_FILENO);
    execvp(program, (char *const *)words);
    fprintf(stderr, "pipec: error: cannot start '%s': %s\n", program, strerror(errno));
    _exit(EXIT_FILES);
}

static json_t *read_report(int from)
{
    FILE *file = fdopen(from, "r");
    if (file == NULL) {
        close(from);
        return NULL;
    }
    json_t *report = json_loadf(file, 0, NULL);
    fclose(file);
    return report;
}

/* The report, or NULL with the exit status of piperun. */
static json_t *run_once(const char *program, const char *const *words, FILE *messages, int *status)
{
    int ends[2], waited = 0;
    *status = EXIT_FILES;
    if (pipe(ends) != 0) return NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        become_piperun(program, words, ends[1], messages != NULL ? fileno(messages) : -1);
    }
    close(ends[1]);
    json_t *report = read_report(ends[0]);
    while (child > 0 && waitpid(child, &waited, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0) *status = WIFEXITED(waited) ? WEXITSTATUS(waited) : EXIT_INTERNAL;
    if (*status == EXIT_DONE && report != NULL) return report;
    json_decref(report);
    return NULL;
}

static void copy_messages(FILE *messages)
{
    char line[4096];
    if (messages == NULL || fseek(messages, 0, SEEK_SET) != 0) return;
    while (fgets(line, sizeof line, messages) != NULL)
        fputs(line, stderr);
}

/* ---- the report of a run ---- */

static double seconds_of_key(json_t *object, const char *key, double clock_hz)
{
    return json_number_value(json_object_get(object, key)) / clock_hz;
}

static void take_report(struct arena *arena, struct bench_device *device, json_t *report)
{
    double hz = json_number_value(json_object_get(report, "clock_hz"));
    const char *time = json_string_value(json_object_get(report, "time"));
    double run = seconds_of_key(report, "total_cycles", hz);
    if (device->is_there && run >= device->run_seconds) return;
    device->is_there = true;
    device->is_real = time != NULL && strcmp(time, "real") == 0;
    device->run_seconds = run;
    device->host_seconds = seconds_of_key(report, "host_cycles", hz);
    device->stages.count = 0;
    size_t i;
    json_t *stage;
    json_array_foreach(json_object_get(report, "stages"), i, stage)
    {
        const char *name = json_string_value(json_object_get(stage, "name"));
        json_int_t firings = json_integer_value(json_object_get(stage, "firings"));
        struct bench_stage taken = {.name = arena_printf(arena, "%s", name != NULL ? name : "?"),
                                    .busy_seconds = seconds_of_key(stage, "execute_cycles", hz),
                                    .firings = (uint64_t)firings};
        vec_push(arena, &device->stages, taken);
    }
}

int bench_run(struct arena *arena, struct bench_device *device, const char *const *arguments,
              size_t argument_count, unsigned rounds)
{
    const char *program = piperun_path(arena, NULL);
    const char **words = ARENA_ARRAY(arena, const char *, argument_count + 7);
    size_t count = 0;
    words[count++] = program;
    memcpy(words + count, arguments, argument_count * sizeof *words);
    count += argument_count;
    words[count++] = arena_printf(arena, "--device=%s", device->name);
    words[count++] = "--stats=json:-";
    words[count++] = "-q";
    words[count++] = "--skip-if-unavailable";
    for (unsigned round = 0; round < rounds; round++) {
        FILE *messages = tmpfile();
        int status;
        json_t *report = run_once(program, words, messages, &status);
        if (report != NULL) take_report(arena, device, report);
        json_decref(report);
        bool missing = status == STATUS_SKIPPED;
        if (status != EXIT_DONE && !(missing && !device->is_wanted)) copy_messages(messages);
        if (messages != NULL) fclose(messages);
        if (missing) return device->is_wanted ? EXIT_FILES : EXIT_DONE;
        if (status != EXIT_DONE) return status == EXIT_REFUSED ? EXIT_REFUSED : EXIT_FILES;
    }
    return EXIT_DONE;
}
