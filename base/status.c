#include "base/status.h"

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

/* C0 controls, DEL, and the second byte of a C1 control written in UTF-8 (0xC2 0x80..0x9F). */
static bool is_control(const char *text, size_t i)
{
    unsigned char byte = (unsigned char)text[i];
    if (byte < 0x20 || byte == 0x7f) return true;
    return byte >= 0x80 && byte <= 0x9f && i > 0 && (unsigned char)text[i - 1] == 0xc2;
}

static void copy_escaped(char *message, size_t size, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        size_t need = is_control(text, i) ? 4 : 1;
        if (used + need >= size) break;
        if (need == 1) {
            message[used++] = text[i];
            continue;
        }
        unsigned byte = (unsigned char)text[i];
        message[used++] = '\\';
        message[used++] = 'x';
        message[used++] = digits[byte >> 4];
        message[used++] = digits[byte & 15];
    }
    message[used] = '\0';
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
    copy_escaped(error->message, sizeof error->message, text);
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
