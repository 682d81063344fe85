/* SPDX-License-Identifier: MIT */
#include "tools/piperun/signals.h"

#include "base/ending_signals.h"
#include "base/monotonic.h"
#include "tools/piperun/message.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    GRACE_SECONDS = 2,              /* from the time limit to the end at the latest */
    ONE_INTERRUPT_NS = 50 * 1000000 /* interrupts within that time are one */
};

typedef void (*tick_callback)(void *context);

/* A handler may run between any two writes, so each is atomic and meaningful by itself. */
static struct {
    _Atomic(struct prt_run *) run;
    _Atomic(struct prt_debugger *) debugger;
    atomic_bool reading; /* commands of the debugger */
    _Atomic(struct prt_temporaries *) temporaries;
    atomic_int interrupt_fd;
    atomic_int interrupts;
    _Atomic int64_t interrupted_ns; /* when the last one that counts came */
    atomic_int alarms;
    _Atomic(tick_callback) tick;
    _Atomic(void *) tick_context;
    atomic_uint told;
} handled = {.interrupt_fd = -1};

_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2 &&
                   ATOMIC_LLONG_LOCK_FREE == 2,
               "handlers use only what is lock-free");

/* A prt_standing_callback. */
static void write_standing(void *context, const char *text, size_t size)
{
    (void)context;
    atomic_fetch_add(&handled.told, 1);
    while (size > 0) {
        ssize_t put = write(STDERR_FILENO, text, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;
        text += put;
        size -= (size_t)put;
    }
}

static void write_error(const char *text)
{
    write_standing(NULL, text, strlen(text));
}

static void remove_temporaries(void)
{
    struct prt_temporaries *temporaries = atomic_load(&handled.temporaries);
    if (temporaries != NULL) prt_temporaries_remove(temporaries);
}

static void exit_at_once(int exit_code)
{
    remove_temporaries();
    _exit(exit_code);
}

/* A signal that asks for a core file gets one. */
static void on_end_signal(int signal)
{
    if (!ending_signal_dumps_core(signal)) exit_at_once(EXIT_SIGNAL + signal);
    remove_temporaries();
    ending_signal_default(signal);
}

/* timeout(1) sends a signal to a process and to its group, so it comes twice at once. */
static bool is_same_interrupt(void)
{
    int64_t now_ns = (int64_t)monotonic_nanoseconds();
    int64_t before_ns = atomic_load(&handled.interrupted_ns);
    if (before_ns != 0 && now_ns - before_ns < ONE_INTERRUPT_NS) return true;
    atomic_store(&handled.interrupted_ns, now_ns);
    return false;
}

static void on_interrupt(int signal)
{
    (void)signal;
    int saved = errno;
    uint64_t one = 1;
    struct prt_run *run = atomic_load(&handled.run);
    struct prt_debugger *debugger = atomic_load(&handled.debugger);
    if (debugger != NULL) {
        bool again = atomic_fetch_add(&handled.interrupts, 1) > 0;
        if (atomic_load(&handled.reading)) return;
        if (again) exit_at_once(EXIT_SIGINT);
        prt_debugger_interrupt(debugger);
        return;
    }
    if (is_same_interrupt()) return;
    if (atomic_fetch_add(&handled.interrupts, 1) > 0 || run == NULL) exit_at_once(EXIT_SIGINT);
    prt_run_interrupt(run);
    ssize_t ignored = write(atomic_load(&handled.interrupt_fd), &one, sizeof one);
    (void)ignored;
    errno = saved;
}

static void on_question(int signal)
{
    (void)signal;
    int saved = errno;
    struct prt_run *run = atomic_load(&handled.run);
    if (run != NULL)
        prt_run_tell_standing(run, write_standing, NULL);
    else
        write_error("piperun: note: the run has not begun\n");
    errno = saved;
}

static void write_last_standing(void *context, const char *text, size_t size)
{
    write_standing(context, text, size);
    if (size == 0) exit_at_once(EXIT_TIMEOUT);
}

/* The second alarm ends the process if the run has not reported its state by then. */
static void on_alarm(int signal)
{
    (void)signal;
    int saved = errno;
    struct prt_run *run = atomic_load(&handled.run);
    if (atomic_fetch_add(&handled.alarms, 1) > 0) exit_at_once(EXIT_TIMEOUT);
    write_error("piperun: error: the time limit is exceeded [timeout]\n");
    if (run == NULL) exit_at_once(EXIT_TIMEOUT);
    prt_run_tell_standing(run, write_last_standing, NULL);
    errno = saved;
}

static void on_tick(int signal)
{
    (void)signal;
    int saved = errno;
    tick_callback tick = atomic_load(&handled.tick);
    if (tick != NULL) tick(atomic_load(&handled.tick_context));
    errno = saved;
}

static const char *crash_name(int signal)
{
    switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGABRT: return "SIGABRT";
    default: return "SIGILL";
    }
}

