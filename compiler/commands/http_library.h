/* SPDX-License-Identifier: MIT */
/*
 * http_library: libmicrohttpd, which is loaded when a server is asked for.
 */
#ifndef PIPEC_HTTP_LIBRARY_H
#define PIPEC_HTTP_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#define HTTP_LIBRARY "libmicrohttpd.so.12"

/* Of microhttpd.h. */
enum { HTTP_NO = 0, HTTP_YES = 1, HTTP_KIND_HEADER = 1, HTTP_MEMORY_MUST_FREE = 1 };
enum {
    HTTP_OPTION_END = 0,
    HTTP_OPTION_CONNECTIONS = 2,        /* unsigned */
    HTTP_OPTION_CONNECTION_TIMEOUT = 3, /* unsigned: seconds */
    HTTP_OPTION_NOTIFY_COMPLETED = 4,   /* http_completed, void * */
    HTTP_OPTION_LISTEN_SOCKET = 12,     /* int */
    HTTP_OPTION_STRICT_FOR_CLIENT = 29, /* int */
};
struct http_connection;
typedef int http_handler(void *data, struct http_connection *connection, const char *path,
                         const char *method, const char *version, const char *body,
                         size_t *body_bytes, void **request);
typedef void http_completed(void *data, struct http_connection *connection, void **request,
                            int reason);

/* Each named as in microhttpd.h after `MHD_`. */
struct http_library {
    void *handle;
    void *(*start_daemon)(unsigned flags, uint16_t port, void *accept, void *accept_data,
                          http_handler *handler, void *data, ...);
    void (*stop_daemon)(void *daemon);
    int (*run_wait)(void *daemon, int32_t milliseconds);
    const char *(*lookup_connection_value)(struct http_connection *connection, int kind,
                                           const char *key);
    void *(*create_response_from_buffer)(size_t size_bytes, void *bytes, int mode);
    int (*add_response_header)(void *response, const char *name, const char *value);
    int (*queue_response)(struct http_connection *connection, unsigned status, void *response);
    void (*destroy_response)(void *response);
    const char *(*get_version)(void);
};

/* NULL, or why it cannot be loaded. */
const char *http_library_load(struct http_library *library);

#endif
