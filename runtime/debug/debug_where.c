/* SPDX-License-Identifier: MIT */
/* Prints the waits between stages, the parts of the run as tables, and the scheduler program. */
#include "runtime/debug/debug_internal.h"
#include "runtime/debug/debug_place.h"
#include "runtime/debug/debug_source.h"

#include "base/memory_text.h"
#include "base/plural.h"
#include "lang/scalar_text.h"
#include "lang/sched_code.h"
#include "runtime/load/debug_info.h"
#include "runtime/observe/text_table.h"
#include "runtime/sched/explain.h"
#include "core/ready.h"
#include "core/select.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 16, INSTRUCTIONS_AROUND = 5 };

/* ---- waits ---- */

/* Writes the cause that prevents the stage's next firing, or that nothing does.  Returns the stage that it waits for. */
static uint32_t state_text(const struct prt_debugger *d, uint32_t index, char *text, size_t size)
{
    const struct core_stage *stage = &d->sched->stages[index];
    if (stage->life == CORE_ENDED) {
        snprintf(text, size, "has ended");
        return UINT32_MAX;
    }
    const struct core_fault *fault = &d->sched->core->fault;
    if (fault->there && fault->node == stage->node) {
        snprintf(text, size, "has failed");
        return UINT32_MAX;
    }
    if (stage->stopped || (stage->life == CORE_RUNNING && core_ready_source_left(stage) == 0)) {
        snprintf(text, size, "fires no more");
        return UINT32_MAX;
    }
    uint32_t next = prt_explain_wait(d->sched, index, text, size);
    if (text[0] == '\0')
        snprintf(text, size, "%s", stage->life == CORE_RUNNING ? "can fire" : "its finish can run");
    return next;
}

/* `'scale' waits for packets in ...`, of which the name is not wanted twice. */
static void print_state(const struct prt_debugger *d, uint32_t index, FILE *to)
{
    char text[400];
    const struct core_stage *stage = &d->sched->stages[index];
    (void)state_text(d, index, text, sizeof text);
    const char *behind = text[0] == '\'' ? strstr(text, "' ") : NULL;
    prt_text_cell(to, debug_stage_name(d, index), NAME_COLUMNS);
    prt_debugger_say(to, " %8" PRIu64 " firing%s  %s", stage->firings,
                     stage->firings == 1 ? " " : "s", behind != NULL ? behind + 2 : text);
    if (stage->threshold > 1) fprintf(to, "; threshold %" PRIu32, stage->threshold);
    if (stage->importance > 0) fprintf(to, "; importance %" PRIu32, stage->importance);
    fputs(d->next.stage == index && !d->ended ? "  <- next\n" : "\n", to);
}

/* Prints the chain of waits from a stage, until a stage waits for none, or the cycle is closed. */
static void print_chain(const struct prt_debugger *d, uint32_t first, FILE *to)
{
    char text[400];
    uint32_t at = first, count = d->container->stage_count;
    for (uint32_t i = 0; i <= count && at != UINT32_MAX; i++) {
        uint32_t next = state_text(d, at, text, sizeof text);
        if (text[0] == '\'')
            prt_debugger_say(to, "#%-2" PRIu32 " %s\n", i, text);
        else
            prt_debugger_say(to, "#%-2" PRIu32 " '%s' %s\n", i, debug_stage_name(d, at), text);
        at = next;
        if (at != first || at == UINT32_MAX) continue;
        prt_debugger_say(to, "    and so on: they wait for each other in a cycle\n");
        return;
    }
}

enum prt_status prt_debug_where(struct prt_debugger *d, const char *node, FILE *to,
                                struct prt_error *error)
{
    if (node[0] != '\0') {
        uint32_t stage;
        enum prt_status status = prt_debug_find_stage(d, node, &stage, error);
        if (status != PRT_OK) return status;
        print_chain(d, stage, to);
        return PRT_OK;
    }
    for (uint32_t i = 0; i < d->container->stage_count; i++)
        print_state(d, i, to);
    return PRT_OK;
}

