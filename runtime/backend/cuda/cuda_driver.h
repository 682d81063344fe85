/* SPDX-License-Identifier: MIT */
/*
 * cuda_driver: the calls of NVIDIA's driver that the device `cuda` needs, as a table of functions.
 *
 * The driver is libcuda.so.1.  It is opened when a GPU is asked for, so neither the build nor a run on another device needs
 * it.  The names of its functions end as their version says ("cuMemAlloc_v2"); their types are those of NVIDIA's cuda.h.
 *
 * A table may be one of another driver: that of emulated_driver.h executes the resident scheduler on threads of the host.
 *
 * Thread-safety: as the driver.  Errors: each call returns 0, or a number that `error_name` knows.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_DRIVER_H
#define RUNTIME_BACKEND_CUDA_CUDA_DRIVER_H

#include "base/status.h"
#include "core/resident/resident.h"

#include <stddef.h>
#include <stdint.h>

/* Results that mean more than a failure. */
enum prt_cuda_result {
    PRT_CUDA_SUCCESS = 0,
    PRT_CUDA_OUT_OF_MEMORY = 2,
    PRT_CUDA_NO_DEVICE = 100,
    PRT_CUDA_INVALID_PTX = 218,
    PRT_CUDA_NOT_FOUND = 500,
    PRT_CUDA_NOT_READY = 600,
    PRT_CUDA_LAUNCH_FAILED = 719,
    PRT_CUDA_NOT_SUPPORTED = 801
};

/* Attributes of a device, and of a function. */
enum prt_cuda_attribute {
    PRT_CUDA_CLOCK_KHZ = 13,
    PRT_CUDA_MULTIPROCESSORS = 16,
    PRT_CUDA_MEMORY_CLOCK_KHZ = 36,
    PRT_CUDA_MEMORY_BUS_BITS = 37,
    PRT_CUDA_L2_BYTES = 38,
    PRT_CUDA_CAPABILITY_MAJOR = 75,
    PRT_CUDA_CAPABILITY_MINOR = 76,
    PRT_CUDA_COOPERATIVE = 95,
    PRT_CUDA_SHARED_BYTES_MOST = 97, /* of a block */
    PRT_CUDA_VIRTUAL_MEMORY = 102
};
enum prt_cuda_function_attribute {
    PRT_CUDA_FUNCTION_THREADS = 0,
    PRT_CUDA_FUNCTION_SHARED_BYTES = 1, /* that its code declares */
    PRT_CUDA_FUNCTION_SHARED_MORE = 8   /* that a launch may give it */
};

enum { PRT_CUDA_STACK_BYTES = 0 }; /* a limit of a context: of a thread */
enum { PRT_CUDA_HOST_MAPPED = 3 }; /* for all contexts, and with an address on the device */

enum prt_cuda_input { PRT_CUDA_INPUT_PTX = 1 };
enum prt_cuda_link_option { PRT_CUDA_ERROR_LOG = 5, PRT_CUDA_ERROR_LOG_BYTES = 6 };

struct prt_cuda_location {
    int type; /* 1: the device of that number */
    int number;
};

struct prt_cuda_memory_kind {
    int type; /* 1: pinned */
    int handle_types;
    struct prt_cuda_location location;
    void *other;
    uint8_t flags[8];
};

struct prt_cuda_access {
    struct prt_cuda_location location;
    int flags; /* 3: reads and writes */
};

typedef uint64_t prt_cuda_address;

