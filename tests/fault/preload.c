/* SPDX-License-Identifier: MIT */
/*
 * preload: a library that is loaded into a program (LD_PRELOAD) and has the k-th of its calls fail.
 *
 *   FAULT_PAGE     a file of sizeof(struct fault_page): the counts, for the parent of the program
 *   FAULT_PROGRAM  its name: other programs that it starts are not affected
 *   FAULT_CHILD    1: calls of its child processes are counted instead of its own
 *   FAULT_CALLS    memory (malloc and its kind), threads (pthread_create), or system: system calls stop
 *                  for a tracer from now on (tests/fault/tracer.c), what the loader did before is spared
 *   FAULT_AT       which call fails, from 1; 0: none
 *   FAULT_AGAIN    1: so do all calls after it
 *   FAULT_CRASH    1: it does not fail, the process ends by SIGSEGV
 *
 * All is read before main, so the first call counts as any other.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/fault/fault_page.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static struct fault_page *page; /* NULL: nothing is counted in this process */
static enum { CALLS_MEMORY, CALLS_THREADS, CALLS_SYSTEM } calls;
static bool in_child, again, crash;
static uint64_t at;

/* ---- which call ---- */

static _Thread_local bool spared; /* what the thread calls now */

static bool fails(int kind)
{
    if (page == NULL || spared || kind != (int)calls) return false;
    uint64_t number = atomic_fetch_add(&page->calls, 1) + 1;
    if (at == 0 || number < at || (number > at && !again)) return false;
    atomic_fetch_add(&page->failed, 1);
    if (crash) raise(SIGSEGV);
    return true;
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

/* ---- the calls ---- */

void *malloc(size_t size)
{
    return fails(CALLS_MEMORY) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(CALLS_MEMORY) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(CALLS_MEMORY) ? no_memory() : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(CALLS_MEMORY) ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(CALLS_MEMORY)) return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory != NULL ? 0 : ENOMEM;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return fails(CALLS_THREADS) ? EAGAIN : real(thread, attributes, start, argument);
}

/* Calls from hwloc are spared: it crashes without memory; the runtime looks for room first. */
#define SPARED(name, parameters, ...)                                                              \
    int name parameters                                                                            \
    {                                                                                              \
        static int(*real) parameters;                                                              \
        if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, #name);                               \
        spared = true;                                                                             \
        int status = real(__VA_ARGS__);                                                            \
        spared = false;                                                                            \
        return status;                                                                             \
    }
SPARED(hwloc_topology_init, (void **topology), topology)
SPARED(hwloc_topology_set_components, (void *topology, unsigned long flags, const char *name),
       topology, flags, name)
SPARED(hwloc_topology_load, (void *topology), topology)

/* ---- system calls ---- */

/* Those that a program's files, memory and processes are made of. */
static const int traced[] = {SYS_openat,
                             SYS_read,
                             SYS_pread64,
                             SYS_write,
                             SYS_pwrite64,
                             SYS_writev,
                             SYS_close,
                             SYS_fsync,
                             SYS_rename,
                             SYS_unlink,
                             SYS_ftruncate,
                             SYS_fstat,
                             SYS_lseek,
                             SYS_newfstatat,
                             SYS_mkdir,
                             SYS_rmdir,
                             SYS_mmap,
                             SYS_memfd_create,
                             SYS_brk,
                             SYS_clone,
                             SYS_clone3,
                             SYS_pipe2,
                             SYS_dup2,
                             SYS_wait4,
                             SYS_mprotect,
                             SYS_fchmod,
                             SYS_readlink,
                             SYS_access,
                             SYS_getdents64,
                             SYS_sched_getaffinity,
                             SYS_sched_setaffinity,
                             SYS_execve,
                             SYS_vfork,
                             SYS_poll,
                             SYS_fcntl};
enum { TRACED = sizeof traced / sizeof traced[0] };

static bool stop_for_tracer(void)
{
    struct sock_filter filter[TRACED + 3];
    struct sock_fprog program = {TRACED + 3, filter};
    filter[0] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < TRACED; i++)
        filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)traced[i],
                                                     (unsigned char)(TRACED - i), 0);
    filter[TRACED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[TRACED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- begin ---- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "1") == 0;
}

static struct fault_page *map_page(const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *mapped = MAP_FAILED;
    if (file >= 0) mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    return mapped != MAP_FAILED ? mapped : NULL;
}

static struct fault_page *waiting; /* for a child */

static void child_begins(void)
{
    page = in_child ? waiting : NULL;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULT_PAGE"), *program = getenv("FAULT_PROGRAM");
    const char *which = getenv("FAULT_CALLS"), *number = getenv("FAULT_AT");
    if (path == NULL || program == NULL || which == NULL) return;
    if (strcmp(program_invocation_short_name, program) != 0) return;
    calls = which[0] == 'm' ? CALLS_MEMORY : which[0] == 't' ? CALLS_THREADS : CALLS_SYSTEM;
    at = number != NULL ? strtoull(number, NULL, 10) : 0;
    again = is_set("FAULT_AGAIN");
    crash = is_set("FAULT_CRASH");
    in_child = is_set("FAULT_CHILD");
    waiting = map_page(path);
    pthread_atfork(NULL, NULL, child_begins);
    if (calls == CALLS_SYSTEM && !stop_for_tracer()) _exit(99);
    if (!in_child) page = waiting;
}
