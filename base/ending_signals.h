/* SPDX-License-Identifier: MIT */
/*
 * ending_signals: every signal that ends a process unless the process handles it.
 *
 * Both commands keep temporary files, so all of these signals have to remove them, not only SIGTERM.
 *
 * Thread-safety: ending_signal_default is async-signal-safe; the others belong to the start of a process.
 */
#ifndef BASE_ENDING_SIGNALS_H
#define BASE_ENDING_SIGNALS_H

#include <stdbool.h>

/* Installs `handler` for each of them.  Left as they are: signals that the caller of the process ignores (nohup), and
 * signals that have a handler already. */
void ending_signals_handle(void (*handler)(int number));

/* Gives each of them that has a handler its default action again: for a child that shares nothing with its parent. */
void ending_signals_reset(void);

/* The default action of this signal writes a core file. */
bool ending_signal_dumps_core(int number);

/* Ends the process as the signal does by default, for a handler as its last statement.  Where the handler keeps the
 * signal blocked, that happens when the handler returns. */
void ending_signal_default(int number);

#endif
