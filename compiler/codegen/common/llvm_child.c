/* SPDX-License-Identifier: MIT */
/*
 * kernel_compile and kernel_emit: LLVM in a child process (support/child.h), the linker in this one.
 *
 * The child reports each step as it begins, so that the message about a crash has a place. Then it sends the
 * code of each instruction set. Last it sends its diagnostics, the places that the code names, and its times.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "compiler/codegen/common/code_generator.h"
#include "compiler/codegen/common/codegen.h"
#include "compiler/codegen/common/foreign_files.h"
#include "compiler/codegen/common/kernel_llvm.h"
#include "compiler/codegen/common/link.h"
#include "compiler/codegen/common/llvm_load.h"
#include "compiler/codegen/common/source_map.h"
#include "compiler/context/phase_times.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/support/child.h"
#include "compiler/target/target.h"

enum { MESSAGE_NO_LLVM, MESSAGE_BEGINS, MESSAGE_CODE, MESSAGE_FINDINGS };

struct order { /* the task of the child */
    struct compile *cx;
    const struct graph *graph;
    const struct instruction_set *sets;
    uint32_t set_count;
    enum kernel_text kind;
};

struct result { /* as far as the child has reported it */
    struct kernel_code codes[INSTRUCTION_SETS_MAX];
    uint32_t code_count;
    struct parcel_reader findings;
    bool has_findings;
    struct place_table *places;
    struct span at; /* where the child was last */
    const char *doing;
    const char *no_llvm; /* the reason why LLVM cannot be loaded, or NULL */
    bool damaged;
};

/* ---- in the child ---- */

struct worker {
    struct compile cx;
    struct child_line *line;
};

static struct parcel parcel_begin(const struct worker *w)
{
    return (struct parcel){.arena = w->cx.arena};
}

static void tell_begin(void *data, struct span at, const char *doing)
{
    struct worker *w = data;
    struct parcel parcel = parcel_begin(w);
    pack_span(&parcel, at);
    pack_text(&parcel, doing);
    child_send(w->line, MESSAGE_BEGINS, &parcel);
}

static void pack_numbers(struct parcel *parcel, const uint32_t *numbers, size_t count)
{
    pack_number(parcel, count);
    for (size_t i = 0; i < count; i++)
        pack_number(parcel, numbers[i]);
}

static void send_findings(struct worker *w, const struct place_table *places)
{
    struct parcel parcel = parcel_begin(w);
    diag_pack(&parcel, w->cx.diags);
    pack_number(&parcel, places->spans.count);
    for (size_t i = 0; i < places->spans.count; i++)
        pack_span(&parcel, places->spans.items[i]);
    phase_times_pack(&parcel, &w->cx);
    child_send(w->line, MESSAGE_FINDINGS, &parcel);
}

/* The places that the code names are numbered alike for all instruction sets. */
static void work_as_child(struct child_line *line, void *data)
{
    const struct order *order = data;
    struct worker w = {.cx = *order->cx, .line = line};
    const char *no_llvm = llvm_load();
    if (no_llvm != NULL) {
        struct parcel parcel = parcel_begin(&w);
        pack_text(&parcel, no_llvm);
        child_send(line, MESSAGE_NO_LLVM, &parcel);
        return;
    }
    struct kernel_watch watch = {tell_begin, &w};
    w.cx.diags = diags_fork(w.cx.arena, order->cx->diags);
    phase_times_restart(&w.cx);
    struct place_table *places = places_create(w.cx.arena, w.cx.sources);
    bool good = true;
    for (uint32_t i = 0; i < order->set_count && good; i++) {
        struct kernel_code code;
        good = kernel_generate(&w.cx, order->graph, &order->sets[i], places, order->kind, &watch,
                               &code);
        if (good) {
            struct parcel parcel = parcel_begin(&w);
            pack_numbers(&parcel, code.node_kernel, order->graph->nodes.count);
            pack_numbers(&parcel, code.child_kernel, order->graph->child_kernels);
            pack_bytes(&parcel, code.bytes, code.size_bytes);
            child_send(w.line, MESSAGE_CODE, &parcel);
        }
    }
    send_findings(&w, places);
}

