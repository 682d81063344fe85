/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/emulated_driver.h"

#include "runtime/device/host_thread.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MULTIPROCESSORS = 4 };

/* Handles of things that do nothing point here. */
static const char nothing = 0;

/* ---- the device ---- */

static int emulated_init(unsigned flags)
{
    (void)flags;
    return PRT_CUDA_SUCCESS;
}

static int emulated_count(int *count)
{
    *count = 1;
    return PRT_CUDA_SUCCESS;
}

static int emulated_device(int *device, int number)
{
    *device = number;
    return PRT_CUDA_SUCCESS;
}

static int emulated_name(char *name, int bytes, int device)
{
    static const char text[] = "threads of the host";
    (void)device;
    if (bytes < (int)sizeof text) return PRT_CUDA_NOT_FOUND;
    memcpy(name, text, sizeof text);
    return PRT_CUDA_SUCCESS;
}

static int emulated_memory(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return PRT_CUDA_SUCCESS;
}

static int emulated_attribute(int *value, int attribute, int device)
{
    (void)device;
    switch (attribute) {
    case PRT_CUDA_MULTIPROCESSORS: *value = MULTIPROCESSORS; break;
    case PRT_CUDA_CAPABILITY_MAJOR: *value = 9; break;
    case PRT_CUDA_SHARED_BYTES_MOST: *value = (int)GPU_TILE_BYTES + 1; break;
    case PRT_CUDA_COOPERATIVE:
    case PRT_CUDA_VIRTUAL_MEMORY: *value = 1; break;
    default: *value = 0; break;
    }
    return PRT_CUDA_SUCCESS;
}

static int emulated_retain(void **context, int device)
{
    (void)device;
    *context = (void *)(uintptr_t)&nothing;
    return PRT_CUDA_SUCCESS;
}

static int emulated_release(int device)
{
    (void)device;
    return PRT_CUDA_SUCCESS;
}

static int emulated_handle_done(void *handle)
{
    (void)handle;
    return PRT_CUDA_SUCCESS;
}

static int emulated_limit(int limit, size_t value)
{
    (void)limit, (void)value;
    return PRT_CUDA_SUCCESS;
}

static int emulated_limit_get(size_t *value, int limit)
{
    (void)limit;
    *value = SIZE_MAX;
    return PRT_CUDA_SUCCESS;
}

/* ---- code ---- */

/* A compiled program of one function (cuda_frames.h), as the driver would make it. */
static const struct compiled {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    Elf64_Sym symbols[2];
    uint32_t info[3];
    char texts[32];
} compiled = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_shoff = sizeof(Elf64_Ehdr),
               .e_shentsize = sizeof(Elf64_Shdr),
               .e_shnum = 4,
               .e_shstrndx = 1},
    .sections = {{.sh_type = SHT_NULL},
                 {.sh_type = SHT_STRTAB,
                  .sh_offset = offsetof(struct compiled, texts),
                  .sh_size = sizeof compiled.texts},
                 {.sh_type = SHT_SYMTAB,
                  .sh_link = 1,
                  .sh_offset = offsetof(struct compiled, symbols),
                  .sh_size = sizeof compiled.symbols},
                 {.sh_name = 1,
                  .sh_type = SHT_LOPROC,
                  .sh_link = 2,
                  .sh_offset = offsetof(struct compiled, info),
                  .sh_size = sizeof compiled.info}},
    .symbols = {{.st_name = 0}, {.st_name = 10}},
    .info = {0x00081104, 1,
             64}, /* a value of 8 bytes, the size of a frame: of symbol 1, 64 bytes */
    .texts = "\0.nv.info\0pipe_call"};

// NOLINTNEXTLINE(readability-non-const-parameter): the type is the driver's
static int emulated_link_create(unsigned count, int *options, void **values, void **link)
{
    (void)count, (void)options, (void)values;
    *link = (void *)(uintptr_t)&nothing;
    return PRT_CUDA_SUCCESS;
}

static int emulated_link_add(void *link, int type, void *data, size_t bytes, const char *name,
                             // NOLINTNEXTLINE(readability-non-const-parameter): as above
                             unsigned count, int *options, void **values)
{
    (void)link, (void)type, (void)name, (void)count, (void)options, (void)values;
    bool text = bytes > 0 && strstr(data, ".version") != NULL;
    return text ? PRT_CUDA_SUCCESS : PRT_CUDA_INVALID_PTX;
}

static int emulated_link_complete(void *link, void **cubin, size_t *bytes)
{
    (void)link;
    *cubin = (void *)(uintptr_t)&compiled;
    *bytes = sizeof compiled;
    return PRT_CUDA_SUCCESS;
}

