/* SPDX-License-Identifier: MIT */
#include "tools/piperun/run_command.h"
#include "base/plural.h"

#include "tools/piperun/debug_session.h"
#include "tools/piperun/device_list.h"
#include "tools/piperun/program_load.h"
#include "tools/piperun/run_arguments.h"
#include "tools/piperun/message.h"
#include "tools/piperun/run_ports.h"
#include "tools/piperun/run_watch.h"
#include "tools/piperun/replay_print.h"
#include "tools/piperun/report_files.h"
#include "tools/piperun/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The part of the device for the run, if it is not the whole. */
static int choose_part(const struct prt_session *session, struct prt_part *part)
{
    const struct prt_command *command = session->command;
    struct prt_program_information about;
    if (command->partition == NULL) return EXIT_DONE;
    prt_program_information(session->program, &about);
    const char *device = command->device != NULL ? command->device : about.device;
    return prt_part_read(device, command->partition, command->sub_device, part);
}

static int create_on(struct prt_session *session, const struct prt_part *part,
                     const struct prt_observer *observer)
{
    struct prt_run_options run_options = {
        .device = session->command->device,
        .sub_device = part->steps,
        .sub_device_steps = part->step_count,
        .host_threads = session->command->host_threads,
        .latency_nanoseconds = session->command->latency_nanoseconds,
        .dispatch = session->command->dispatch,
        .depth_factor = session->command->debug ? 1 : session->command->depth_factor,
        .measure = session->command->stats_text || session->command->stats_json != NULL,
        .observer = observer,
        .report = prt_print_report};
    struct prt_error error;
    enum prt_status status = prt_run_create(session->program, &run_options, &session->run, &error);
    if (status == PRT_OK && session->command->has_firings)
        prt_run_limit_firings(session->run, session->command->firings);
    return status == PRT_OK ? EXIT_DONE : prt_complain_status(&error);
}

static int create_run(struct prt_session *session, const struct prt_observer *observer)
{
    struct prt_part part = {.steps = NULL};
    int exit_code = choose_part(session, &part);
    if (exit_code == EXIT_DONE) exit_code = create_on(session, &part, observer);
    prt_part_free(&part);
    bool skipped = exit_code == EXIT_DEVICE && session->command->skip_if_unavailable;
    return skipped ? EXIT_SKIPPED : exit_code;
}

static void note_buffer(const struct prt_leftover_statistics *b)
{
    const char *more = b->more ? "at least " : "";
    if (b->primes_loop) return; /* as many as it began with: nothing is missing */
    if (b->few_packets > 0)
        prt_say_note("%s%" PRIu64 " packet%s left over in buffer '%s': too few for another firing",
                     more, b->few_packets, plural(b->few_packets), b->buffer);
    if (b->stranded_packets > 0 && b->stranded_by != NULL)
        prt_say_note("%s%" PRIu64 " packet%s left over in buffer '%s': its reader '%s' found too "
                     "few in '%s'",
                     more, b->stranded_packets, plural(b->stranded_packets), b->buffer,
                     b->stranded_reader, b->stranded_by);
    else if (b->stranded_packets > 0)
        prt_say_note("%s%" PRIu64 " packet%s left over in buffer '%s': the run was interrupted",
                     more, b->stranded_packets, plural(b->stranded_packets), b->buffer);
}

/* Packets that were not processed, and the reader that did not consume them. */
static void note_rest(const struct prt_session *session)
{
    struct prt_leftover_statistics buffer;
    for (uint32_t i = 0; prt_run_leftover(session->run, i, &buffer); i++) {
        bool endless =
            buffer.port != PRT_NONE && prt_binding_is_endless(&session->bindings[buffer.port]);
        if (!endless) note_buffer(&buffer);
    }
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        if (b->closed) prt_say_note("the reader of '%s' has gone", b->port.name);
    }
}

static void report_hash(const struct prt_session *session)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        if (b->hash == NULL) continue;
        struct prt_error line; /* a name comes out escaped */
        prt_error_set(&line, PRT_OK, "%016" PRIx64 "  %s", (uint64_t)XXH64_digest(b->hash),
                      b->port.name);
        puts(line.message);
    }
}

static void note_wait(void *context, const char *wait)
{
    (void)context;
    prt_say_note("%s", wait);
}

/* Prints a cycle that is too long for the message. */
static void note_stall(const struct prt_session *session, const struct prt_error *error)
{
    if (error->status == PRT_E_STALL && strstr(error->message, "; and ") != NULL)
        prt_run_tell_stall(session->run, note_wait, NULL);
}

/* Executes, publishes the outputs, reports. */
static int execute_run(struct prt_session *session, struct prt_reports *reports,
                       const struct prt_debug_loop *debug)
{
    struct prt_error error;
    session->watch = prt_watch_begin(session);
    enum prt_status status = prt_run_execute(session->run, &error);
    prt_watch_end(session->watch);
    if (prt_debug_was_left(debug)) return EXIT_DONE;
    bool good = status == PRT_OK || status == PRT_E_INTERRUPTED || status == PRT_E_CLOSED_PIPE;
    if (good) {
        enum prt_status published = prt_ports_publish(session, &error);
        if (published != PRT_OK) good = (status = published) == PRT_OK;
    }
    int exit_code = good ? prt_status_exit_code(status) : prt_complain_status(&error);
    if (good) note_rest(session);
    if (status == PRT_E_STALL) note_stall(session, &error);
    struct prt_fault_information fault;
    if (prt_run_fault(session->run, &fault) && fault.line > 0)
        prt_say_note("the statement that failed is at %s:%" PRIu32 ":%" PRIu32, fault.source,
                     fault.line, fault.column);
    if (good && session->command->hash_count > 0) report_hash(session);
    int reported = prt_reports_write(session, reports);
    return exit_code == EXIT_DONE ? reported : exit_code;
}

