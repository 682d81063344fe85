/* SPDX-License-Identifier: MIT */
#include "tools/piperun/report_files.h"

#include "base/memory_text.h"

#include "runtime/observe/report.h"
#include "tools/piperun/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct prt_reports {
    struct prt_sink *sink;
    struct prt_trace *trace;
    struct prt_error error; /* of the first write that failed */
    z_stream zip;
    bool zipped; /* `zip` is open */
};

static bool reports_conflict(const char *a, const char *b)
{
    return a != NULL && b != NULL && prt_ports_share(a, b, PRT_PORT_OUT);
}

static int refuse_report_file(const char *report, const char *path, const char *owner)
{
    bool standard = strcmp(path, "-") == 0;
    return PRT_COMPLAIN(EXIT_USAGE, "%s: %s is taken by '%s'", report,
                        standard ? "standard output" : path, owner);
}

int prt_reports_check(const struct prt_session *session)
{
    const struct prt_command *command = session->command;
    const char *paths[] = {command->stats_json, command->trace}, *names[] = {"--stats", "--trace"};
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < session->port_count; k++) {
            const struct prt_binding *b = &session->bindings[k];
            bool in = b->port.direction == PRT_PORT_IN;
            if (in && (b->spec.path == NULL || strcmp(b->spec.path, "-") == 0)) continue;
            if (reports_conflict(paths[i], b->spec.path))
                return refuse_report_file(names[i], paths[i], b->port.name);
        }
        const char *read = paths[i] != NULL ? prt_session_reads(session, paths[i]) : NULL;
        if (read != NULL)
            return PRT_COMPLAIN(EXIT_USAGE, "%s: '%s' is %s", names[i], paths[i], read);
    }
    return reports_conflict(paths[0], paths[1]) ? refuse_report_file(names[1], paths[1], names[0])
                                                : EXIT_DONE;
}

/* ---- bytes ---- */

static int open_sink(const char *path, const struct prt_io_environment *environment,
                     struct prt_sink **sink)
{
    struct prt_error error;
    struct prt_port_spec spec = {.path = (char *)(uintptr_t)path, .format = PRT_FORMAT_RAW};
    struct prt_io_environment regular = *environment;
    regular.no_named_pipes = true;
    enum prt_status status = prt_sink_open(&spec, SCALAR_U8, &regular, sink, &error);
    return status == PRT_OK ? EXIT_DONE : prt_complain_status(&error);
}

static bool give_bytes(struct prt_reports *r, const void *bytes, size_t size)
{
    return size == 0 || prt_sink_write(r->sink, bytes, size, &r->error) == PRT_OK;
}

/* Compresses; `flush` Z_FINISH: to the end. */
static bool give_zipped(struct prt_reports *r, const char *bytes, size_t size, int flush)
{
    unsigned char out[8192];
    r->zip.next_in = (unsigned char *)(uintptr_t)bytes;
    r->zip.avail_in = (unsigned)size;
    do {
        r->zip.next_out = out;
        r->zip.avail_out = sizeof out;
        if (deflate(&r->zip, flush) == Z_STREAM_ERROR) return false;
        if (!give_bytes(r, out, sizeof out - r->zip.avail_out)) return false;
    } while (r->zip.avail_out == 0);
    return true;
}

static bool write_trace(void *context, const char *bytes, size_t size)
{
    struct prt_reports *r = context;
    return r->zipped ? give_zipped(r, bytes, size, Z_NO_FLUSH) : give_bytes(r, bytes, size);
}