static int emulated_module_load(void **module, const void *cubin)
{
    *module = (void *)(uintptr_t)cubin;
    return PRT_CUDA_SUCCESS;
}

static int emulated_function(void **function, void *module, const char *name)
{
    (void)name;
    *function = module;
    return PRT_CUDA_SUCCESS;
}

static int emulated_function_attribute(int *value, int attribute, void *function)
{
    (void)attribute, (void)function;
    *value = 1;
    return PRT_CUDA_SUCCESS;
}

static int emulated_function_limit(void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return PRT_CUDA_SUCCESS;
}

/* ---- memory ---- */

static int emulated_allocate(prt_cuda_address *address, size_t bytes)
{
    void *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
    *address = (prt_cuda_address)(uintptr_t)memory;
    return memory != NULL ? PRT_CUDA_SUCCESS : PRT_CUDA_OUT_OF_MEMORY;
}

static int emulated_free(prt_cuda_address address)
{
    free((void *)(uintptr_t)address);
    return PRT_CUDA_SUCCESS;
}

static int emulated_copy(prt_cuda_address to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return PRT_CUDA_SUCCESS;
}

static int emulated_copy_back(void *to, prt_cuda_address from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return PRT_CUDA_SUCCESS;
}

static int emulated_host_allocate(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
    return *memory != NULL ? PRT_CUDA_SUCCESS : PRT_CUDA_OUT_OF_MEMORY;
}

static int emulated_host_free(void *memory)
{
    free(memory);
    return PRT_CUDA_SUCCESS;
}

static int emulated_register(void *memory, size_t bytes, unsigned flags)
{
    (void)memory, (void)bytes, (void)flags;
    return PRT_CUDA_SUCCESS;
}

static int emulated_host_address(prt_cuda_address *address, void *memory, unsigned flags)
{
    (void)flags;
    *address = (prt_cuda_address)(uintptr_t)memory;
    return PRT_CUDA_SUCCESS;
}

/* ---- virtual memory: a handle is a file descriptor and 1 ---- */

static int emulated_granularity(size_t *bytes, const struct prt_cuda_memory_kind *kind, int which)
{
    (void)kind, (void)which;
    *bytes = (size_t)sysconf(_SC_PAGESIZE);
    return PRT_CUDA_SUCCESS;
}

static int emulated_reserve(prt_cuda_address *address, size_t bytes, size_t alignment,
                            prt_cuda_address wish, uint64_t flags)
{
    (void)alignment, (void)wish, (void)flags;
    void *space = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) return PRT_CUDA_OUT_OF_MEMORY;
    *address = (prt_cuda_address)(uintptr_t)space;
    return PRT_CUDA_SUCCESS;
}

static int emulated_unreserve(prt_cuda_address address, size_t bytes)
{
    munmap((void *)(uintptr_t)address, bytes);
    return PRT_CUDA_SUCCESS;
}

static int emulated_create(uint64_t *handle, size_t bytes, const struct prt_cuda_memory_kind *kind,
                           uint64_t flags)
{
    (void)kind, (void)flags;
    int fd = memfd_create("pipec-emulated", MFD_CLOEXEC);
    if (fd < 0) return PRT_CUDA_OUT_OF_MEMORY;
    if (ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        return PRT_CUDA_OUT_OF_MEMORY;
    }
    *handle = (uint64_t)fd + 1;
    return PRT_CUDA_SUCCESS;
}

static int emulated_handle_release(uint64_t handle)
{
    close((int)(handle - 1));
    return PRT_CUDA_SUCCESS;
}

static int emulated_map(prt_cuda_address address, size_t bytes, size_t offset, uint64_t handle,
                        uint64_t flags)
{
    (void)flags;
    void *at = mmap((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, (int)(handle - 1), (off_t)offset);
    return at != MAP_FAILED ? PRT_CUDA_SUCCESS : PRT_CUDA_OUT_OF_MEMORY;
}

static int emulated_unmap(prt_cuda_address address, size_t bytes)
{
    void *at = mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return at != MAP_FAILED ? PRT_CUDA_SUCCESS : PRT_CUDA_OUT_OF_MEMORY;
}

static int emulated_access(prt_cuda_address address, size_t bytes,
                           const struct prt_cuda_access *access, size_t count)
{
    (void)address, (void)bytes, (void)access, (void)count;
    return PRT_CUDA_SUCCESS;
}

/* ---- the kernel ---- */

struct stream;

struct block {
    struct stream *stream;
    uint32_t number;
    struct prt_host_thread thread;
};

struct stream {
    struct core_resident *resident;
    uint32_t started, ended;
    struct block blocks[MULTIPROCESSORS];
};

static void execute_block(void *argument)
{
    struct block *block = argument;
    core_resident_block(block->stream->resident, block->number);
    (void)__atomic_fetch_add(&block->stream->ended, 1, __ATOMIC_RELEASE);
}

static int emulated_stream_create(void **stream, unsigned flags)
{
    (void)flags;
    *stream = calloc(1, sizeof(struct stream));
    return *stream != NULL ? PRT_CUDA_SUCCESS : PRT_CUDA_OUT_OF_MEMORY;
}

static int emulated_stream_wait(void *stream)
{
    struct stream *s = stream;
    for (; s->started > 0; s->started--)
        prt_host_thread_join(&s->blocks[s->started - 1].thread);
    return PRT_CUDA_SUCCESS;
}

static int emulated_stream_destroy(void *stream)
{
    (void)emulated_stream_wait(stream);
    free(stream);
    return PRT_CUDA_SUCCESS;
}

static int emulated_stream_query(void *stream)
{
    struct stream *s = stream;
    return __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE) == s->started ? PRT_CUDA_SUCCESS
                                                                      : PRT_CUDA_NOT_READY;
}

