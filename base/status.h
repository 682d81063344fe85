/* SPDX-License-Identifier: MIT */
/*
 * status: status codes and error records, by which every function of the runtime reports an error.
 *
 * Ownership: a struct prt_error belongs to the caller and holds its message in place.
 * Thread-safety: pure, apart from writing to the given record; there is no "last error".
 * Rule: exit codes are those of piperun(1); names from files are printed escaped.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdarg.h>
#include <stdint.h>

/* X(name, exit code of piperun, text) */
#define PRT_STATUS_LIST(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(E_NOMEM, 2, "out of memory")                                                                 \
    X(E_USAGE, 2, "invalid argument or option")                                                    \
    X(E_OPEN, 2, "cannot open")                                                                    \
    X(E_READ, 2, "cannot read")                                                                    \
    X(E_WRITE, 2, "cannot write")                                                                  \
    X(E_FORMAT, 1, "the content of a file is refused")                                             \
    X(E_TRUNCATED, 1, "a file ends too early")                                                     \
    X(E_CHECKSUM, 1, "checksum does not match")                                                    \
    X(E_VERSION, 1, "format version is not supported")                                             \
    X(E_VERIFY, 1, "verification failed")                                                          \
    X(E_PACKET, 1, "malformed dispatch packet")                                                    \
    X(E_BUSY, 3, "busy, try again")                                                                \
    X(E_DEVICE, 6, "device unavailable")                                                           \
    X(E_FAULT, 4, "kernel fault")                                                                  \
    X(E_STALL, 5, "stalled: no stage can proceed")                                                 \
    X(E_TIMEOUT, 5, "time limit exceeded")                                                         \
    X(E_INTERRUPTED, 130, "interrupted")                                                           \
    X(E_CLOSED_PIPE, 0, "the reader of the output has gone")                                       \
    X(E_INTERNAL, 3, "internal error")                                                             \
    X(E_INVALID_DEVICE, 2, "invalid device")                                                       \
    X(E_INVALID_VALUE, 2, "invalid value")                                                         \
    X(E_DEVICE_PARTITION_FAILED, 2, "device cannot be partitioned further")                        \
    X(E_INVALID_DEVICE_PARTITION_COUNT, 2, "invalid device partition count")                       \
    X(E_OUT_OF_RESOURCES, 2, "out of device resources")                                            \
    X(E_OUT_OF_HOST_MEMORY, 2, "out of host memory")

enum prt_status {
#define X(name, exit_code, text) PRT_##name,
    PRT_STATUS_LIST(X)
#undef X
};

#define PRT_NO_OFFSET UINT64_MAX

struct prt_error {
    enum prt_status status;
    uint64_t offset; /* byte offset in the damaged file, or PRT_NO_OFFSET */
    char message[512];
};

/* Receives one finding about a file as text: lines, each with its newline. */
typedef void (*prt_report_callback)(void *context, const char *text);

#if defined(__GNUC__)
#define PRT_PRINTF(format_index, first_index)                                                      \
    __attribute__((format(printf, format_index, first_index)))
#else
#define PRT_PRINTF(format_index, first_index)
#endif

/* The text of `status`: a literal, never NULL ("unknown status" outside the enum). */
const char *prt_status_text(enum prt_status status);

/* The name of `status` as written in C ("PRT_E_NOMEM"): a literal, never NULL. */
const char *prt_status_name(enum prt_status status);

/* The exit code of piperun for `status` (3 outside the enum). */
int prt_status_exit_code(enum prt_status status);

/* Fills `*error`, unless it is NULL, and returns `status`. The message is cut to the size of the
 * field. Its bytes are shown as base/terminal_text.h describes, so a name or content of a file
 * cannot control a terminal. The arguments may point into error->message. errno is kept. */
enum prt_status prt_error_set(struct prt_error *error, enum prt_status status, const char *format,
                              ...) PRT_PRINTF(3, 4);

/* As prt_error_set, with the byte offset in the damaged file. */
enum prt_status prt_error_set_at(struct prt_error *error, enum prt_status status, uint64_t offset,
                                 const char *format, ...) PRT_PRINTF(4, 5);

enum prt_status prt_error_set_va(struct prt_error *error, enum prt_status status, uint64_t offset,
                                 const char *format, va_list arguments) PRT_PRINTF(4, 0);

#endif