static bool ends_in_gz(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* No name and no time in the header: the same text gives the same bytes. */
static bool open_zip(struct prt_reports *r)
{
    enum { GZIP = 16, WINDOW_BITS = 15, MEMORY_LEVEL = 8 };
    r->zipped = deflateInit2(&r->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS + GZIP,
                             MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    return r->zipped;
}

/* ---- the trace ---- */

int prt_reports_open(const struct prt_session *session, struct prt_reports **reports)
{
    const struct prt_command *command = session->command;
    *reports = NULL;
    if (command->trace == NULL) return EXIT_DONE;
    struct prt_reports *r = calloc(1, sizeof *r);
    if (r == NULL) return prt_complain_memory();
    *reports = r;
    uint64_t limit = command->has_trace_limit ? command->trace_limit : PRT_TRACE_EVENTS_DEFAULT;
    if (prt_trace_create(write_trace, r, limit, &r->trace) != PRT_OK ||
        (ends_in_gz(command->trace) && !open_zip(r)))
        return prt_complain_memory();
    return open_sink(command->trace, &session->environment, &r->sink);
}

const struct prt_observer *prt_reports_observer(const struct prt_reports *reports)
{
    return reports == NULL ? NULL : prt_trace_observer(reports->trace);
}

/* A reader that has gone away wants no more: no error. */
static int publish_trace(const struct prt_session *session, struct prt_reports *r)
{
    struct prt_trace_summary summary;
    struct prt_error error;
    prt_trace_summary(r->trace, &summary);
    bool whole = summary.whole && (!r->zipped || give_zipped(r, NULL, 0, Z_FINISH));
    if (!whole && r->error.status == PRT_E_CLOSED_PIPE) return EXIT_DONE;
    if (!whole && r->error.status != PRT_OK) return prt_complain_status(&r->error);
    if (!whole && summary.no_memory) return prt_complain_memory();
    if (!whole) return EXIT_DONE; /* the run has not begun, and its message says why */
    if (prt_sink_finish(r->sink, &error) != PRT_OK) return prt_complain_status(&error);
    if (summary.omitted_events != 0) {
        prt_say_note("%s: the trace is whole up to cycle %" PRIu64 "; after that %" PRIu64
                     " event%s left out (--trace-limit)",
                     session->command->trace, summary.complete_cycles, summary.omitted_events,
                     summary.omitted_events == 1 ? " is" : "s are");
    }
    prt_say_done("the timeline is in '%s': %" PRIu64 " events", session->command->trace,
                 summary.events);
    return EXIT_DONE;
}

void prt_reports_close(struct prt_reports *r)
{
    if (r == NULL) return;
    prt_sink_close(r->sink);
    if (r->zipped) deflateEnd(&r->zip);
    prt_trace_destroy(r->trace);
    free(r);
}

/* ---- the statistics ---- */

static int publish_text(const struct prt_session *session, const char *path, const char *text,
                        size_t size)
{
    struct prt_sink *sink;
    struct prt_error error;
    int exit_code = open_sink(path, &session->environment, &sink);
    if (exit_code != EXIT_DONE) return exit_code;
    enum prt_status status = prt_sink_write(sink, text, size, &error);
    if (status == PRT_OK) status = prt_sink_finish(sink, &error);
    prt_sink_close(sink);
    return status == PRT_OK || status == PRT_E_CLOSED_PIPE ? EXIT_DONE
                                                           : prt_complain_status(&error);
}

static int write_json(const struct prt_session *session)
{
    struct memory_text memory;
    size_t size = 0;
    if (!memory_text_begin(&memory)) return prt_complain_memory();
    prt_report_json(memory.file, session->program, session->run);
    char *text = memory_text_end(&memory, &size);
    int exit_code = text != NULL ? publish_text(session, session->command->stats_json, text, size)
                                 : prt_complain_memory();
    free(text);
    return exit_code;
}

int prt_reports_write(const struct prt_session *session, struct prt_reports *reports)
{
    const struct prt_command *command = session->command;
    int exit_code = EXIT_DONE;
    if (command->stats_text) prt_report_text(stderr, session->program, session->run);
    if (command->stats_json != NULL) exit_code = write_json(session);
    int traced = reports != NULL ? publish_trace(session, reports) : EXIT_DONE;
    return exit_code == EXIT_DONE ? traced : exit_code;
}
