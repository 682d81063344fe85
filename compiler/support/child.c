/* SPDX-License-Identifier: MIT */
#include "compiler/support/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/support/output.h"
#include "base/ending_signals.h"

enum {
    MESSAGE_MAX_BYTES = 1 << 30,
    WORDS_MAX_BYTES = 4096,
    EXIT_NO_MEMORY = 2, /* base/arena.h */
    EXIT_UNHEARD = 120, /* its messages do not reach the parent */
};

/* Before each message; `kind` KIND_END: the last heading. */
struct heading {
    uint64_t size_bytes;
    uint32_t kind, reserved;
};

#define KIND_END UINT32_MAX

struct child_line {
    int pipe;
};

struct child {
    struct arena *arena;
    pid_t process;
    int pipe,
        words;  /* descriptors; `words` is -1 if the child writes to the parent's standard error */
    bool whole; /* KIND_END was read */
    bool over;  /* reading is finished */
    int error;  /* errno of the pipe; 0: none */
};

/* ---- in the child ---- */

static void write_whole(int pipe, const void *bytes, size_t size_bytes)
{
    const unsigned char *from = bytes;
    while (size_bytes > 0) {
        ssize_t written = write(pipe, from, size_bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) _exit(EXIT_UNHEARD);
        from += written;
        size_bytes -= (size_t)written;
    }
}

static void write_message(const struct child_line *line, uint32_t kind, const void *bytes,
                          size_t size_bytes)
{
    struct heading heading = {.size_bytes = size_bytes, .kind = kind};
    write_whole(line->pipe, &heading, sizeof heading);
    write_whole(line->pipe, bytes, size_bytes);
}

void child_send(struct child_line *line, uint32_t kind, const struct parcel *parcel)
{
    write_message(line, kind, parcel->bytes.items, parcel->bytes.count);
}

/* Ends with the parent, and leaves the parent's files to the parent. */
_Noreturn static void run_child(struct child_line line, pid_t parent, int words, child_work *work,
                                void *data)
{
    ending_signals_reset();
    signal(SIGPIPE, SIG_IGN);
    cleanup_disown();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_UNHEARD);
    if (words >= 0) dup2(words, STDERR_FILENO);
    work(&line, data);
    write_message(&line, KIND_END, NULL, 0);
    _exit(0);
}

/* ---- in the parent ---- */

struct child *child_start(struct arena *arena, child_work *work, void *data)
{
    int ends[2];
    pid_t parent = getpid();
    struct child *child = ARENA_NEW(arena, struct child);
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    int words = memfd_create("pipec-words", MFD_CLOEXEC);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) run_child((struct child_line){ends[1]}, parent, words, work, data);
    int error = errno;
    close(ends[1]);
    *child = (struct child){.arena = arena, .process = process, .pipe = ends[0], .words = words};
    if (process > 0) return child;
    close(ends[0]);
    if (words >= 0) close(words);
    errno = error;
    return NULL;
}

static bool read_message_bytes(struct child *child, void *to, size_t size_bytes)
{
    unsigned char *bytes = to;
    while (size_bytes > 0) {
        ssize_t size = read(child->pipe, bytes, size_bytes);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) child->error = errno;
        if (size <= 0) return false;
        bytes += size;
        size_bytes -= (size_t)size;
    }
    return true;
}

static bool read_message(struct child *child, struct child_message *message)
{
    struct heading heading;
    if (!read_message_bytes(child, &heading, sizeof heading)) return false;
    if (heading.size_bytes > MESSAGE_MAX_BYTES) return false;
    child->whole = heading.kind == KIND_END && heading.size_bytes == 0;
    if (child->whole) return false;
    unsigned char *bytes = arena_alloc(child->arena, heading.size_bytes);
    *message = (struct child_message){
        heading.kind, {.arena = child->arena, .bytes = bytes, .size_bytes = heading.size_bytes}};
    return read_message_bytes(child, bytes, heading.size_bytes);
}

bool child_receive(struct child *child, struct child_message *message)
{
    if (child->over) return false;
    child->over = !read_message(child, message);
    return !child->over;
}

static const char *read_words(const struct child *child)
{
    char words[WORDS_MAX_BYTES];
    ssize_t size = child->words >= 0 ? pread(child->words, words, sizeof words, 0) : 0;
    return arena_string(child->arena, words, size > 0 ? (size_t)size : 0);
}

/* True if the child wrote that memory ran out. LLVM and the C++ library write this before they
 * abort. The C library writes it if it cannot load the library for exceptions. */
static bool reports_no_memory(const char *words)
{
    static const char *const parts[] = {"out of memory", "bad_alloc", "bad_array_new_length",
                                        "cannot allocate memory",
                                        "libgcc_s.so.1 must be installed"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcasestr(words, parts[i]) != NULL) return true;
    return false;
}

static struct child_end child_end_of(const struct child *child, int status, const char *words)
{
    struct child_end end = {.words = words};
    if (child->error != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_UNHEARD)) {
        end.fate = CHILD_UNHEARD;
        end.number = child->error;
    } else if (WIFSIGNALED(status)) {
        end.fate = reports_no_memory(words) ? CHILD_NO_MEMORY : CHILD_KILLED;
        end.number = WTERMSIG(status);
    } else if (WEXITSTATUS(status) != 0) {
        end.fate = WEXITSTATUS(status) == EXIT_NO_MEMORY ? CHILD_NO_MEMORY : CHILD_EXITED;
        end.number = WEXITSTATUS(status);
    } else {
        end.fate = child->whole ? CHILD_ENDED : CHILD_DAMAGED;
    }
    return end;
}

struct child_end child_finish(struct child *child)
{
    int status = 0;
    if (!child->over) kill(child->process, SIGKILL);
    close(child->pipe);
    while (waitpid(child->process, &status, 0) < 0 && errno == EINTR)
        continue;
    struct child_end end = child_end_of(child, status, read_words(child));
    if (child->words >= 0) close(child->words);
    return end;
}
