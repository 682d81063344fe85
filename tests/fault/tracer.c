/* SPDX-License-Identifier: MIT */
/*
 * tracer: runs a program and has the k-th of its system calls fail, fall short, or be its last; or does something
 * to the program or a file before it.
 *
 *     tracer PAGE K (ERROR | short | kill | signal=N | shrink=FILE | grow=FILE | log=FILE) [again] [child] -- COMMAND...
 *
 * PAGE is a file of sizeof(struct fault_page); K counts from 1 (0: none); ERROR is a number of errno.
 * The calls are those that tests/fault/preload.c stops at, of the program itself, or (child) of the
 * processes that it forks.  A call gets only errors that it can have: a call that allocates fails
 * with ENOMEM, one that starts a process with EAGAIN, whatever ERROR is.  `close` fails having closed,
 * as it does on Linux.  `short` halves what is read or written, and lets other calls be.  `signal` sends the program a
 * signal; `shrink` leaves half of a file, `grow` appends as much as it has; how far the program had read it
 * then stands in the page.  The call itself is made then.
 * `log` lets all calls be and writes a line for each that changes a file or brings one to disk, in their order, with
 * absolute paths: `write PATH`, `fsync PATH`, `rename OLD NEW`.  K is 0.
 *
 * The exit status is that of the program; 128 + N where a signal ended it; 98: it cannot be traced.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fault/fault_page.h"

enum { TASKS_MAX = 1024, CANNOT_TRACE = 98 };

enum relation { NOBODY, PROGRAM, CHILD, OTHER };

static struct task {
    pid_t id;
    enum relation relation;
    bool closing; /* its `close` is to have failed */
} tasks[TASKS_MAX];

static struct fault_page *page;
static uint64_t at;
static int error;
static bool shortens, again, in_child;
static int sent; /* signal; 0: none */
static const char *shrinks, *grows;
static FILE *log_file; /* NULL: none */
static pid_t program;
static int program_status = -1;

/* ---- tasks ---- */

static struct task *task_of(pid_t id)
{
    struct task *unused = NULL;
    for (size_t i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].id == id) return &tasks[i];
        if (unused == NULL && tasks[i].id == 0) unused = &tasks[i];
    }
    if (unused == NULL) exit(CANNOT_TRACE);
    *unused = (struct task){.id = id};
    return unused;
}

/* Threads are what their process is; a process that the program forks is its child until it becomes
 * another program. */
static void relate(pid_t parent, pid_t id, int event)
{
    enum relation mine = task_of(parent)->relation;
    task_of(id)->relation = event == PTRACE_EVENT_CLONE                     ? mine
                            : mine == PROGRAM && event == PTRACE_EVENT_FORK ? CHILD
                                                                            : OTHER;
}

/* ---- one call ---- */

/* The program's standard error is passed on; and it waits for its children until it is
 * answered. */
static bool is_spared(const struct task *task)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &regs) != 0) return true;
    return (regs.orig_rax == SYS_write && regs.rdi == STDERR_FILENO) ||
           (regs.orig_rax == SYS_wait4 && again);
}

static bool is_hit(const struct task *task)
{
    if (task->relation != (in_child ? CHILD : PROGRAM) || is_spared(task)) return false;
    uint64_t number = atomic_fetch_add(&page->calls, 1) + 1;
    if (at == 0 || number < at || (number > at && !again)) return false;
    atomic_fetch_add(&page->failed, 1);
    return true;
}

static int error_of(uint64_t call)
{
    switch (call) {
    case SYS_mmap:
    case SYS_brk:
    case SYS_mprotect: return ENOMEM;
    case SYS_clone:
    case SYS_clone3: return EAGAIN;
    case SYS_pipe2:
    case SYS_dup2: return EMFILE;
    case SYS_wait4: return EINTR;
    default: return error;
    }
}

static bool moves_bytes(uint64_t call)
{
    return call == SYS_read || call == SYS_write || call == SYS_pread64 || call == SYS_pwrite64;
}

