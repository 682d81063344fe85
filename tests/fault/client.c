/* SPDX-License-Identifier: MIT */
/*
 * client: a program with a pipeline in it (runtime/host/pipert.h), whose k-th call fails, for every k until nothing fails.
 *
 *     client CALLS FILE.pbc DEVICE [--again] [--every N]
 *
 *   CALLS      memory   malloc and its kind
 *              threads  pthread_create
 *              system   system calls, whichever library makes them (`trapped`)
 *              device   what a device and its libraries are made of: hwloc, the linker, the processors, locks (`CALLS`)
 *   FILE.pbc   in-port `samples`, out-port `smooth`, both of f32, argument `by`
 *   --again    so do all calls after it
 *   --every N  a k, then the N-th after it
 *
 * The work is to load the container, to make sub-devices, to create a run, to feed it, to read what it puts out, to ask
 * for its figures, and to give everything back.  Each point is a process of its own, which works while the k-th call
 * fails, a few times, without any fault, and all of that again, when what libraries keep is there:
 *   - each function either succeeds or says why not, with one of the statuses that tell of the system;
 *   - what has been put out is right as far as it goes, and whole where the run says PRT_OK;
 *   - everything can be given back: mappings, descriptors and threads are as many as before, and allocations do not
 *     become more each time.  (The C library and hwloc keep some for later, such as those of stacks of threads.)
 *   - without a fault the work succeeds after all that, with the same bytes.
 * Prints the number of points; exit status 1: what was wrong; 98: system calls cannot be trapped here.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <hwloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/host/pipert.h"
#include "runtime/host/pipert_queue.h"

enum { PACKETS = 3000, THREADS = 3, ROUNDS_MAX = 10, LIMIT_SECONDS = 60, EXIT_UNTRAPPED = 98 };

/* ---- which call ---- */

enum calls { CALLS_MEMORY, CALLS_THREADS, CALLS_SYSTEM, CALLS_DEVICE };
static const char *const calls_names[] = {"memory", "threads", "system", "device"};

static enum calls failing;
static uint64_t at;
static bool again;
static atomic_bool armed;
static atomic_ullong calls, failed;
static atomic_llong blocks, mappings; /* made less given back */

static _Thread_local bool spared; /* what the thread calls now */

static bool fails(enum calls kind)
{
    if (kind != failing || spared || !atomic_load(&armed)) return false;
    uint64_t number = atomic_fetch_add(&calls, 1) + 1;
    if (number < at || (number > at && !again)) return false;
    atomic_fetch_add(&failed, 1);
    return true;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static void *counted(void *memory)
{
    if (memory != NULL) atomic_fetch_add(&blocks, 1);
    return memory;
}

static bool no_memory(void)
{
    if (!fails(CALLS_MEMORY)) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return no_memory() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    if (no_memory()) return NULL;
    void *moved = __libc_realloc(memory, size);
    return memory == NULL ? counted(moved) : moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_memory() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *made = no_memory() ? NULL : counted(__libc_memalign(alignment, size));
    if (made == NULL) return ENOMEM;
    *memory = made;
    return 0;
}

void free(void *memory)
{
    if (memory != NULL) atomic_fetch_sub(&blocks, 1);
    __libc_free(memory);
}

/* ---- calls of the runtime: the linker leads them here (Makefile: CLIENT_CALLS) ---- */

#define REAL(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)
/* A function that fails with `failure`; `spares`: what it calls does not. */
#define CALL(type, name, failure, parameters, arguments, spares)                                   \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (fails(CALLS_DEVICE)) {                                                                 \
            errno = ENOSYS;                                                                        \
            return failure;                                                                        \
        }                                                                                          \
        bool was_spared = spared;                                                                  \
        spared = was_spared || (spares);                                                           \
        type result = __real_##name arguments;                                                     \
        spared = was_spared;                                                                       \
        return result;                                                                             \
    }
#define DEVICE_CALL(type, name, failure, parameters, arguments)                                    \
    CALL(type, name, failure, parameters, arguments, false)
/* Calls from hwloc are spared: it crashes without memory, and loses descriptors; the runtime looks for room first. */
#define HWLOC_CALL(type, name, failure, parameters, arguments)                                     \
    CALL(type, name, failure, parameters, arguments, true)

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
REAL(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
     void *(*start)(void *), void *argument)
{
    return fails(CALLS_THREADS) ? EAGAIN
                                : __real_pthread_create(thread, attributes, start, argument);
}

