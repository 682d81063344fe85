/* SPDX-License-Identifier: MIT */
#include "base/ending_signals.h"

#include <signal.h>
#include <stddef.h>

static bool ends_a_process(int number)
{
    switch (number) {
    case SIGKILL:
    case SIGSTOP: /* cannot be handled */
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT: /* stop a process, or continue it */
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH: return false; /* ignored by default */
    default: return true;
    }
}

bool ending_signal_dumps_core(int number)
{
    switch (number) {
    case SIGQUIT:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGXCPU:
    case SIGXFSZ:
    case SIGSYS: return true;
    default: return false;
    }
}

/* Numbers that the C library keeps for itself fail in sigaction. */
static bool read_action(int number, struct sigaction *action)
{
    return ends_a_process(number) && sigaction(number, NULL, action) == 0;
}

void ending_signals_handle(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK}, old;
    sigemptyset(&action.sa_mask);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (read_action(number, &old) && (old.sa_flags & SA_SIGINFO) == 0 &&
            old.sa_handler == SIG_DFL)
            (void)sigaction(number, &action, NULL);
}

void ending_signals_reset(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, old;
    for (int number = 1; number <= SIGRTMAX; number++)
        if (read_action(number, &old) &&
            ((old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_IGN))
            (void)sigaction(number, &usual, NULL);
}

void ending_signal_default(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    (void)sigaction(number, &usual, NULL);
    (void)raise(number);
}
