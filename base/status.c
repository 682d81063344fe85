/* SPDX-License-Identifier: MIT */
#include "base/status.h"

#include "base/terminal_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *prt_status_text(enum prt_status status)
{
    switch (status) {
#define X(name, exit_code, text)                                                                   \
    case PRT_##name: return text;
        PRT_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *prt_status_name(enum prt_status status)
{
    switch (status) {
#define X(name, exit_code, text)                                                                   \
    case PRT_##name: return "PRT_" #name;
        PRT_STATUS_LIST(X)
#undef X
    }
    return "PRT_?";
}

int prt_status_exit_code(enum prt_status status)
{
    switch (status) {
#define X(name, exit_code, text)                                                                   \
    case PRT_##name: return exit_code;
        PRT_STATUS_LIST(X)
#undef X
    }
    return 3;
}

enum prt_status prt_error_set_va(struct prt_error *error, enum prt_status status, uint64_t offset,
                                 const char *format, va_list arguments)
{
    if (error == NULL) return status;
    int saved_errno = errno;
    char text[sizeof error->message];
    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        snprintf(text, sizeof text, "%s", prt_status_text(status));
    error->status = status;
    error->offset = offset;
    terminal_text_copy(error->message, sizeof error->message, text);
    errno = saved_errno;
    return status;
}

enum prt_status prt_error_set(struct prt_error *error, enum prt_status status, const char *format,
                              ...)
{
    va_list arguments;
    va_start(arguments, format);
    prt_error_set_va(error, status, PRT_NO_OFFSET, format, arguments);
    va_end(arguments);
    return status;
}

enum prt_status prt_error_set_at(struct prt_error *error, enum prt_status status, uint64_t offset,
                                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    prt_error_set_va(error, status, offset, format, arguments);
    va_end(arguments);
    return status;
}