/* Of a mapping at a place of the caller's, a part of one that is counted already. */
REAL(void *, mmap, void *place, size_t size, int access, int flags, int fd, off_t offset)
{
    void *mapped = __real_mmap(place, size, access, flags, fd, offset);
    if (mapped != MAP_FAILED && place == NULL) atomic_fetch_add(&mappings, 1);
    return mapped;
}

REAL(int, munmap, void *place, size_t size)
{
    atomic_fetch_sub(&mappings, 1);
    return __real_munmap(place, size);
}

/* Whoever blocks all signals lets system calls be trapped. */
REAL(int, pthread_sigmask, int how, const sigset_t *signals, sigset_t *before)
{
    sigset_t but = {0};
    if (signals != NULL) but = *signals;
    if (how != SIG_UNBLOCK) sigdelset(&but, SIGSYS);
    return __real_pthread_sigmask(how, signals != NULL ? &but : NULL, before);
}

HWLOC_CALL(int, hwloc_topology_init, -1, (hwloc_topology_t * topology), (topology))
HWLOC_CALL(int, hwloc_topology_set_components, -1,
           (hwloc_topology_t topology, unsigned long flags, const char *name),
           (topology, flags, name))
HWLOC_CALL(int, hwloc_topology_load, -1, (hwloc_topology_t topology), (topology))
HWLOC_CALL(int, hwloc_topology_is_thissystem, 0, (hwloc_topology_t topology), (topology))
HWLOC_CALL(int, hwloc_set_cpubind, -1,
           (hwloc_topology_t topology, hwloc_const_bitmap_t set, int flags), (topology, set, flags))
HWLOC_CALL(hwloc_bitmap_t, hwloc_bitmap_alloc, NULL, (void), ())
DEVICE_CALL(int, sched_getaffinity, -1, (pid_t process, size_t size, cpu_set_t *set),
            (process, size, set))
DEVICE_CALL(int, sched_getcpu, -1, (void), ())
DEVICE_CALL(int, sigaltstack, -1, (const stack_t *stack, stack_t *before), (stack, before))
DEVICE_CALL(void *, dlopen, NULL, (const char *path, int flags), (path, flags))
DEVICE_CALL(void *, dlsym, NULL, (void *library, const char *symbol), (library, symbol))
DEVICE_CALL(int, pthread_mutex_init, EAGAIN,
            (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes))
DEVICE_CALL(int, pthread_cond_init, EAGAIN,
            (pthread_cond_t * condition, const pthread_condattr_t *attributes),
            (condition, attributes))
/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- system calls: they come as SIGSYS, and are made here ---- */

/* Not mprotect: where it fails in dlopen the C library loses an allocation. */

static const struct {
    int number, error;
} trapped[] = {
    {SYS_openat, EMFILE},
    {SYS_read, EIO},
    {SYS_pread64, EIO},
    {SYS_write, ENOSPC},
    {SYS_close, EIO},
    {SYS_fstat, EIO},
    {SYS_newfstatat, EIO},
    {SYS_lseek, EIO},
    {SYS_mmap, ENOMEM},
    {SYS_brk, 0},
    {SYS_memfd_create, EMFILE},
    {SYS_ftruncate, EIO},
    {SYS_readlink, EIO},
    {SYS_access, EACCES},
    {SYS_getdents64, EIO},
    {SYS_sched_setaffinity, EINVAL},
    {SYS_sched_getaffinity, EINVAL},
};
enum { TRAPPED = sizeof trapped / sizeof trapped[0] };

/* The one place that system calls are not trapped at; `after` is the next instruction. */
long untrapped_call(long number, long a, long b, long c, long d, long e, long f);
extern const char untrapped_after[];
__asm__(".text\n"
        ".globl untrapped_call\n"
        ".type untrapped_call, @function\n"
        "untrapped_call:\n"
        "    endbr64\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n"
        "    mov %r9, %r8\n"
        "    mov 8(%rsp), %r9\n"
        "    syscall\n"
        ".globl untrapped_after\n"
        "untrapped_after:\n"
        "    ret\n"
        ".size untrapped_call, . - untrapped_call\n");

static long fail_call(long number, const greg_t *registers)
{
    int error = EIO;
    for (size_t i = 0; i < TRAPPED; i++)
        if (trapped[i].number == number) error = trapped[i].error;
    if (number == SYS_close)
        untrapped_call(number, registers[REG_RDI], 0, 0, 0, 0, 0); /* it fails having closed */
    return -error; /* brk has no errors: it returns where the break is */
}

static void on_call(int signal, siginfo_t *information, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    long number = information->si_syscall;
    int saved = errno;
    (void)signal;
    registers[REG_RAX] =
        fails(CALLS_SYSTEM)
            ? fail_call(number, registers)
            : untrapped_call(number, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                             registers[REG_R10], registers[REG_R8], registers[REG_R9]);
    errno = saved;
}

