/* SPDX-License-Identifier: MIT */
/*
 * debug_session: `piperun --debug`: the command loop of the debugger (runtime/host/pipert_debug.h).
 *
 *     prt_debug_check       refuses options that do not go with it, before anything is opened
 *     prt_debug_open        makes the debugger of the session's run, which reads its commands from now
 *                           on, at every stop
 *     prt_debug_close       gives the exit code after the run
 *
 * debug_session.c has the loop, debug_commands.c the commands, line_input.c reads their lines.
 *
 * Errors: an exit code; the message has been printed.
 */
#ifndef TOOLS_PIPERUN_DEBUG_SESSION_H
#define TOOLS_PIPERUN_DEBUG_SESSION_H

#include "tools/piperun/line_input.h"
#include "tools/piperun/run_ports.h"
#include "runtime/host/pipert_debug.h"

struct prt_debug_display {
    uint32_t number;
    char *text;
};

struct prt_debug_loop {
    struct prt_debugger *debugger;
    struct prt_lines *lines;
    FILE *to;
    const struct prt_stop *stop; /* where it is stopped; NULL: it runs */
    bool begun;                  /* `run` has been given */
    bool resumed;                /* by the last command */
    bool leaving;                /* no more commands are read */
    bool failed;                 /* a command of a script has failed */
    int exit_code;               /* the argument of `quit`; -1: none */
    uint32_t last_break;         /* the breakpoint of the last stop; 0: none */
    struct prt_debug_display *displays;
    uint32_t display_count, displays_made;
    char *last_command; /* an empty line repeats it */
};

/* Requires: the session's bindings. */
int prt_debug_check(const struct prt_session *session);

/* Requires: the session's run.  *loop NULL: no debugger is wanted. */
int prt_debug_open(struct prt_session *session, struct prt_debug_loop **loop);

/* Did the user leave it before the run ended?  Then nothing is published. */
bool prt_debug_was_left(const struct prt_debug_loop *loop);

/* Frees it (NULL is allowed); returns the exit code for a run whose own one was `exit_code`. */
int prt_debug_close(struct prt_debug_loop *loop, int exit_code);

/* ---- between the loop and the commands ---- */

/* Executes a line. */
void prt_debug_command(struct prt_debug_loop *loop, const char *line);

/* Shows the expressions that are displayed at every stop. */
void prt_debug_show_displays(struct prt_debug_loop *loop);

/* A prt_lines_words. */
const char *prt_debug_words(void *context, const char *before, uint32_t index);

#endif