/* A kernel has crashed, or piperun itself: its state is not reliable any more. */
static void on_crash(int signal)
{
    char where[256];
    struct prt_run *run = atomic_load(&handled.run);
    if (run == NULL || !prt_run_describe_crash(run, where, sizeof where)) {
        remove_temporaries();
        ending_signal_default(signal);
        return;
    }
    write_error("piperun: error: ");
    write_error(where);
    write_error(" crashed: ");
    write_error(crash_name(signal));
    write_error(" [kernel-crash]\n");
    exit_at_once(EXIT_FAULT);
}

/* Handlers that write several lines do not interrupt each other. */
static void signal_handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    if (signal == SIGUSR1 || signal == SIGALRM) {
        sigaddset(&action.sa_mask, SIGUSR1);
        sigaddset(&action.sa_mask, SIGALRM);
    }
    sigaction(signal, &action, NULL);
}

void prt_signals_install(void)
{
    static char stack[64 * 1024];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    ending_signals_handle(on_end_signal);
    signal_handle(SIGINT, on_interrupt, 0);
    signal_handle(SIGALRM, on_alarm, 0);
    signal_handle(SIGUSR1, on_question, 0);
    signal_handle(SIGURG, on_tick, SA_RESTART);
    signal_handle(SIGSEGV, on_crash, SA_ONSTACK);
    signal_handle(SIGBUS, on_crash, SA_ONSTACK);
    signal_handle(SIGFPE, on_crash, SA_ONSTACK);
    signal_handle(SIGILL, on_crash, SA_ONSTACK);
    signal_handle(SIGABRT, on_crash, SA_ONSTACK);
}

void prt_signals_timeout(double seconds)
{
    if (seconds <= 0) return;
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds},
                              .it_interval = {.tv_sec = GRACE_SECONDS}};
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

void prt_signals_guard(struct prt_temporaries *temporaries, int interrupt_fd)
{
    atomic_store(&handled.interrupt_fd, interrupt_fd);
    atomic_store(&handled.temporaries, temporaries);
}

void prt_signals_watch(struct prt_run *run)
{
    atomic_store(&handled.run, run);
}

void prt_signals_debug(struct prt_debugger *debugger)
{
    atomic_store(&handled.debugger, debugger);
}

void prt_signals_reading(bool reading)
{
    atomic_store(&handled.interrupts, 0);
    atomic_store(&handled.reading, reading);
    /* A question does not end the reading of a line. */
    signal_handle(SIGUSR1, on_question, reading ? SA_RESTART : 0);
}

bool prt_signals_take_interrupt(void)
{
    return atomic_exchange(&handled.interrupts, 0) > 0;
}

void prt_signals_tick(void (*tick)(void *context), void *context)
{
    if (tick != NULL) atomic_store(&handled.tick_context, context);
    atomic_store(&handled.tick, tick);
}

unsigned prt_signals_told(void)
{
    return atomic_load(&handled.told);
}

void prt_signals_end(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}
