/* SPDX-License-Identifier: MIT */
#include "compiler/commands/http_library.h"

#include <dlfcn.h>

#include "base/library_functions.h"

const char *http_library_load(struct http_library *library)
{
    const struct library_function rows[] = {
        {"MHD_start_daemon", &library->start_daemon},
        {"MHD_stop_daemon", &library->stop_daemon},
        {"MHD_run_wait", &library->run_wait},
        {"MHD_lookup_connection_value", &library->lookup_connection_value},
        {"MHD_create_response_from_buffer", &library->create_response_from_buffer},
        {"MHD_add_response_header", &library->add_response_header},
        {"MHD_queue_response", &library->queue_response},
        {"MHD_destroy_response", &library->destroy_response},
        {"MHD_get_version", &library->get_version}};
    library->handle = dlopen(HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == NULL) return dlerror();
    if (library_find_functions(library->handle, rows, sizeof rows / sizeof rows[0]) == NULL)
        return NULL;
    const char *problem = dlerror();
    return problem != NULL ? problem : "a function is missing";
}