/* ---- tables ---- */

void prt_debug_show_stages(struct prt_debugger *d, FILE *to)
{
    prt_text_cell(to, "stage", NAME_COLUMNS);
    fputs("  firings   cycles  CUs  importance  kernel\n", to);
    for (uint32_t i = 0; i < d->container->stage_count; i++) {
        const struct core_stage *stage = &d->sched->stages[i];
        uint32_t source, line;
        prt_debugger_kernel_place(d, i, &source, &line);
        prt_text_cell(to, debug_stage_name(d, i), NAME_COLUMNS);
        fprintf(to, " %8" PRIu64 " %8" PRIu64 " %4" PRIu32 " %11" PRIu32, stage->firings,
                stage->execute_cycles, d->sched->bindings.queues[stage->queue].cu_count,
                stage->importance);
        prt_debugger_say(to, "  %s at %s:%" PRIu32 "%s\n",
                         debug_text(d, prt_stage_node(d->sched, stage)->kernel_title),
                         prt_container_source(d->container, source), line,
                         stage->life == CORE_ENDED ? "; ended" : "");
    }
}

static const char *buffer_kind(const struct prt_buffer *buffer)
{
    if (buffer->record->outer == CONTAINER_OUTER_IN) return "in-port";
    return buffer->record->outer == CONTAINER_OUTER_OUT ? "out-port" : "buffer";
}

void prt_debug_show_buffers(struct prt_debugger *d, FILE *to)
{
    prt_text_cell(to, "buffer", NAME_COLUMNS);
    fputs("    holds     of   written  type\n", to);
    for (uint32_t i = 0; i < d->container->buffer_count; i++) {
        const struct prt_buffer *buffer = &d->sched->buffers[i];
        const struct core_fifo *fifo = buffer->fifo;
        prt_text_cell(to, debug_buffer_name(d, i), NAME_COLUMNS);
        fprintf(to, " %8" PRIu64 " %6" PRIu64 " %9" PRIu64,
                fifo->written_packets - fifo->oldest_packets, fifo->depth_packets,
                fifo->written_packets);
        prt_debugger_say(to, "  %s%s%s\n", debug_text(d, buffer->record->type_text),
                         buffer->record->outer != CONTAINER_INNER ? ", " : "",
                         buffer->record->outer != CONTAINER_INNER ? buffer_kind(buffer) : "");
        if (fifo->closed) fprintf(to, "%*s closed: no more come\n", NAME_COLUMNS, "");
    }
}

void prt_debug_show_ports(struct prt_debugger *d, FILE *to)
{
    for (uint32_t i = 0; i < d->container->buffer_count; i++) {
        const struct prt_buffer *buffer = &d->sched->buffers[i];
        if (buffer->port == NULL) continue;
        bool in = buffer->record->outer == CONTAINER_OUTER_IN;
        prt_text_cell(to, debug_buffer_name(d, i), NAME_COLUMNS);
        prt_debugger_say(to, " %s %s: %" PRIu64 " packet%s %s the host%s%s\n",
                         debug_text(d, buffer->record->type_text), buffer_kind(buffer),
                         buffer->port->packets, plural(buffer->port->packets), in ? "from" : "to",
                         in && buffer->fifo->closed ? "; its stream has ended" : "",
                         buffer->core->gone ? "; the host wants no more" : "");
    }
}

void prt_debug_show_cycles(struct prt_debugger *d, FILE *to)
{
    struct prt_run_statistics s;
    prt_run_statistics(d->run, &s);
    fprintf(to,
            "cycle %" PRIu64 ": %" PRIu64 " of execution, %" PRIu64 " of launches, %" PRIu64
            " of switches, %" PRIu64 " of the scheduler\n",
            s.total_cycles, s.execute_cycles, s.launch_cycles, s.switch_cycles, s.scheduler_cycles);
    fprintf(to, "%" PRIu64 " instruction%s, %" PRIu64 " dispatch%s\n", s.instructions,
            plural(s.instructions), s.dispatches, s.dispatches == 1 ? "" : "es");
}