/* ---- messages of the child ---- */

static uint32_t *unpack_numbers(struct parcel_reader *reader, size_t count)
{
    if (unpack_count(reader, sizeof(uint64_t)) != count) reader->damaged = true;
    uint32_t *numbers = ARENA_ARRAY(reader->arena, uint32_t, reader->damaged ? 1 : count + 1);
    for (size_t i = 0; i < count && !reader->damaged; i++)
        numbers[i] = unpack_small(reader, UINT32_MAX);
    return numbers;
}

static void take_code(const struct order *order, struct result *result,
                      struct parcel_reader *reader)
{
    if (result->code_count >= order->set_count) {
        reader->damaged = true;
        return;
    }
    struct kernel_code *code = &result->codes[result->code_count++];
    code->node_kernel = unpack_numbers(reader, order->graph->nodes.count);
    code->child_kernel = unpack_numbers(reader, order->graph->child_kernels);
    code->bytes = unpack_bytes(reader, &code->size_bytes);
}

static void take_message(const struct order *order, struct result *result,
                         struct child_message *message)
{
    struct parcel_reader *reader = &message->parcel;
    if (message->kind == MESSAGE_FINDINGS && !result->has_findings) {
        result->findings = *reader;
        result->has_findings = true;
        return;
    }
    switch (message->kind) {
    case MESSAGE_NO_LLVM: result->no_llvm = unpack_text(reader); break;
    case MESSAGE_BEGINS:
        result->at = unpack_span(reader, source_count(order->cx->sources));
        result->doing = unpack_text(reader);
        break;
    case MESSAGE_CODE: take_code(order, result, reader); break;
    default: reader->damaged = true;
    }
    if (reader->damaged || reader->size_bytes > 0) result->damaged = true;
}

/* ---- how it ended ---- */

static struct diag *report_end(struct compile *cx, const struct result *result,
                               const struct child_end *end)
{
    const char *doing = result->doing != NULL ? result->doing : "it began";
    if (end->fate == CHILD_NO_MEMORY)
        return diag_report(cx->diags, RULE_CODEGEN, result->at,
                           "code generation ran out of memory while %s", doing);
    if (end->fate == CHILD_KILLED)
        return diag_report(cx->diags, RULE_CODEGEN, result->at,
                           "code generation was ended by signal %d (%s) while %s", end->number,
                           strsignal(end->number), doing);
    if (end->fate == CHILD_EXITED)
        return diag_report(cx->diags, RULE_CODEGEN, result->at,
                           "code generation ended with status %d while %s", end->number, doing);
    if (end->fate == CHILD_UNHEARD)
        return diag_report(cx->diags, RULE_CODEGEN, result->at,
                           "the connection to code generation was lost (%s) while %s",
                           end->number != 0 ? strerror(end->number) : "its pipe is closed", doing);
    return diag_report(cx->diags, RULE_CODEGEN, result->at,
                       "code generation sent an incomplete result while %s", doing);
}

/* A system that has no memory left sends SIGKILL.  So may a user. */
static bool is_shortage(const struct child_end *end)
{
    return end->fate == CHILD_NO_MEMORY || end->fate == CHILD_UNHEARD ||
           (end->fate == CHILD_KILLED && end->number == SIGKILL);
}