static bool trap_calls(void)
{
    enum { BEGIN = 4, LENGTH = BEGIN + TRAPPED + 3 };
    struct sock_filter filter[LENGTH];
    uint64_t after = (uint64_t)(uintptr_t)untrapped_after;
    unsigned pointer = offsetof(struct seccomp_data, instruction_pointer);
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, pointer);
    filter[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)after, 0, 2);
    filter[2] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, pointer + 4);
    filter[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(after >> 32),
                                             TRAPPED + 1, 0);
    filter[BEGIN] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < TRAPPED; i++)
        filter[BEGIN + 1 + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)trapped[i].number,
                                         (unsigned char)(TRAPPED - i), 0);
    filter[LENGTH - 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[LENGTH - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = {LENGTH, filter};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- the work ---- */

struct host {
    size_t read, written;
    bool wrong;
};

static const char *path, *device;

/* Shared by all processes: the first one informs the others. */
static struct expected {
    size_t count;
    float packets[PACKETS];
} *expected;
static bool learning;

static enum prt_status read_ramp(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    struct host *host = context;
    float *to = packets;
    (void)error;
    for (*count = 0; *count < capacity && host->read < PACKETS; ++*count)
        to[*count] = (float)host->read++;
    return PRT_OK;
}

static enum prt_status write_smooth(void *context, const void *packets, size_t count,
                                    struct prt_error *error)
{
    struct host *host = context;
    (void)error;
    if (host->written + count > PACKETS)
        host->wrong = true;
    else if (learning)
        memcpy(expected->packets + host->written, packets, count * sizeof(float));
    else if (memcmp(expected->packets + host->written, packets, count * sizeof(float)) != 0)
        host->wrong = true;
    host->written += count;
    return PRT_OK;
}

static bool drop_text(void *context, const char *bytes, size_t size)
{
    (void)context;
    (void)bytes;
    (void)size;
    return true;
}

static enum prt_status partition(struct prt_device_tree *tree, struct prt_error *error)
{
    struct prt_device_information information;
    struct prt_device_handle parts[2];
    uint32_t made = 0;
    enum prt_status status;
    const int64_t single[] = {PRT_PARTITION_BY_COUNTS, 1, PRT_PARTITION_BY_COUNTS_LIST_END, 0};
    status = prt_create_sub_devices(tree, prt_device_tree_root(tree), single, 1, parts, &made);
    if (status == PRT_OK) status = prt_device_retain(tree, parts[0]);
    if (status == PRT_OK) status = prt_device_query(tree, parts[0], &information);
    for (int i = 0; i < 2 && status == PRT_OK; i++)
        status = prt_device_release(tree, parts[0]);
    if (status == PRT_E_OUT_OF_HOST_MEMORY)
        return prt_error_set(error, PRT_E_NOMEM, "no memory for a sub-device");
    return status == PRT_OK ? PRT_OK : prt_error_set(error, status, "a sub-device");
}

enum { FIRINGS = 8, WINDOW = 64, WINDOWS_MAX = 4 };

/* The first kernel, whatever it computes. */
static enum prt_status execute_command(struct prt_command_queue *queue,
                                       const struct prt_kernel_information *kernel,
                                       struct host *host, struct prt_error *error)
{
    float x[WINDOW] = {1}, y[WINDOWS_MAX][WINDOW];
    struct prt_command_input in[WINDOWS_MAX];
    struct prt_command_output out[WINDOWS_MAX];
    struct prt_command_event event;
    for (int i = 0; i < WINDOWS_MAX; i++) {
        in[i] = (struct prt_command_input){x, WINDOW};
        out[i] = (struct prt_command_output){y[i], WINDOW, NULL};
    }
    const struct prt_command command = {.kernel = kernel->name,
                                        .firings = FIRINGS,
                                        .inputs = in,
                                        .outputs = out,
                                        .input_count = kernel->input_count,
                                        .output_count = kernel->output_count};
    enum prt_status status = prt_command_queue_set_argument(queue, "by", "3", error);
    if (status == PRT_OK) status = prt_command_queue_enqueue(queue, &command, &event, error);
    if (status == PRT_OK) status = prt_command_queue_wait(queue, error);
    if (status == PRT_OK && (!event.complete || event.firings != FIRINGS)) host->wrong = true;
    return status;
}

static enum prt_status use_queues(struct prt_device_tree *tree, struct host *host,
                                  struct prt_error *error)
{
    struct prt_program *program = NULL;
    struct prt_command_queue *queue = NULL, *other = NULL;
    struct prt_kernel_information kernel;
    struct prt_command_queue_options options = {.host_threads = THREADS, .commands_most = 4};
    enum prt_status status = prt_program_load_file(path, &program, error);
    if (status == PRT_OK)
        status = prt_command_queue_create(program, tree, prt_device_tree_root(tree), &options,
                                          &queue, error);
    options.beside = queue;
    if (status == PRT_OK)
        status = prt_command_queue_create(program, tree, prt_device_tree_root(tree), &options,
                                          &other, error);
    if (status == PRT_OK && !prt_program_kernel(program, 0, &kernel)) host->wrong = true;
    if (status == PRT_OK) status = execute_command(other, &kernel, host, error);
    prt_command_queue_destroy(queue);
    prt_command_queue_destroy(other);
    prt_program_free(program);
    return status;
}

static enum prt_status bind(const struct prt_program *program, struct prt_run *run,
                            struct host *host, struct prt_error *error)
{
    uint32_t in = prt_program_find_port(program, "samples");
    uint32_t out = prt_program_find_port(program, "smooth");
    enum prt_status status = prt_run_set_argument(run, "by", "3", error);
    if (status == PRT_OK) status = prt_run_bind_input(run, in, read_ramp, host, error);
    if (status == PRT_OK) status = prt_run_bind_output(run, out, write_smooth, host, error);
    if (status == PRT_OK) status = prt_run_give_thread(run, in, NULL, NULL, error);
    if (status == PRT_OK) status = prt_run_give_thread(run, out, NULL, NULL, error);
    return status;
}

static enum prt_status execute(const struct prt_run_options *options, struct host *host,
                               struct prt_error *error)
{
    struct prt_program *program = NULL;
    struct prt_run *run = NULL;
    struct prt_run_statistics statistics;
    enum prt_status status = prt_program_load_file(path, &program, error);
    if (status == PRT_OK) status = prt_run_create(program, options, &run, error);
    if (status == PRT_OK) status = bind(program, run, host, error);
    if (status == PRT_OK) status = prt_run_execute(run, error);
    if (run != NULL) prt_run_statistics(run, &statistics);
    prt_run_destroy(run);
    prt_program_free(program);
    return status;
}

/* A run on a simulated device is one on a handle. */
static enum prt_status use_runs(struct prt_device_tree *tree, struct host *host,
                                struct prt_error *error)
{
    struct prt_trace *trace = NULL;
    enum prt_status status = prt_trace_create(drop_text, NULL, 1000, &trace);
    if (status == PRT_E_NOMEM && trace == NULL)
        prt_error_set(error, status, "no memory for a timeline");
    if (status != PRT_OK) return status;
    struct prt_run_options options = {.device = device,
                                      .host_threads = THREADS,
                                      .measure = true,
                                      .observer = prt_trace_observer(trace)};
    if (strncmp(device, "sim", 3) == 0) {
        options.tree = tree;
        options.part = prt_device_tree_root(tree);
    }
    status = execute(&options, host, error);
    prt_trace_destroy(trace);
    return status;
}

/* The null device, which executes nothing, has no compute units to partition, and no queues. */
static enum prt_status use(struct host *host, struct prt_error *error)
{
    struct prt_device_tree *tree = NULL;
    struct prt_device_figures figures;
    enum prt_status status = PRT_OK;
    if (strcmp(device, "null") != 0) {
        status = prt_device_open(device, NULL, NULL, &tree, &figures, error);
        if (status == PRT_OK) status = partition(tree, error);
        if (status == PRT_OK) status = use_queues(tree, host, error);
    }
    if (status == PRT_OK) status = use_runs(tree, host, error);
    prt_device_tree_destroy(tree);
    return status;
}

/* ---- one point ---- */

static bool complain(const char *what, const char *why)
{
    printf("%s %llu%s fails on %s: %s (%s)\n", calls_names[failing], (unsigned long long)at,
           again ? ", and what comes after it," : "", device, what, why);
    return false;
}

/* The entries of a folder of /proc/self: descriptors, threads. */
static long long entries_of(const char *folder)
{
    DIR *open = opendir(folder);
    long long count = 0;
    if (open == NULL) return -1;
    while (readdir(open) != NULL)
        count++;
    closedir(open);
    return count;
}

struct holding {
    long long blocks, mappings, descriptors, threads;
};

/* The kernel lists a thread a moment longer than pthread_join waits for it. */
static void await_joined_threads(const struct holding *before)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 1000 && entries_of("/proc/self/task") > before->threads; i++)
        nanosleep(&moment, NULL);
}

