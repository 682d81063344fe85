/* SPDX-License-Identifier: MIT */
#include "compiler/commands/answer_child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/driver/driver_files.h"
#include "compiler/support/output.h"
#include "base/ending_signals.h"
#include "base/memory_text.h"

_Noreturn static void answer_in_child(editor_answer *work, const struct editor_request *request,
                                      unsigned seconds, int to)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cleanup_disown();
    ending_signals_reset();
    alarm(seconds);
    int null = dup(STDERR_FILENO);
    if (null >= 0) dup2(null, STDOUT_FILENO); /* nothing but answers goes to the editor */
    FILE *file = fdopen(to, "w");
    if (file == NULL) _exit(EXIT_FILES);
    work(request, file);
    _exit(fclose(file) == 0 ? EXIT_DONE : EXIT_FILES);
}

/* Up to the end of the pipe. */
static char *read_answer(int from, size_t *size_bytes)
{
    struct memory_text text;
    char part[65536];
    ssize_t count;
    if (!memory_text_begin(&text)) return NULL;
    while ((count = read(from, part, sizeof part)) > 0 || (count < 0 && errno == EINTR))
        if (count > 0) fwrite(part, 1, (size_t)count, text.file);
    return memory_text_end(&text, size_bytes);
}

char *answer_of_child(editor_answer *work, const struct editor_request *request, unsigned seconds,
                      size_t *size_bytes)
{
    int ends[2], status = -1;
    if (pipe(ends) != 0) return NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer_in_child(work, request, seconds, ends[1]);
    }
    close(ends[1]);
    char *answer = read_answer(ends[0], size_bytes);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE) return answer;
    free(answer);
    return NULL;
}

char *answer_here(editor_answer *work, const struct editor_request *request, size_t *size_bytes)
{
    struct memory_text text;
    if (!memory_text_begin(&text)) return NULL;
    work(request, text.file);
    return memory_text_end(&text, size_bytes);
}