static void tell_end(struct compile *cx, const struct result *result, const struct child_end *end)
{
    struct diag *diag = report_end(cx, result, end);
    if (end->words[0] != '\0') diag_note(diag, "%.*s", (int)strcspn(end->words, "\n"), end->words);
    cx->halt = is_shortage(end) ? HALT_RESOURCES : HALT_INTERNAL;
    if (end->fate == CHILD_UNHEARD)
        diag_help(diag, "compile again: the system has failed, not the program");
    else if (is_shortage(end))
        diag_help(diag, "give it more memory (ulimit -v, the limit of the container), or compile "
                        "for one instruction set and with -O1");
    else
        diag_help(diag, "this is a mistake in pipec or LLVM, not in the program: -O1 may avoid it");
}

static struct child_end converse_with_child(const struct order *order, struct result *result,
                                            struct child *child)
{
    struct child_message message;
    while (!result->damaged && child_receive(child, &message))
        take_message(order, result, &message);
    struct child_end end = child_finish(child);
    if (end.fate == CHILD_ENDED && result->no_llvm == NULL) {
        /* Only after the child has ended does this process know the child's times. */
        struct parcel_reader *reader = &result->findings;
        const struct sources *sources = order->cx->sources;
        diag_unpack(order->cx->diags, reader, sources);
        for (size_t count = unpack_count(reader, sizeof(uint64_t)), i = 0; i < count; i++)
            if (places_add(result->places, unpack_span(reader, source_count(sources))) != i)
                reader->damaged = true;
        phase_times_unpack(order->cx, reader);
        if (reader->damaged || reader->size_bytes > 0) result->damaged = true;
    }
    if (end.fate == CHILD_ENDED && result->damaged) end.fate = CHILD_DAMAGED;
    return end;
}

/* The code of all sets, or a report. */
static bool generate_sets(const struct order *order, struct result *result)
{
    struct compile *cx = order->cx;
    struct child_end end = {.fate = CHILD_ENDED, .words = ""};
    result->places = places_create(cx->arena, cx->sources);
    result->at = order->graph->span;
    enum compile_phase before = phase_begin(cx, PHASE_LLVM_BUILD);
    struct child *child = child_start(cx->arena, work_as_child, (void *)order);
    if (child != NULL) end = converse_with_child(order, result, child);
    phase_resume(cx, before);
    if (child == NULL) {
        diag_report(cx->diags, RULE_CODEGEN, order->graph->span,
                    "cannot start a process for code generation: %s", strerror(errno));
        cx->halt = HALT_RESOURCES;
        return false;
    }
    if (end.fate == CHILD_ENDED && result->no_llvm != NULL) {
        struct diag *diag =
            diag_report(cx->diags, RULE_CODEGEN, order->graph->span,
                        "cannot load LLVM for code generation: %s", result->no_llvm);
        diag_help(diag, "install the LLVM that 'pipec --version' names");
        cx->halt = HALT_RESOURCES;
        return false;
    }
    if (end.fate != CHILD_ENDED)
        tell_end(cx, result, &end);
    else
        fputs(end.words, stderr);
    return !diag_failed(cx->diags) && result->code_count == order->set_count;
}

/* ---- the options ---- */

/* Reads the option; 0 after RULE_CODEGEN. */
static uint32_t read_instruction_sets(struct compile *cx,
                                      struct instruction_set sets[INSTRUCTION_SETS_MAX])
{
    const char *problem, *list = cx->options.isa;
    if (list == NULL) list = target_of(cx->device)->instruction_sets;
    uint32_t count = instruction_sets_read(cx->arena, list, sets, &problem);
    if (count > 0) return count;
    diag_report(cx->diags, RULE_CODEGEN, (struct span){0}, "instruction sets: %s", problem);
    return 0;
}

/* ---- results ---- */

/* The extern kernel that a GPU would have to execute. */
static bool refuse_foreign(struct compile *cx, const struct graph *graph,
                           const struct instruction_set *isa)
{
    size_t i = 0;
    while (graph->kernels.items[i]->foreign == NULL)
        i++;
    const struct kernel *kernel = graph->kernels.items[i];
    struct diag *diag =
        diag_report(cx->diags, RULE_CODEGEN, kernel->span,
                    "GPUs (%s) execute no extern kernels: '%s' is one", isa->name, kernel->name);
    diag_help(diag, "compile for 'cpu' or a simulated device, or write the kernel in the language");
    return false;
}

