/* SPDX-License-Identifier: MIT */
#include "tools/piperun/line_input.h"

#include "base/file_open.h"
#include "tools/piperun/message.h"
#include "tools/piperun/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef PRT_HAVE_LIBEDIT
#include <editline/readline.h>
#endif

enum { FILES_DEEP = 16, HISTORY_LINES = 1000 };

struct line_file {
    FILE *file;
    char *name; /* NULL: standard input */
    uint64_t line;
};

struct prt_lines {
    struct line_file files[FILES_DEEP];
    uint32_t depth; /* of those that are open */
    bool typed;
    FILE *to;
    char *text; /* the last line */
    size_t text_bytes;
    char last_name[200];
    uint64_t last_line;
    char *history; /* its file; NULL: none */
};

const char *prt_lines_editor(void)
{
#ifdef PRT_HAVE_LIBEDIT
    return " (libedit)";
#else
    return "";
#endif
}

#ifdef PRT_HAVE_LIBEDIT

/* libedit has one line editor a process, and its callbacks no context. */
static struct {
    prt_lines_words words;
    void *context;
    char before[256];
} completing;

static char *next_match(const char *text, int state)
{
    static uint32_t index;
    const char *word;
    if (state == 0) index = 0;
    while ((word = completing.words(completing.context, completing.before, index)) != NULL) {
        index++;
        if (strncmp(word, text, strlen(text)) == 0) return strdup(word);
    }
    return NULL;
}

static char **complete_line(const char *text, int start, int end)
{
    (void)end;
    snprintf(completing.before, sizeof completing.before, "%.*s", start, rl_line_buffer);
    rl_attempted_completion_over = 1; /* no names of files */
    return rl_completion_matches(text, next_match);
}

/* $XDG_STATE_HOME/pipec/debug_history, else ~/.pipec_history; NULL: neither can be. */
static char *history_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (state != NULL && state[0] == '/') {
        if (asprintf(&path, "%s/pipec", state) < 0) return NULL;
        (void)mkdir(path, 0700);
        free(path);
        return asprintf(&path, "%s/pipec/debug_history", state) < 0 ? NULL : path;
    }
    if (home == NULL || home[0] != '/') return NULL;
    return asprintf(&path, "%s/.pipec_history", home) < 0 ? NULL : path;
}

static void open_editor(struct prt_lines *l, prt_lines_words words, void *context)
{
    completing.words = words;
    completing.context = context;
    rl_readline_name = (char *)(uintptr_t)"piperun";
    rl_catch_signals = 0;
    rl_outstream = l->to;
    (void)rl_initialize();
    using_history();
    stifle_history(HISTORY_LINES);
    rl_attempted_completion_function = complete_line;
    rl_completer_word_break_characters = (char *)(uintptr_t)" \t()=!<>&|";
    l->history = history_path();
    if (l->history != NULL) (void)read_history(l->history);
}

static void close_editor(struct prt_lines *l)
{
    if (l->history == NULL) return;
    mode_t mask = umask(077);
    (void)write_history(l->history);
    (void)umask(mask);
}

static enum prt_line type_line(struct prt_lines *l, const char *prompt, const char **line)
{
    fflush(l->to);
    errno = 0;
    (void)prt_signals_take_interrupt();
    char *text = readline(prompt);
    if (text == NULL && prt_signals_take_interrupt()) {
        fputc('\n', l->to);
        return PRT_LINE_INTERRUPTED;
    }
    if (text == NULL) return PRT_LINE_END;
    if (text[0] != '\0') add_history(text);
    free(l->text);
    l->text = text;
    l->text_bytes = strlen(text) + 1;
    *line = text;
    return PRT_LINE;
}

#else

static void open_editor(struct prt_lines *l, prt_lines_words words, void *context)
{
    (void)l;
    (void)words;
    (void)context;
}

static void close_editor(struct prt_lines *l)
{
    (void)l;
}

