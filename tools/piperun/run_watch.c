/* SPDX-License-Identifier: MIT */
#include "tools/piperun/run_watch.h"

#include "base/monotonic.h"
#include "base/terminal_text.h"
#include "tools/piperun/message.h"
#include "tools/piperun/signals.h"
#include "tools/piperun/watch/watch_text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_MS = 1000, /* a shorter run shows no progress */
    LINE_MS = 500,   /* between two states of the line of progress on a terminal */
    TABLE_MS = 250,
    PLAIN_MS = 10000, /* between two lines elsewhere */
    FRAME_BYTES = 256 * 1024,
    STACK_BYTES = 256 * 1024,
    SCOPE_ROWS_MOST = 8,
};

enum style {
    STYLE_PLAIN, /* lines one below the other */
    STYLE_LINE,  /* one line that changes */
    STYLE_FULL,  /* --top, --watch */
};

/* The use of `incoming`: free, by a visit, by the thread. */
enum phase { PHASE_IDLE, PHASE_ASKED, PHASE_TAKEN };

struct prt_watch {
    const struct prt_session *session;
    enum style style;
    pthread_t executor, thread;
    bool has_thread;
    int stop_fds[2]; /* a pipe: its closed end says so even where writing fails */
    int answer_fd;   /* readable: `incoming` is filled */
    int fd;          /* where the picture goes */
    bool own_fd;
    bool is_socket; /* a write to `fd` needs a flag */
    bool may_wait;  /* a write may wait, so poll(2) comes first */

    _Atomic int phase;
    struct watch_sample incoming;
    struct watch_sample first, before, now;

    uint32_t drawn_lines; /* of the last frame, above the cursor; 0: others have written since */
    unsigned told;        /* prt_signals_told at the last frame */
    bool colour, braille;
    struct watch_weight *weights;
    char text[FRAME_BYTES];
};

/* ---- ports of --watch ---- */

/* The port whose name `text` begins with, up to its end or a dot; the longest such name wins. */
static uint32_t find_watched(const struct prt_session *session, const char *text, const char **part)
{
    uint32_t found = PRT_NONE;
    size_t longest = 0;
    for (uint32_t i = 0; i < session->port_count; i++) {
        const char *name = session->bindings[i].port.name;
        size_t length = strlen(name);
        if (strncmp(text, name, length) != 0 || (text[length] != '\0' && text[length] != '.'))
            continue;
        if (found != PRT_NONE && length < longest) continue;
        found = i;
        longest = length;
        *part = text[length] == '.' ? text + length + 1 : NULL;
    }
    return found;
}

int prt_watch_check(struct prt_session *session)
{
    const struct prt_command *command = session->command;
    for (size_t i = 0; i < command->watch_count; i++) {
        struct prt_error error;
        const char *part = NULL;
        uint32_t port = find_watched(session, command->watch_ports[i], &part);
        if (port == PRT_NONE)
            return PRT_COMPLAIN(EXIT_USAGE, "--watch %s: the pipeline has no such port",
                                command->watch_ports[i]);
        struct prt_binding *b = &session->bindings[port];
        if (b->tap != NULL)
            return PRT_COMPLAIN(EXIT_USAGE, "--watch %s: port '%s' is watched twice",
                                command->watch_ports[i], b->port.name);
        if (watch_tap_create(&b->packet, part, &b->tap, &error) != PRT_OK)
            return PRT_COMPLAIN(EXIT_USAGE, "--watch %s: %s", command->watch_ports[i],
                                error.message);
    }
    return EXIT_DONE;
}

/* ---- where ---- */

/* Does the path, or the standard stream, lead to that terminal? */
static bool is_terminal(const char *path, int standard, const struct stat *terminal)
{
    struct stat about;
    int failed = strcmp(path, "-") == 0 ? fstat(standard, &about) : stat(path, &about);
    if (failed != 0 || !S_ISCHR(about.st_mode)) return false;
    return about.st_rdev == terminal->st_rdev || about.st_rdev == makedev(5, 0); /* /dev/tty */
}

/* The port or file that uses the terminal of standard error; NULL: none. */
static const char *other_user(const struct prt_session *session, const struct stat *terminal)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        int standard = b->port.direction == PRT_PORT_IN ? STDIN_FILENO : STDOUT_FILENO;
        if (!b->bound || b->spec.path == NULL || b->spec.format == PRT_FORMAT_NULL) continue;
        if (is_terminal(b->spec.path, standard, terminal)) return b->port.name;
    }
    return NULL;
}