/* A read of a file in memory is never short, and the dynamic linker, which reads images from one, relies on that. */
static bool reads_memory(pid_t id, const struct user_regs_struct *regs)
{
    char link[64], path[PATH_MAX];
    if (regs->orig_rax != SYS_read && regs->orig_rax != SYS_pread64) return false;
    snprintf(link, sizeof link, "/proc/%d/fd/%llu", (int)id, regs->rdi);
    ssize_t length = readlink(link, path, sizeof path);
    return length > 7 && memcmp(path, "/memfd:", 7) == 0;
}

/* How it goes on. */
static enum __ptrace_request change(struct task *task)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &regs) != 0) return PTRACE_CONT;
    if (shortens) {
        if (moves_bytes(regs.orig_rax) && regs.rdx > 1 && !reads_memory(task->id, &regs))
            regs.rdx /= 2;
    } else if (regs.orig_rax == SYS_close) {
        task->closing = true;
        return PTRACE_SYSCALL;
    } else {
        /* brk has no errors: it returns where the break is. */
        regs.rax = (unsigned long long)(regs.orig_rax == SYS_brk ? 0 : -error_of(regs.orig_rax));
        regs.orig_rax = (unsigned long long)-1;
    }
    ptrace(PTRACE_SETREGS, task->id, NULL, &regs);
    return PTRACE_CONT;
}

/* How far the program has read the file; 0 where it has not opened it. */
static uint64_t position_in(const char *file)
{
    char folder[64], target[PATH_MAX], name[PATH_MAX];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)program);
    DIR *listing = realpath(file, name) != NULL ? opendir(folder) : NULL;
    unsigned long long position = 0;
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        ssize_t length = readlinkat(dirfd(listing), entry->d_name, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = '\0';
        if (strcmp(target, name) != 0) continue;
        snprintf(target, sizeof target, "/proc/%d/fdinfo/%s", (int)program, entry->d_name);
        FILE *about = fopen(target, "r");
        if (about == NULL) continue; /* closed meanwhile */
        if (fscanf(about, "pos: %llu", &position) != 1) exit(CANNOT_TRACE);
        fclose(about);
    }
    if (listing != NULL) closedir(listing);
    return position;
}

static void change_file(void)
{
    struct stat about;
    atomic_store(&page->read_bytes, position_in(shrinks != NULL ? shrinks : grows));
    if (shrinks != NULL && stat(shrinks, &about) == 0) (void)!truncate(shrinks, about.st_size / 2);
    FILE *from = grows != NULL ? fopen(grows, "rb") : NULL;
    FILE *to = grows != NULL ? fopen(grows, "ab") : NULL;
    if (from != NULL && to != NULL && fstat(fileno(from), &about) == 0)
        for (off_t i = 0; i < about.st_size; i++)
            fputc(fgetc(from), to);
    if (from != NULL) fclose(from);
    if (to != NULL) fclose(to);
}

/* ---- the order of calls ---- */

/* The text at an address of the program. */
static void read_text(pid_t id, unsigned long long address, char text[PATH_MAX])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)id);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = memory >= 0 ? pread(memory, text, PATH_MAX - 1, (off_t)address) : -1;
    if (length < 0) exit(CANNOT_TRACE);
    text[length] = '\0';
    close(memory);
}

/* A name that the program gives, from its folder on; the last part need not be there. */
static void log_name(pid_t id, unsigned long long address)
{
    char text[PATH_MAX], link[64], folder[PATH_MAX] = "";
    read_text(id, address, text);
    snprintf(link, sizeof link, "/proc/%d/cwd", (int)id);
    ssize_t length = readlink(link, folder, sizeof folder - 1);
    if (length < 0) exit(CANNOT_TRACE);
    folder[length] = '\0';
    fprintf(log_file, " %s%s%s", text[0] == '/' ? "" : folder, text[0] == '/' ? "" : "/", text);
}

static void log_descriptor(pid_t id, const char *call, unsigned long long descriptor)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/fd/%llu", (int)id, descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    fprintf(log_file, "%s %.*s\n", call, (int)length, path);
}

static void log_call(const struct task *task)
{
    struct user_regs_struct regs;
    if (task->relation != PROGRAM || ptrace(PTRACE_GETREGS, task->id, NULL, &regs) != 0) return;
    switch (regs.orig_rax) {
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_ftruncate: log_descriptor(task->id, "write", regs.rdi); break;
    case SYS_fsync: log_descriptor(task->id, "fsync", regs.rdi); break;
    case SYS_rename:
        fputs("rename", log_file);
        log_name(task->id, regs.rdi);
        log_name(task->id, regs.rsi);
        fputc('\n', log_file);
        break;
    default: break;
    }
}

