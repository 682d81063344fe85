/* SPDX-License-Identifier: MIT */
#include "tools/piperun/message.h"

#include "base/standard_streams.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_quiet, is_verbose;

void prt_message_levels(bool quiet, bool verbose)
{
    is_quiet = quiet;
    is_verbose = verbose;
}

static void say(const char *level, const char *text)
{
    fprintf(stderr, "piperun: %s: %s\n", level, text);
}

/* Through an error record: control bytes come out escaped. */
PRT_PRINTF(2, 0)
static void say_formatted(const char *level, const char *format, va_list arguments)
{
    struct prt_error line;
    prt_error_set_va(&line, PRT_OK, PRT_NO_OFFSET, format, arguments);
    say(level, line.message);
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
    say("error", error->message);
    return prt_status_exit_code(error->status);
}

int prt_complain_memory(void)
{
    return PRT_COMPLAIN(EXIT_USAGE, "out of memory");
}

static int output_status(int reason)
{
    if (reason == 0) return EXIT_DONE;
    return PRT_COMPLAIN(EXIT_USAGE, "standard output: %s", strerror(reason));
}

int prt_output_status(void)
{
    return output_status(standard_output_flush());
}

int prt_print_text(const char *text)
{
    int reason = fputs(text, stdout) < 0 ? errno : 0;
    int flush_reason = standard_output_flush();
    return output_status(flush_reason == 0 || reason == 0 ? flush_reason : reason);
}
