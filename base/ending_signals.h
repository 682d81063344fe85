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

/* Installs `handler` for each of these signals. Two kinds keep their action: signals that the
 * process was started with as ignored (nohup), and signals that have a handler already. */
void ending_signals_handle(void (*handler)(int number));

/* Restores the default action of each of these signals that has a handler, for a child that shares
 * no files with its parent. */
void ending_signals_reset(void);

/* The default action of this signal writes a core file. */
bool ending_signal_dumps_core(int number);

/* Ends the process by the signal's default action: the last statement of a handler. If the handler
 * blocks the signal, the process ends when the handler returns. */
void ending_signal_default(int number);

#endif