static enum __ptrace_request at_call(struct task *task)
{
    if (log_file != NULL) log_call(task);
    if (!is_hit(task)) return PTRACE_CONT;
    if (shrinks != NULL || grows != NULL)
        change_file();
    else if (sent != 0)
        kill(program, sent);
    else
        return change(task);
    return PTRACE_CONT;
}

static void end_close(struct task *task)
{
    struct user_regs_struct regs;
    task->closing = false;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &regs) != 0) return;
    regs.rax = (unsigned long long)-error;
    ptrace(PTRACE_SETREGS, task->id, NULL, &regs);
}

/* ---- all of them ---- */

static void at_stop(pid_t id, int status)
{
    struct task *task = task_of(id);
    enum __ptrace_request request = PTRACE_CONT;
    int event = status >> 16, number = WSTOPSIG(status);
    unsigned long other;
    if (event == PTRACE_EVENT_SECCOMP) {
        request = at_call(task);
        number = 0;
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
               event == PTRACE_EVENT_CLONE) {
        if (ptrace(PTRACE_GETEVENTMSG, id, NULL, &other) == 0) relate(id, (pid_t)other, event);
        number = 0;
    } else if (event != 0) {
        if (event == PTRACE_EVENT_EXEC && id != program) task->relation = OTHER;
        number = 0;
    } else if (number == (SIGTRAP | 0x80)) {
        if (task->closing) end_close(task);
        number = 0;
    } else if (number == SIGSTOP) {
        number = 0; /* a new task begins stopped */
    }
    ptrace(request, id, NULL, (void *)(long)number);
}

static void follow(void)
{
    int status;
    pid_t id;
    while ((id = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (id <= 0) continue;
        if (WIFSTOPPED(status)) {
            at_stop(id, status);
            continue;
        }
        task_of(id)->id = 0;
        if (id == program) program_status = status;
    }
}

_Noreturn static void become(char **command)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(CANNOT_TRACE);
    raise(SIGSTOP);
    execvp(command[0], command);
    _exit(127);
}

static void begin(char **command)
{
    int status;
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                   PTRACE_O_TRACESYSGOOD;
    program = fork();
    if (program == 0) become(command);
    if (program < 0 || waitpid(program, &status, 0) != program || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options) != 0)
        exit(CANNOT_TRACE);
    task_of(program)->relation = PROGRAM;
    ptrace(PTRACE_CONT, program, NULL, NULL);
}

static void map_page(const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *mapped = MAP_FAILED;
    if (file >= 0) mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) exit(CANNOT_TRACE);
    close(file);
    page = mapped;
}

int main(int argc, char **argv)
{
    if (argc < 6) return CANNOT_TRACE;
    map_page(argv[1]);
    at = strtoull(argv[2], NULL, 10);
    shortens = strcmp(argv[3], "short") == 0;
    if (strcmp(argv[3], "kill") == 0) sent = SIGKILL;
    if (strncmp(argv[3], "signal=", 7) == 0) sent = atoi(argv[3] + 7);
    if (strncmp(argv[3], "shrink=", 7) == 0) shrinks = argv[3] + 7;
    if (strncmp(argv[3], "grow=", 5) == 0) grows = argv[3] + 5;
    if (strncmp(argv[3], "log=", 4) == 0 && (log_file = fopen(argv[3] + 4, "we")) == NULL)
        return CANNOT_TRACE;
    error = atoi(argv[3]);
    int i = 4;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        again = again || strcmp(argv[i], "again") == 0;
        in_child = in_child || strcmp(argv[i], "child") == 0;
    }
    if (i + 1 >= argc) return CANNOT_TRACE;
    begin(argv + i + 1);
    follow();
    if (log_file != NULL && fclose(log_file) != 0) return CANNOT_TRACE;
    if (WIFEXITED(program_status)) return WEXITSTATUS(program_status);
    return WIFSIGNALED(program_status) ? 128 + WTERMSIG(program_status) : CANNOT_TRACE;
}
