/* SPDX-License-Identifier: MIT */
/*
 * run_ports: the ports of a run, and their files.
 *
 *     prt_bindings_read   reads the words PORT=... of the command line; opens nothing
 *     prt_ports_open      opens files and binds them to the run
 *     prt_ports_publish   gives the outputs their names
 *     prt_ports_close     undoes everything else
 *
 * port_binding.c has the first, run_ports.c the others.
 *
 * Ownership: a session borrows its command; the caller frees program, run and temporaries.
 * Errors: an exit code; the message has been printed, unless a function returns a status.
 */
#ifndef TOOLS_PIPERUN_RUN_PORTS_H
#define TOOLS_PIPERUN_RUN_PORTS_H

#include "tools/piperun/io/stream.h"
#include "tools/piperun/watch/watch_tap.h"
#include "runtime/host/pipert.h"
#include "tools/piperun/run_options.h"

#include <xxhash.h>

struct prt_binding {
    struct prt_port_information port;
    struct prt_port_spec spec;
    bool bound; /* the command line has a `spec` for it */
    struct prt_source *source;
    struct prt_sink *sink;
    struct prt_packet packet;             /* the type of the port's packets */
    struct prt_field_information *fields; /* owned; those of `packet` */
    size_t scalars;                       /* of a packet, or bytes where it is a record */
    bool limited;                         /* by --firings */
    uint64_t packets_left;                /* if it is */
    XXH64_state_t *hash;                  /* of --hash, else NULL */
    bool closed;                          /* its reader has gone */
    struct watch_tap *tap;                /* of --watch, else NULL */
    _Atomic uint64_t read_bytes;          /* of the file of an in-port */
};

struct prt_session {
    const struct prt_command *command;
    struct prt_program *program;
    struct prt_run *run;
    struct prt_io_environment environment;
    struct prt_binding *bindings; /* one per port */
    uint32_t port_count;
    struct prt_watch *watch; /* run_watch.h; NULL: nothing is shown */
    bool *given;             /* by argument: the command line has its value; owned */
};

/* Requires: the program.  Fills `bindings`. */
int prt_bindings_read(struct prt_session *session);

/* Requires: bindings, run, environment.  Inputs first: an output is not touched if one of them is
 * missing. */
int prt_ports_open(struct prt_session *session);

/* Would two paths of that direction conflict?  They do if both name one pipe, socket or terminal, or
 * as outputs one file that exists or will.  "-" is standard input or output; devices can be opened any
 * number of times. */
bool prt_ports_share(const char *a, const char *b, enum prt_port_direction direction);

/* Names the content that the run reads from the file `path`, besides the inputs of ports and arguments: "the program
 * that is run", for example. An output must not replace it. NULL: nothing. */
const char *prt_session_reads(const struct prt_session *session, const char *path);

/* A generator that only --firings ends. */
bool prt_binding_is_endless(const struct prt_binding *binding);

/* All outputs are whole on disk before the first gets its name. */
enum prt_status prt_ports_publish(struct prt_session *session, struct prt_error *error);

/* Frees the bindings; removes unpublished files. */
void prt_ports_close(struct prt_session *session);

#endif