enum { ARGUMENT_VALUES_SHOWN = 16 };

/* Those of the pipeline, as they were given. */
static void print_arguments(const struct prt_debugger *d, FILE *to)
{
    char value[64];
    for (uint32_t i = 0; i < d->container->argument_count; i++) {
        const struct container_argument *a = &d->container->arguments[i];
        enum scalar_type scalar = (enum scalar_type)a->scalar;
        const uint8_t *at = d->run->arguments.block + a->offset_bytes;
        prt_debugger_say(to, "argument %s: %s =", debug_text(d, a->name),
                         debug_text(d, a->type_text));
        for (uint64_t k = 0; k < a->count && k < ARGUMENT_VALUES_SHOWN; k++) {
            scalar_format(scalar, prt_debug_scalar_bits(a->scalar, at), value, sizeof value);
            prt_debugger_say(to, "%s %s", k > 0 ? "," : "", value);
            at += scalar_width_bytes(scalar);
        }
        prt_debugger_say(to, a->count > ARGUMENT_VALUES_SHOWN ? ", ...\n" : "\n");
    }
}

void prt_debug_show_program(struct prt_debugger *d, FILE *to)
{
    struct prt_program_information p;
    prt_program_information(d->run->program, &p);
    prt_debugger_say(to, "pipeline '%s' for device '%s' (%s, by %s)\n", p.name, p.device, p.isa,
                     p.compiler);
    prt_debugger_say(to, "compiled %s\n",
                     prt_debug_mode(d->container)
                         ? "for debugging: minimum depths, variables, statements"
                         : "without --debug-mode: no state, tables and arguments, no statements");
    prt_debugger_say(to,
                     "%" PRIu32 " stage%s, %" PRIu32 " buffer%s of %" PRIu64 " byte%s, %" PRIu32
                     " port%s, %" PRIu32 " bytes of scheduler program\n",
                     p.stage_count, plural(p.stage_count), p.buffer_count, plural(p.buffer_count),
                     p.memory_bytes, plural(p.memory_bytes), p.port_count, plural(p.port_count),
                     d->container->code_bytes);
    print_arguments(d, to);
}

/* ---- the scheduler program ---- */

/* Its text; instruction n is the n-th line that begins with blanks. */
static char *program_text(const struct prt_container *c)
{
    struct memory_text text;
    struct sched_error unheard;
    struct sched_set *sets = calloc((size_t)c->set_count + 1, sizeof *sets);
    bool begun = sets != NULL && memory_text_begin(&text);
    for (uint32_t i = 0; sets != NULL && i < c->set_count; i++)
        sets[i] = (struct sched_set){(uint32_t *)(uintptr_t)c->sets[i].stages, c->sets[i].count};
    const struct sched_program program = {c->stage_count, sets, c->set_count,
                                          (uint8_t *)(uintptr_t)c->code, c->code_bytes};
    bool done = begun && sched_disassemble(text.file, &program, &unheard);
    free(sets);
    char *whole = begun ? memory_text_end(&text, NULL) : NULL;
    if (done) return whole;
    free(whole);
    return NULL;
}

enum prt_status prt_debug_disassemble(struct prt_debugger *d, bool all, FILE *to,
                                      struct prt_error *error)
{
    char *text = program_text(d->container);
    if (text == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    uint32_t present = d->sched->core->instruction, number = 0;
    for (char *line = text; *line != '\0';) {
        char *end = line + strcspn(line, "\n");
        bool is_instruction = line[0] == ' ';
        bool near =
            number + INSTRUCTIONS_AROUND >= present && number <= present + INSTRUCTIONS_AROUND;
        if (*end == '\n') *end++ = '\0';
        if (all || (near && line[0] != '.'))
            fprintf(to, "%s %s\n", is_instruction && number == present ? "=>" : "  ", line);
        number += is_instruction;
        line = end;
    }
    free(text);
    return PRT_OK;
}
