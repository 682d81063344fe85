/* SPDX-License-Identifier: MIT */
#include "tools/piperun/debug_session.h"

#include "tools/piperun/message.h"
#include "tools/piperun/signals.h"

#include <stdlib.h>
#include <string.h>

#define PROMPT "(piperun) "

static bool reads_standard(const struct prt_command *command)
{
    return command->debug_script == NULL || strcmp(command->debug_script, "-") == 0;
}

int prt_debug_check(const struct prt_session *session)
{
    const struct prt_command *command = session->command;
    if (!command->debug) return EXIT_DONE;
    for (uint32_t i = 0; i < session->port_count && reads_standard(command); i++) {
        const struct prt_binding *b = &session->bindings[i];
        if (b->bound && b->port.direction == PRT_PORT_IN && prt_port_spec_is_standard(&b->spec))
            return PRT_COMPLAIN(EXIT_USAGE,
                                "in-port '%s' reads standard input, and so does the debugger: give "
                                "its commands in a file, --debug=FILE",
                                b->port.name);
    }
    return EXIT_DONE;
}

/* Standard output, unless the run writes a port or a report there. */
static FILE *choose_output(const struct prt_session *session)
{
    const struct prt_command *command = session->command;
    bool taken = (command->stats_json != NULL && strcmp(command->stats_json, "-") == 0) ||
                 (command->trace != NULL && strcmp(command->trace, "-") == 0);
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        taken |=
            b->bound && b->port.direction == PRT_PORT_OUT && prt_port_spec_is_standard(&b->spec);
    }
    return taken ? stderr : stdout;
}

/* ---- the loop ---- */

static void on_stop(void *context, const struct prt_stop *stop)
{
    struct prt_debug_loop *loop = context;
    loop->stop = stop;
    loop->last_break = stop->hit_count > 0 ? stop->hits[0].number : 0;
    prt_signals_reading(true);
    prt_debug_describe_stop(loop->debugger, stop, loop->to);
    prt_debug_show_displays(loop);
    fflush(loop->to);
    loop->resumed = false;
    while (!loop->resumed && !loop->leaving) {
        const char *line;
        switch (prt_lines_next(loop->lines, PROMPT, &line)) {
        case PRT_LINE: prt_debug_command(loop, line); break;
        case PRT_LINE_END:
            if (prt_lines_are_typed(loop->lines)) fputc('\n', loop->to);
            loop->leaving = true;
            if (loop->stop->cause != PRT_STOP_END) prt_debug_kill(loop->debugger);
            break;
        case PRT_LINE_INTERRUPTED: break;
        }
        fflush(loop->to);
    }
    bool interrupted = prt_signals_take_interrupt(); /* after the command that continues the run */
    prt_signals_reading(false);
    if (interrupted) prt_debugger_interrupt(loop->debugger);
    loop->stop = NULL;
}

/* ---- opening and closing ---- */

static void free_loop(struct prt_debug_loop *loop)
{
    prt_signals_debug(NULL);
    prt_debugger_destroy(loop->debugger);
    prt_lines_close(loop->lines);
    for (uint32_t i = 0; i < loop->display_count; i++)
        free(loop->displays[i].text);
    free(loop->displays);
    free(loop->last_command);
    free(loop);
}

int prt_debug_open(struct prt_session *session, struct prt_debug_loop **loop)
{
    const struct prt_command *command = session->command;
    struct prt_error error;
    *loop = NULL;
    if (!command->debug) return EXIT_DONE;
    struct prt_debug_loop *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_complain_memory();
    made->to = choose_output(session);
    made->exit_code = -1;
    enum prt_status status =
        prt_debugger_create(session->run, on_stop, made, &made->debugger, &error);
    int exit_code = status == PRT_OK ? prt_lines_open(command->debug_script, made->to,
                                                      prt_debug_words, made, &made->lines)
                                     : prt_complain_status(&error);
    if (exit_code != EXIT_DONE) {
        free_loop(made);
        return exit_code;
    }
    prt_signals_debug(made->debugger);
    *loop = made;
    return EXIT_DONE;
}

bool prt_debug_was_left(const struct prt_debug_loop *loop)
{
    return loop != NULL && prt_debug_is_killed(loop->debugger);
}

int prt_debug_close(struct prt_debug_loop *loop, int exit_code)
{
    if (loop == NULL) return exit_code;
    struct prt_error error;
    bool traced = prt_debug_trace(loop->debugger, NULL, &error) == PRT_OK;
    if (!traced) (void)prt_complain_status(&error);
    if (prt_debug_was_left(loop)) exit_code = EXIT_DONE;
    if (exit_code == EXIT_DONE && !traced) exit_code = EXIT_USAGE;
    if (exit_code == EXIT_DONE && loop->failed) exit_code = EXIT_REFUSED;
    if (loop->exit_code >= 0) exit_code = loop->exit_code;
    free_loop(loop);
    return exit_code;
}