static enum prt_line type_line(struct prt_lines *l, const char *prompt, const char **line)
{
    fputs(prompt, l->to);
    fflush(l->to);
    ssize_t length = getline(&l->text, &l->text_bytes, stdin);
    bool interrupted = prt_signals_take_interrupt();
    clearerr(stdin);
    if (interrupted) fputc('\n', l->to);
    if (interrupted) return PRT_LINE_INTERRUPTED;
    if (length < 0) return PRT_LINE_END;
    char *end = strchr(l->text, '\n');
    if (end != NULL) *end = '\0';
    *line = l->text;
    return PRT_LINE;
}

#endif

/* ---- files ---- */

static bool push_file(struct prt_lines *l, const char *path)
{
    errno = ELOOP;
    if (l->depth == FILES_DEEP) return false;
    struct line_file file = {.file = file_open_input_stream(path), .name = strdup(path)};
    if (file.file == NULL || file.name == NULL) {
        int why = errno;
        if (file.file != NULL) fclose(file.file);
        free(file.name);
        errno = why;
        return false;
    }
    l->files[l->depth++] = file;
    return true;
}

static void pop_file(struct prt_lines *l)
{
    struct line_file *file = &l->files[--l->depth];
    if (file->name != NULL) fclose(file->file);
    free(file->name);
}

int prt_lines_open(const char *script, FILE *to, prt_lines_words words, void *context,
                   struct prt_lines **lines)
{
    struct prt_lines *l = calloc(1, sizeof *l);
    if (l == NULL) return prt_complain_memory();
    l->to = to;
    if (script == NULL || strcmp(script, "-") == 0) {
        l->files[l->depth++].file = stdin;
        l->typed = script == NULL && isatty(STDIN_FILENO) && isatty(fileno(to));
    } else if (!push_file(l, script)) {
        int exit_code = PRT_COMPLAIN(EXIT_USAGE, "%s: %s", script, file_error_text(errno));
        prt_lines_close(l);
        return exit_code;
    }
    if (l->typed) open_editor(l, words, context);
    *lines = l;
    return EXIT_DONE;
}

void prt_lines_close(struct prt_lines *l)
{
    if (l == NULL) return;
    if (l->typed) close_editor(l);
    while (l->depth > 0)
        pop_file(l);
    free(l->history);
    free(l->text);
    free(l);
}

bool prt_lines_are_typed(const struct prt_lines *l)
{
    return l->typed && l->depth <= 1;
}

bool prt_lines_source(struct prt_lines *l, const char *path)
{
    return push_file(l, path);
}

enum prt_line prt_lines_next(struct prt_lines *l, const char *prompt, const char **line)
{
    if (prt_lines_are_typed(l) && l->depth == 1) return type_line(l, prompt, line);
    while (l->depth > 0) {
        struct line_file *file = &l->files[l->depth - 1];
        errno = 0;
        ssize_t length = getline(&l->text, &l->text_bytes, file->file);
        if (length < 0 && errno == EINTR && prt_signals_take_interrupt()) {
            clearerr(file->file);
            return PRT_LINE_INTERRUPTED;
        }
        if (length >= 0) {
            l->text[strcspn(l->text, "\r\n")] = '\0';
            l->last_line = ++file->line;
            snprintf(l->last_name, sizeof l->last_name, "%s", file->name != NULL ? file->name : "");
            *line = l->text;
            return PRT_LINE;
        }
        pop_file(l);
        if (prt_lines_are_typed(l) && l->depth == 1) return type_line(l, prompt, line);
    }
    return PRT_LINE_END;
}

void prt_lines_place(const struct prt_lines *l, char *text, size_t size)
{
    if (l->last_name[0] != '\0')
        snprintf(text, size, "%s:%llu", l->last_name, (unsigned long long)l->last_line);
    else
        snprintf(text, size, "line %llu", (unsigned long long)l->last_line);
}
