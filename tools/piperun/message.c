/* SPDX-License-Identifier: MIT */
#include "tools/piperun/message.h"

#include "base/standard_streams.h"

#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_quiet, is_verbose;

void prt_message_levels(bool quiet, bool verbose)
{
    is_quiet = quiet;
    is_verbose = verbose;
}

static void print_message(const char *level, const char *text)
{
    fprintf(stderr, "piperun: %s: %s\n", level, text);
}

/* Through an error record: control bytes come out escaped. */
PRT_PRINTF(2, 0)
static void say_formatted(const char *level, const char *format, va_list arguments)
{
    struct prt_error line;
    prt_error_set_va(&line, PRT_OK, PRT_NO_OFFSET, format, arguments);
    print_message(level, line.message);
}

#define SAY(level)                                                                                 \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        say_formatted((level), format, arguments);                                                 \
        va_end(arguments);                                                                         \
    } while (0)

void prt_say_error(const char *format, ...)
{
    SAY("error");
}

void prt_say_note(const char *format, ...)
{
    if (!is_quiet) SAY("note");
}

void prt_say_done(const char *format, ...)
{
    if (is_verbose) SAY("done");
}

void prt_print_report(void *context, const char *text)
{
    (void)context;
    fputs(text, stderr);
}

int prt_complain_status(const struct prt_error *error)
{
    print_message("error", error->message);
    return prt_status_exit_code(error->status);
}

int prt_complain_memory(void)
{
    return PRT_COMPLAIN(EXIT_USAGE, "out of memory");
}

int prt_output_finish(int exit_code)
{
    int error = stream_flush(stdout);
    if (exit_code != EXIT_DONE || error == 0 || error == EPIPE) return exit_code;
    return PRT_COMPLAIN(EXIT_USAGE, "standard output: %s", strerror(error));
}
