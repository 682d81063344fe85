/* SPDX-License-Identifier: MIT */
/*
 * run_options: the command line of a run, as a record.
 *
 * Ownership: texts point into argv, but for the names of definitions; prt_command_free.
 * Errors: an exit code, the message has been printed.
 */
#ifndef TOOLS_PIPERUN_RUN_OPTIONS_H
#define TOOLS_PIPERUN_RUN_OPTIONS_H

#include "runtime/host/pipert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prt_definition {
    char *name;
    const char *text, *value; /* text: as given, NAME=VALUE */
};

/* One struct because it has one member for each option. */
struct prt_command {
    const char *file;
    const char *device;
    const char *partition, *sub_device; /* both or none: NULL */
    const char *pipeline;               /* -p: which one of a source file, or NULL */
    struct prt_definition *definitions; /* -D */
    size_t definition_count;
    const char **bindings; /* PORT=... */
    size_t binding_count;
    size_t capacity;         /* of both: the number of words */
    const char **hash_ports; /* --hash, in the order given */
    size_t hash_count;
    const char **watch_ports; /* --watch, in the order given */
    size_t watch_count;
    bool top;               /* --top */
    const char **libraries; /* --allow-library */
    size_t library_count;
    const char *stats_json; /* file, or NULL */
    bool stats_text;
    const char *trace;    /* file, or NULL */
    uint64_t trace_limit; /* events; if it is given */
    bool has_trace_limit;
    bool quiet, verbose;
    bool has_firings, has_seed;
    uint64_t firings, seed;
    uint32_t host_threads;
    enum prt_dispatch_mode dispatch;
    uint32_t depth_factor; /* as of prt_run_options */
    double timeout_seconds;
    uint64_t latency_nanoseconds; /* --latency */
    bool skip_if_unavailable;
    bool replay;
    bool debug;
    const char *debug_script; /* file, or NULL: standard input */
};

enum { PRT_COMMAND_RUN = -1 };

/* PRT_COMMAND_RUN, or the exit code: --help and the like have been answered, or a complaint been
 * made. */
int prt_command_read(int argc, char **argv, struct prt_command *command);

/* A zeroed one is allowed. */
void prt_command_free(struct prt_command *command);

#endif