static struct holding holding_of(void)
{
    return (struct holding){atomic_load(&blocks), atomic_load(&mappings),
                            entries_of("/proc/self/fd"), entries_of("/proc/self/task")};
}

static bool complain_left(const struct holding *before, const struct holding *now)
{
    char text[200];
    snprintf(text, sizeof text, "%lld allocations, %lld mappings, %lld descriptors, %lld threads",
             now->blocks - before->blocks, now->mappings - before->mappings,
             now->descriptors - before->descriptors, now->threads - before->threads);
    return complain("something is left", text);
}

static bool is_told(enum prt_status status)
{
    return status == PRT_E_NOMEM || status == PRT_E_READ || status == PRT_E_OPEN ||
           status == PRT_E_DEVICE ||
           (status == PRT_E_FORMAT &&
            failing == CALLS_DEVICE); /* of an image without the entries that are asked for */
}

/* The work, with or without faults.  False: something is wrong with it, and the message has been printed. */
static bool try_use(bool with_faults)
{
    struct host host = {0};
    struct prt_error error = {.message = ""};
    atomic_store(&calls, 0);
    atomic_store(&failed, 0);
    atomic_store(&armed, with_faults);
    enum prt_status status = use(&host, &error);
    atomic_store(&armed, false);
    if (host.wrong) return complain("the output is wrong", error.message);
    if (status == PRT_OK)
        return host.written == expected->count ||
               complain("the output is not whole", error.message);
    if (atomic_load(&failed) == 0)
        return complain("without a fault the work does not succeed", error.message);
    if (error.message[0] == '\0') return complain("nothing is said", prt_status_name(status));
    return is_told(status) || complain(prt_status_name(status), error.message);
}