/* With a debugger, if one is wanted. */
static int execute_watched(struct prt_session *session, struct prt_reports *reports)
{
    struct prt_debug_loop *debug;
    int exit_code = prt_debug_open(session, &debug);
    if (exit_code == EXIT_DONE) exit_code = execute_run(session, reports, debug);
    return prt_debug_close(debug, exit_code);
}

static int prepare_environment(struct prt_session *session)
{
    struct prt_temporaries *temporaries;
    if (prt_temporaries_create(&temporaries) != PRT_OK) return prt_complain_memory();
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    session->environment =
        (struct prt_io_environment){.temporaries = temporaries, .interrupt_fd = fd};
    prt_signals_guard(temporaries, fd);
    return fd >= 0 ? EXIT_DONE
                   : PRT_COMPLAIN(EXIT_USAGE, "no event descriptor: %s", strerror(errno));
}

static void describe_program(const struct prt_program *program)
{
    struct prt_program_information about;
    prt_program_information(program, &about);
    prt_say_done("loaded pipeline '%s' for device '%s' (%s, by %s): %" PRIu32 " stage%s, %" PRIu32
                 " buffer%s, %" PRIu64 " byte%s",
                 about.name, about.device, about.isa, about.compiler, about.stage_count,
                 plural(about.stage_count), about.buffer_count, plural(about.buffer_count),
                 about.memory_bytes, plural(about.memory_bytes));
    const char *name;
    for (uint32_t i = 0; (name = prt_program_foreign_kernel(program, i)) != NULL; i++)
        prt_say_done("kernel '%s' is foreign code: its output may differ elsewhere", name);
    for (uint32_t i = 0; (name = prt_program_library(program, i)) != NULL; i++)
        prt_say_done("foreign code needs the library '%s'", name);
}

/* Checked before unbound ports are reported, because binding them would not help. */
static int check_purpose(const struct prt_session *session)
{
    const struct prt_command *command = session->command;
    struct prt_program_information about;
    prt_program_information(session->program, &about);
    if (about.counterexample && !command->replay)
        return PRT_COMPLAIN(EXIT_REFUSED,
                            "%s: the container is a counterexample: its pipeline deadlocks; "
                            "'piperun --replay %s' shows how",
                            command->file, command->file);
    if (!about.counterexample && command->replay)
        return PRT_COMPLAIN(EXIT_USAGE,
                            "%s: the container is no counterexample: it has nothing to replay "
                            "('pipec inspect --trace-deadlock=FILE.pbc' writes one)",
                            command->file);
    return EXIT_DONE;
}

static int run_session(struct prt_session *session, struct prt_reports **reports)
{
    int exit_code = prt_command_load(session->command, &session->program);
    if (exit_code == EXIT_DONE) describe_program(session->program);
    if (exit_code == EXIT_DONE) exit_code = check_purpose(session);
    if (exit_code == EXIT_DONE) exit_code = prt_bindings_read(session);
    if (exit_code == EXIT_DONE) exit_code = prt_reports_check(session);
    if (exit_code == EXIT_DONE) exit_code = prt_debug_check(session);
    if (exit_code == EXIT_DONE) exit_code = prepare_environment(session);
    if (exit_code == EXIT_DONE) exit_code = prt_reports_open(session, reports);
    if (exit_code == EXIT_DONE) exit_code = create_run(session, prt_reports_observer(*reports));
    if (exit_code == EXIT_DONE) exit_code = prt_arguments_give(session);
    if (exit_code == EXIT_DONE) exit_code = prt_ports_open(session);
    if (exit_code != EXIT_DONE) return exit_code;
    prt_signals_watch(session->run);
    if (!session->command->replay) return execute_watched(session, *reports);
    exit_code = prt_command_replay(session);
    int reported = prt_reports_write(session, *reports);
    return exit_code == EXIT_DONE ? reported : exit_code;
}

int prt_command_run(const struct prt_command *command)
{
    struct prt_session session = {.command = command, .environment = {.interrupt_fd = -1}};
    struct prt_reports *reports = NULL;
    prt_signals_install();
    prt_signals_timeout(command->timeout_seconds);
    int exit_code = run_session(&session, &reports);
    prt_signals_end(); /* the memory of the handlers is freed now */
    prt_watch_free(session.watch);
    prt_ports_close(&session);
    prt_reports_close(reports);
    prt_temporaries_destroy(session.environment.temporaries);
    if (session.environment.interrupt_fd >= 0) close(session.environment.interrupt_fd);
    prt_run_destroy(session.run);
    prt_program_free(session.program);
    return exit_code;
}