/* A row for each function: member, name, parameters, arguments to pass them on. */
#define PRT_CUDA_CALLS(CALL)                                                                       \
    CALL(init, "cuInit", (unsigned flags), (flags))                                                \
    CALL(device_count, "cuDeviceGetCount", (int *count), (count))                                  \
    CALL(device_get, "cuDeviceGet", (int *device, int number), (device, number))                   \
    CALL(device_name, "cuDeviceGetName", (char *name, int bytes, int device),                      \
         (name, bytes, device))                                                                    \
    CALL(device_memory, "cuDeviceTotalMem_v2", (size_t *bytes, int device), (bytes, device))       \
    CALL(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device),        \
         (value, attribute, device))                                                               \
    CALL(context_retain, "cuDevicePrimaryCtxRetain", (void **context, int device),                 \
         (context, device))                                                                        \
    CALL(context_release, "cuDevicePrimaryCtxRelease_v2", (int device), (device))                  \
    CALL(context_set, "cuCtxSetCurrent", (void *context), (context))                               \
    CALL(context_limit, "cuCtxSetLimit", (int limit, size_t value), (limit, value))                \
    CALL(context_limit_get, "cuCtxGetLimit", (size_t *value, int limit), (value, limit))           \
    CALL(link_create, "cuLinkCreate_v2",                                                           \
         (unsigned count, int *options, void **values, void **link),                               \
         (count, options, values, link))                                                           \
    CALL(link_add, "cuLinkAddData_v2",                                                             \
         (void *link, int type, void *data, size_t bytes, const char *name, unsigned count,        \
          int *options, void **values),                                                            \
         (link, type, data, bytes, name, count, options, values))                                  \
    CALL(link_complete, "cuLinkComplete", (void *link, void **cubin, size_t *bytes),               \
         (link, cubin, bytes))                                                                     \
    CALL(link_destroy, "cuLinkDestroy", (void *link), (link))                                      \
    CALL(module_load, "cuModuleLoadData", (void **module, const void *cubin), (module, cubin))     \
    CALL(module_unload, "cuModuleUnload", (void *module), (module))                                \
    CALL(function_get, "cuModuleGetFunction", (void **function, void *module, const char *name),   \
         (function, module, name))                                                                 \
    CALL(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, void *function),    \
         (value, attribute, function))                                                             \
    CALL(function_limit, "cuFuncSetAttribute", (void *function, int attribute, int value),         \
         (function, attribute, value))                                                             \
    CALL(memory_allocate, "cuMemAlloc_v2", (prt_cuda_address * address, size_t bytes),             \
         (address, bytes))                                                                         \
    CALL(memory_free, "cuMemFree_v2", (prt_cuda_address address), (address))                       \
    CALL(copy_to_device, "cuMemcpyHtoD_v2", (prt_cuda_address to, const void *from, size_t bytes), \
         (to, from, bytes))                                                                        \
    CALL(copy_to_host, "cuMemcpyDtoH_v2", (void *to, prt_cuda_address from, size_t bytes),         \
         (to, from, bytes))                                                                        \
    CALL(host_allocate, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags),           \
         (memory, bytes, flags))                                                                   \
    CALL(host_free, "cuMemFreeHost", (void *memory), (memory))                                     \
    CALL(host_register, "cuMemHostRegister_v2", (void *memory, size_t bytes, unsigned flags),      \
         (memory, bytes, flags))                                                                   \
    CALL(host_unregister, "cuMemHostUnregister", (void *memory), (memory))                         \
    CALL(host_address, "cuMemHostGetDevicePointer_v2",                                             \
         (prt_cuda_address * address, void *memory, unsigned flags), (address, memory, flags))     \
    CALL(virtual_granularity, "cuMemGetAllocationGranularity",                                     \
         (size_t *bytes, const struct prt_cuda_memory_kind *kind, int which),                      \
         (bytes, kind, which))                                                                     \
    CALL(virtual_reserve, "cuMemAddressReserve",                                                   \
         (prt_cuda_address * address, size_t bytes, size_t alignment, prt_cuda_address wish,       \
          uint64_t flags),                                                                         \
         (address, bytes, alignment, wish, flags))                                                 \
    CALL(virtual_free, "cuMemAddressFree", (prt_cuda_address address, size_t bytes),               \
         (address, bytes))                                                                         \
    CALL(                                                                                          \
        virtual_create, "cuMemCreate",                                                             \
        (uint64_t *handle, size_t bytes, const struct prt_cuda_memory_kind *kind, uint64_t flags), \
        (handle, bytes, kind, flags))                                                              \
    CALL(virtual_release, "cuMemRelease", (uint64_t handle), (handle))                             \
    CALL(virtual_map, "cuMemMap",                                                                  \
         (prt_cuda_address address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags), \
         (address, bytes, offset, handle, flags))                                                  \
    CALL(virtual_unmap, "cuMemUnmap", (prt_cuda_address address, size_t bytes), (address, bytes))  \
    CALL(virtual_access, "cuMemSetAccess",                                                         \
         (prt_cuda_address address, size_t bytes, const struct prt_cuda_access *access,            \
          size_t count),                                                                           \
         (address, bytes, access, count))                                                          \
    CALL(stream_create, "cuStreamCreate", (void **stream, unsigned flags), (stream, flags))        \
    CALL(stream_destroy, "cuStreamDestroy_v2", (void *stream), (stream))                           \
    CALL(stream_query, "cuStreamQuery", (void *stream), (stream))                                  \
    CALL(stream_wait, "cuStreamSynchronize", (void *stream), (stream))                             \
    CALL(launch, "cuLaunchCooperativeKernel",                                                      \
         (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
          unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,                 \
          void **parameters),                                                                      \
         (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,       \
          parameters))                                                                             \
    CALL(error_name, "cuGetErrorName", (int result, const char **name), (result, name))

struct prt_cuda_driver {
#define MEMBER(member, name, parameters, arguments) int(*member) parameters;
    PRT_CUDA_CALLS(MEMBER)
#undef MEMBER
    void *library;
    /* Not a GPU: the host's threads execute the kernels of the container's image for processors. */
    bool emulates;
};

/* Opens libcuda.  PRT_E_DEVICE: it is not installed, or lacks a function; *error has a remedy. */
enum prt_status prt_cuda_driver_open(struct prt_cuda_driver *driver, struct prt_error *error);
void prt_cuda_driver_close(struct prt_cuda_driver *driver);

/* The name of a result ("CUDA_ERROR_OUT_OF_MEMORY"). */
const char *prt_cuda_error_name(const struct prt_cuda_driver *driver, int result);

#endif