/* The work again and again: false if something is wrong, or is left each time. */
static bool try_often(bool with_faults, bool *came)
{
    *came = false;
    for (int i = 0; i < ROUNDS_MAX; i++) {
        struct holding before = holding_of();
        if (!try_use(with_faults)) return false;
        if (atomic_load(&failed) > 0) *came = true;
        await_joined_threads(&before);
        struct holding now = holding_of();
        if (now.mappings != before.mappings || now.descriptors != before.descriptors ||
            now.threads != before.threads)
            return complain_left(&before, &now);
        if (i > 0 && now.blocks <= before.blocks) return true;
        if (i == ROUNDS_MAX - 1) return complain_left(&before, &now);
    }
    return true;
}

/* Exit status: 0 the fault came, 1 wrong, 2 it did not come. */
static int point(void)
{
    bool came, warm, none;
    if (!try_often(true, &came) || !try_use(false) || !try_often(true, &warm) ||
        !try_often(false, &none))
        return 1;
    return came || warm ? 0 : 2;
}

static int learn(void)
{
    struct host host = {0};
    struct prt_error error;
    learning = true;
    if (use(&host, &error) != PRT_OK) {
        printf("without any fault: %s\n", error.message);
        return 1;
    }
    expected->count = host.written;
    return 0;
}

/* ---- all of them ---- */

/* Runs `work` in a process of its own, and returns its result. */
static int in_process(int (*work)(void))
{
    int status;
    pid_t process = fork();
    if (process == 0) {
        alarm(LIMIT_SECONDS);
        if (failing == CALLS_SYSTEM && !trap_calls()) _exit(EXIT_UNTRAPPED);
        _exit(work());
    }
    if (process < 0 || waitpid(process, &status, 0) != process) return 1;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    complain(WTERMSIG(status) == SIGALRM ? "it does not end" : "it crashes",
             strsignal(WTERMSIG(status)));
    return 1;
}

static int sweep(uint64_t every)
{
    uint64_t points = 0;
    int status = in_process(learn);
    for (at = 1 + (uint64_t)failing % every; status == 0; at += every, points++)
        status = in_process(point);
    if (status == 2) printf("%llu points\n", (unsigned long long)points - 1);
    return status == 2 ? 0 : status;
}

static bool read_calls(const char *name)
{
    for (size_t i = 0; i < sizeof calls_names / sizeof calls_names[0]; i++) {
        failing = (enum calls)i;
        if (strcmp(name, calls_names[i]) == 0) return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    uint64_t every = 1;
    if (argc < 4 || !read_calls(argv[1])) return 2;
    path = argv[2];
    device = argv[3];
    for (int i = 4; i < argc; i++) {
        again = again || strcmp(argv[i], "--again") == 0;
        if (strcmp(argv[i], "--every") == 0 && i + 1 < argc) every = strtoull(argv[++i], NULL, 10);
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    expected =
        mmap(NULL, sizeof *expected, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (expected == MAP_FAILED || every == 0) return 2;
    return sweep(every);
}