static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value == NULL || value[0] == '\0') continue;
        return strcasestr(value, "UTF-8") != NULL || strcasestr(value, "UTF8") != NULL;
    }
    return false;
}

/* Is the terminal one on which the cursor can be moved? */
static bool moves_cursor(void)
{
    const char *terminal = getenv("TERM");
    return terminal != NULL && terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
}

/* False: nothing is to be shown. */
static bool choose_style(const struct prt_session *session, enum style *style)
{
    const struct prt_command *command = session->command;
    bool wanted = command->top || command->watch_count > 0, terminal = isatty(STDERR_FILENO) != 0;
    struct stat about;
    const char *user = NULL;
    if (command->debug || command->replay || (command->quiet && !wanted)) return false;
    *style = wanted ? STYLE_FULL : STYLE_LINE;
    if (terminal && fstat(STDERR_FILENO, &about) == 0) user = other_user(session, &about);
    if (user != NULL) {
        if (wanted) prt_say_note("port '%s' uses the terminal: nothing else is shown there", user);
        return false;
    }
    if (terminal && moves_cursor()) return true;
    if (wanted)
        prt_say_note("standard error is no terminal that can show %s",
                     command->top ? "--top" : "--watch");
    *style = STYLE_PLAIN;
    return !command->quiet;
}

/* A terminal or pipe gets a description of its own that never waits, where the system permits it: that of standard error
 * belongs to other processes, too. */
static bool open_picture(struct prt_watch *watch)
{
    struct stat about;
    watch->fd = STDERR_FILENO;
    if (fstat(STDERR_FILENO, &about) != 0) return false;
    watch->is_socket = S_ISSOCK(about.st_mode);
    if (S_ISREG(about.st_mode) || watch->is_socket) return true;
    int own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    watch->own_fd = own >= 0;
    watch->may_wait = own < 0;
    if (own >= 0) watch->fd = own;
    return true;
}