/* Finds the files of extern kernels, if there are some. */
static bool find_foreign(struct compile *cx, const struct graph *graph,
                         const struct instruction_set *sets, uint32_t count)
{
    if (!graph_is_foreign(graph)) return true;
    for (uint32_t i = 0; i < count; i++)
        if (sets[i].code->threads) return refuse_foreign(cx, graph, &sets[i]);
    cx->foreign = foreign_files_find(cx, graph);
    return cx->foreign != NULL;
}

static bool link_object(struct compile *cx, const struct graph *graph,
                        const struct kernel_code *code, const struct instruction_set *isa,
                        struct kernel_object *object)
{
    struct link_bytes bytes = {code->bytes, code->size_bytes};
    bool linked = isa->code->linker_emulation != NULL;
    if (linked && !link_shared_object(cx, isa->code, bytes, &bytes)) return false;
    if (cx->foreign != NULL && !foreign_image_check(cx, graph, cx->foreign, bytes)) return false;
    *object = (struct kernel_object){.bytes = bytes.bytes,
                                     .size_bytes = bytes.size_bytes,
                                     .isa = isa->name,
                                     .kind = isa->code->image_kind,
                                     .features = isa->features};
    return !diag_failed(cx->diags);
}

struct kernel_image *kernel_compile(struct compile *cx, const struct graph *graph)
{
    struct instruction_set sets[INSTRUCTION_SETS_MAX];
    struct result result = {0};
    struct order order = {cx, graph, sets, read_instruction_sets(cx, sets), KERNEL_TEXT_OBJ};
    if (order.set_count == 0 || !find_foreign(cx, graph, sets, order.set_count) ||
        !generate_sets(&order, &result))
        return NULL;
    struct kernel_object *objects = ARENA_ARRAY(cx->arena, struct kernel_object, order.set_count);
    enum compile_phase before = phase_begin(cx, PHASE_LINK);
    bool good = true;
    for (uint32_t i = 0; i < result.code_count && good; i++)
        good = link_object(cx, graph, &result.codes[i], &sets[i], &objects[i]);
    phase_resume(cx, before);
    if (!good) return NULL;
    struct kernel_image *image = ARENA_NEW(cx->arena, struct kernel_image);
    *image = (struct kernel_image){.objects = objects,
                                   .object_count = order.set_count,
                                   .node_kernel = result.codes[0].node_kernel,
                                   .child_kernel = result.codes[0].child_kernel,
                                   .places = result.places};
    return image;
}

/* The first set of a GPU, or one that all of them have. */
static const struct instruction_set *gpu_set(struct compile *cx, struct instruction_set *sets,
                                             uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sets[i].code->threads) return &sets[i];
    instruction_set_for_threads(cx->arena, sets);
    return sets;
}

bool kernel_emit(struct compile *cx, const struct graph *graph, enum kernel_text kind, FILE *to)
{
    struct instruction_set sets[INSTRUCTION_SETS_MAX];
    struct result result = {0};
    uint32_t count = read_instruction_sets(cx, sets);
    if (count == 0) return false;
    const struct instruction_set *set = kind == KERNEL_TEXT_PTX ? gpu_set(cx, sets, count) : sets;
    struct order order = {cx, graph, set, 1, kind};
    if (!find_foreign(cx, graph, set, 1) || !generate_sets(&order, &result)) return false;
    assert(result.codes[0].bytes != NULL);
    size_t size = result.codes[0].size_bytes;
    if (set->code->threads && kind != KERNEL_TEXT_LLVM) size--; /* without the NUL of an image */
    fwrite(result.codes[0].bytes, 1, size, to);
    return !ferror(to);
}