/* If a thread cannot be had, the blocks before it find that the run has ended. */
static int emulated_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned shared_bytes, void *stream, void **parameters)
{
    struct stream *s = stream;
    prt_cuda_address address;
    (void)function, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)shared_bytes;
    memcpy(&address, parameters[0], sizeof address);
    s->resident = (struct core_resident *)(uintptr_t)address;
    for (uint32_t number = grid_x; number-- > 0;) {
        struct block *block = &s->blocks[s->started];
        *block = (struct block){.stream = s, .number = number};
        if (prt_host_thread_start(&block->thread, execute_block, block)) {
            s->started++;
            continue;
        }
        __atomic_store_n(&s->resident->mail->stop, 1, __ATOMIC_RELAXED);
        (void)emulated_stream_wait(s);
        return PRT_CUDA_OUT_OF_MEMORY;
    }
    return PRT_CUDA_SUCCESS;
}

static int emulated_error_name(int result, const char **name)
{
    switch (result) {
    case PRT_CUDA_OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case PRT_CUDA_NO_DEVICE: *name = "CUDA_ERROR_NO_DEVICE"; break;
    case PRT_CUDA_INVALID_PTX: *name = "CUDA_ERROR_INVALID_PTX"; break;
    case PRT_CUDA_NOT_FOUND: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case PRT_CUDA_LAUNCH_FAILED: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    default: return PRT_CUDA_NOT_FOUND;
    }
    return PRT_CUDA_SUCCESS;
}

void prt_emulated_driver_open(struct prt_cuda_driver *driver)
{
    *driver = (struct prt_cuda_driver){.init = emulated_init,
                                       .device_count = emulated_count,
                                       .device_get = emulated_device,
                                       .device_name = emulated_name,
                                       .device_memory = emulated_memory,
                                       .device_attribute = emulated_attribute,
                                       .context_retain = emulated_retain,
                                       .context_release = emulated_release,
                                       .context_set = emulated_handle_done,
                                       .context_limit = emulated_limit,
                                       .context_limit_get = emulated_limit_get,
                                       .link_create = emulated_link_create,
                                       .link_add = emulated_link_add,
                                       .link_complete = emulated_link_complete,
                                       .link_destroy = emulated_handle_done,
                                       .module_load = emulated_module_load,
                                       .module_unload = emulated_handle_done,
                                       .function_get = emulated_function,
                                       .function_attribute = emulated_function_attribute,
                                       .function_limit = emulated_function_limit,
                                       .memory_allocate = emulated_allocate,
                                       .memory_free = emulated_free,
                                       .copy_to_device = emulated_copy,
                                       .copy_to_host = emulated_copy_back,
                                       .host_allocate = emulated_host_allocate,
                                       .host_free = emulated_host_free,
                                       .host_register = emulated_register,
                                       .host_unregister = emulated_handle_done,
                                       .host_address = emulated_host_address,
                                       .virtual_granularity = emulated_granularity,
                                       .virtual_reserve = emulated_reserve,
                                       .virtual_free = emulated_unreserve,
                                       .virtual_create = emulated_create,
                                       .virtual_release = emulated_handle_release,
                                       .virtual_map = emulated_map,
                                       .virtual_unmap = emulated_unmap,
                                       .virtual_access = emulated_access,
                                       .stream_create = emulated_stream_create,
                                       .stream_destroy = emulated_stream_destroy,
                                       .stream_query = emulated_stream_query,
                                       .stream_wait = emulated_stream_wait,
                                       .launch = emulated_launch,
                                       .error_name = emulated_error_name,
                                       .emulates = true};
}