/* False: it has not been written as a whole. */
static bool write_picture(const struct prt_watch *watch, const char *text, size_t size)
{
    struct pollfd ready = {.fd = watch->fd, .events = POLLOUT};
    if (size == 0) return true;
    /* to a terminal of which this process is not in the foreground nothing is written */
    pid_t foreground = tcgetpgrp(watch->fd);
    if (foreground > 0 && foreground != getpgrp()) return false;
    if (watch->is_socket)
        return send(watch->fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
    if (watch->may_wait && (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0))
        return false;
    return write(watch->fd, text, size) == (ssize_t)size;
}

/* ---- a picture ---- */

/* The length of the streams of in-ports, as far as it is known. */
static void fill_lengths(struct watch_sample *sample, const struct prt_session *session)
{
    for (uint32_t i = 0; i < sample->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        struct prt_source_information source;
        if (b->source == NULL) continue;
        prt_source_information(b->source, &source);
        if (b->limited)
            sample->ports[i].whole.packets = session->command->firings;
        else if (source.packets != PRT_PACKETS_UNKNOWN)
            sample->ports[i].whole.packets = source.packets / b->scalars;
        sample->ports[i].whole.bytes = source.bytes;
        sample->ports[i].read_bytes = atomic_load_explicit(&b->read_bytes, memory_order_relaxed);
    }
}

/* `from` becomes the present state, and the present one that before. */
static void step_samples(struct prt_watch *watch, struct watch_sample *from)
{
    struct watch_sample oldest = watch->before;
    watch->before = watch->now;
    watch->now = *from;
    *from = oldest;
    watch->now.time_ns = monotonic_nanoseconds();
    fill_lengths(&watch->now, watch->session);
}

static void terminal_size(int fd, uint32_t *columns, uint32_t *rows)
{
    struct winsize size;
    bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    *columns = known ? size.ws_col : 80;
    *rows = known ? size.ws_row : 24;
}

static void add_scopes(struct prt_watch *watch, struct watch_frame *frame)
{
    const struct prt_session *session = watch->session;
    double values[WATCH_VALUES];
    uint32_t room = frame->rows > frame->lines + 1 ? frame->rows - frame->lines - 1 : 0;
    uint32_t rows = room / (uint32_t)session->command->watch_count;
    rows = rows > SCOPE_ROWS_MOST + 1 ? SCOPE_ROWS_MOST : rows > 0 ? rows - 1 : 0;
    for (uint32_t i = 0; i < session->port_count && rows >= 2; i++) {
        const struct prt_binding *b = &session->bindings[i];
        char name[128], title[256];
        uint64_t packets;
        if (b->tap == NULL) continue;
        size_t count = watch_tap_copy(b->tap, values, &packets);
        terminal_text_copy(name, sizeof name, b->port.name);
        snprintf(title, sizeof title, "%s: the last %zu values of %" PRIu64 " packets", name, count,
                 packets);
        watch_scope(frame, title, values, count, rows, watch->braille);
    }
}

/* Draws the frame over the last one, if that is still above the cursor. */
static void draw_frame(struct prt_watch *watch)
{
    const struct prt_command *command = watch->session->command;
    enum { HEAD_BYTES = 32, TAIL_BYTES = 8 };
    struct watch_frame frame;
    char line[WATCH_LINE_BYTES];
    uint32_t columns, rows;
    unsigned told = prt_signals_told();
    terminal_size(watch->fd, &columns, &rows);
    if (told != watch->told) watch->drawn_lines = 0;
    watch->told = told;
    uint32_t up = watch->drawn_lines < rows ? watch->drawn_lines : rows - 1;
    int head = up > 0 ? snprintf(watch->text, HEAD_BYTES, "\033[%" PRIu32 "A", up) : 0;
    watch_frame_begin(&frame, columns, rows, watch->colour, watch->text + head,
                      sizeof watch->text - HEAD_BYTES - TAIL_BYTES);
    watch_progress_text(&watch->first, &watch->before, &watch->now, columns - 1, line, sizeof line);
    watch_frame_line(&frame, false, line);
    if (command->top) watch_table(&frame, &watch->before, &watch->now, watch->weights);
    if (command->watch_count > 0) add_scopes(watch, &frame);
    size_t size = (size_t)head + frame.used;
    if (frame.lines == 0) return; /* the terminal is too narrow */
    memcpy(watch->text + size, "\033[J", 3);
    watch->drawn_lines = write_picture(watch, watch->text, size + 3) ? frame.lines : 0;
}

static void write_progress_line(struct prt_watch *watch)
{
    char line[WATCH_LINE_BYTES], text[WATCH_LINE_BYTES + 64];
    watch_progress_text(&watch->first, &watch->before, &watch->now, WATCH_LINE_BYTES, line,
                        sizeof line);
    int length = snprintf(text, sizeof text, "piperun: note: %s\n", line);
    (void)write_picture(watch, text, (size_t)length);
}

/* ---- the thread ---- */

/* In the thread that executes the run, perhaps in a handler. */
static void take_sample(void *context, const struct prt_run *run)
{
    struct prt_watch *watch = context;
    uint64_t one = 1;
    if (atomic_load(&watch->phase) != PHASE_ASKED) return;
    watch_sample_take(&watch->incoming, run);
    atomic_store(&watch->phase, PHASE_TAKEN);
    ssize_t ignored = write(watch->answer_fd, &one, sizeof one);
    (void)ignored;
}

static void visit_run(void *context)
{
    struct prt_watch *watch = context;
    if (atomic_load(&watch->phase) == PHASE_ASKED)
        prt_run_visit(watch->session->run, take_sample, watch);
}

/* Waits for the answer or the end; timeout_ms -1: for as long as that takes.  True: it is the end. */
static bool await_end(const struct prt_watch *watch, bool answer, int timeout_ms)
{
    struct pollfd events[] = {{.fd = watch->stop_fds[0], .events = POLLIN},
                              {.fd = watch->answer_fd, .events = POLLIN}};
    while (poll(events, answer ? 2 : 1, timeout_ms) < 0 && errno == EINTR) {
    }
    return events[0].revents != 0;
}

static int interval_ms(enum style style)
{
    return style == STYLE_PLAIN ? PLAIN_MS : style == STYLE_LINE ? LINE_MS : TABLE_MS;
}

static void *watch_main(void *context)
{
    struct prt_watch *watch = context;
    uint64_t answers;
    int timeout_ms = watch->style == STYLE_LINE ? FIRST_MS : interval_ms(watch->style);
    while (!await_end(watch, false, timeout_ms)) {
        atomic_store(&watch->phase, PHASE_ASKED);
        (void)pthread_kill(watch->executor, SIGURG);
        if (await_end(watch, true, -1)) break;
        if (read(watch->answer_fd, &answers, sizeof answers) < 0) break;
        atomic_store(&watch->phase, PHASE_IDLE);
        step_samples(watch, &watch->incoming);
        if (watch->style == STYLE_PLAIN)
            write_progress_line(watch);
        else
            draw_frame(watch);
        timeout_ms = interval_ms(watch->style);
    }
    return NULL;
}

/* The thread handles no signals: they are for the one that executes the run. */
static bool start_thread(struct prt_watch *watch)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch->has_thread = pthread_create(&watch->thread, &attributes, watch_main, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (watch->has_thread) (void)pthread_setname_np(watch->thread, "watch");
    pthread_attr_destroy(&attributes);
    return watch->has_thread;
}

/* ---- begin and end ---- */

static bool create_samples(struct prt_watch *watch)
{
    const struct prt_program *program = watch->session->program;
    bool whole = watch_sample_create(&watch->first, program);
    whole = watch_sample_create(&watch->before, program) && whole;
    whole = watch_sample_create(&watch->now, program) && whole;
    whole = watch_sample_create(&watch->incoming, program) && whole;
    uint32_t most = watch->now.stage_count > watch->now.buffer_count ? watch->now.stage_count
                                                                     : watch->now.buffer_count;
    watch->weights = calloc((size_t)most + 1, sizeof *watch->weights);
    return whole && watch->weights != NULL;
}

static bool prepare_watch(struct prt_watch *watch)
{
    watch->answer_fd = eventfd(0, EFD_CLOEXEC);
    if (pipe2(watch->stop_fds, O_CLOEXEC) != 0 || watch->answer_fd < 0 || !create_samples(watch) ||
        !open_picture(watch))
        return false;
    const char *no_colour = getenv("NO_COLOR");
    watch->colour = no_colour == NULL || no_colour[0] == '\0';
    watch->braille = is_utf8();
    watch->told = prt_signals_told();
    watch->executor = pthread_self();
    watch_sample_take(&watch->first, watch->session->run);
    watch_sample_take(&watch->now, watch->session->run);
    watch->first.time_ns = watch->now.time_ns = monotonic_nanoseconds();
    prt_signals_tick(visit_run, watch);
    return start_thread(watch);
}

struct prt_watch *prt_watch_begin(const struct prt_session *session)
{
    enum style style;
    if (!choose_style(session, &style)) return NULL;
    struct prt_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) return NULL;
    watch->session = session;
    watch->style = style;
    watch->stop_fds[0] = watch->stop_fds[1] = watch->answer_fd = -1;
    if (prepare_watch(watch)) return watch;
    prt_signals_tick(NULL, NULL);
    prt_watch_free(watch);
    return NULL;
}

void prt_watch_end(struct prt_watch *watch)
{
    if (watch == NULL) return;
    prt_signals_tick(NULL, NULL);
    close(watch->stop_fds[1]);
    watch->stop_fds[1] = -1;
    pthread_join(watch->thread, NULL);
    watch->has_thread = false;
    atomic_store(&watch->phase, PHASE_IDLE);
    if (watch->style == STYLE_FULL) {
        watch_sample_take(&watch->incoming, watch->session->run);
        step_samples(watch, &watch->incoming);
        struct watch_sample before = watch->before;
        watch->before = watch->first; /* the last picture is of the whole run */
        draw_frame(watch);
        watch->before = before;
    } else if (watch->drawn_lines > 0 && watch->told == prt_signals_told()) {
        (void)write_picture(watch, "\033[1A\r\033[J", 8);
    }
}

void prt_watch_free(struct prt_watch *watch)
{
    if (watch == NULL) return;
    assert(!watch->has_thread);
    watch_sample_destroy(&watch->first);
    watch_sample_destroy(&watch->before);
    watch_sample_destroy(&watch->now);
    watch_sample_destroy(&watch->incoming);
    free(watch->weights);
    if (watch->own_fd) close(watch->fd);
    for (int i = 0; i < 2; i++)
        if (watch->stop_fds[i] >= 0) close(watch->stop_fds[i]);
    if (watch->answer_fd >= 0) close(watch->answer_fd);
    free(watch);
}
