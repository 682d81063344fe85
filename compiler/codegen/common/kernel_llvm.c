/* SPDX-License-Identifier: MIT */
/* The emitter's life: from the graph's kernels to a module, to optimised code, to an object file. */
#include "compiler/codegen/common/kernel_llvm.h"

#include <inttypes.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/common/kernel_foreign.h"
#include "compiler/codegen/common/kernel_gather.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_query.h"
#include "compiler/codegen/common/kernel_threads.h"
#include "compiler/codegen/common/kernel_unroll.h"
#include "compiler/codegen/common/source_map.h"
#include "compiler/context/phase_times.h"
#include "compiler/target/target.h"

/* ---- LLVM's own errors ---- */

static void fatal_error(const char *reason)
{
    kernel_internal_error(reason);
}

static void note_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
    struct kernel_emitter *e = context;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    diag_report(e->cx->diags, RULE_CODEGEN, e->graph->span, "LLVM: %s", text);
    LLVMDisposeMessage(text);
}

/* Reports and disposes of `text`, which may be NULL. */
static bool report_llvm(struct kernel_emitter *e, const char *what, char *text)
{
    struct diag *diag = diag_report(e->cx->diags, RULE_CODEGEN, e->graph->span, "%s", what);
    if (text != NULL && diag != NULL) diag_note(diag, "%s", text);
    LLVMDisposeMessage(text);
    return false;
}

/* ---- the target ---- */

static LLVMCodeGenOptLevel codegen_level(int optimisation)
{
    switch (optimisation) {
    /* Not None: LLVM's fast instruction selector folds the load of an f32 into a blend of 16 bytes,
     * which reads beyond the window. */
    case 0:
    case 1: return LLVMCodeGenLevelLess;
    case 2: return LLVMCodeGenLevelDefault;
    default: return LLVMCodeGenLevelAggressive;
    }
}

static bool create_machine(struct kernel_emitter *e)
{
    LLVMTargetRef target;
    char *text = NULL;
    e->code->register_target();
    if (LLVMGetTargetFromTriple(e->code->triple, &target, &text))
        return report_llvm(
            e, arena_printf(e->scratch, "this LLVM has no code generator for %s", e->code->name),
            text);
    e->machine = LLVMCreateTargetMachine(target, e->code->triple, e->isa.cpu, e->isa.extra,
                                         codegen_level(e->cx->options.optimisation), LLVMRelocPIC,
                                         LLVMCodeModelDefault);
    return e->machine != NULL || report_llvm(e, "LLVM refuses the target machine", NULL);
}

/* ---- begin and end ---- */

static void create_types(struct kernel_emitter *e)
{
    e->pointer = LLVMPointerTypeInContext(e->context, 0);
    e->i1 = LLVMInt1TypeInContext(e->context);
    e->i8 = LLVMInt8TypeInContext(e->context);
    e->i16 = LLVMInt16TypeInContext(e->context);
    e->i32 = LLVMInt32TypeInContext(e->context);
    e->i64 = LLVMInt64TypeInContext(e->context);
    e->f32 = LLVMFloatTypeInContext(e->context);
    e->f64 = LLVMDoubleTypeInContext(e->context);
}

static void create_metadata(struct kernel_emitter *e)
{
    static const char weights[] = "branch_weights", invariant[] = "invariant.load", prof[] = "prof";
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(e->context, weights, strlen(weights)),
                               LLVMValueAsMetadata(LLVMConstInt(e->i32, 1, 0)),
                               LLVMValueAsMetadata(LLVMConstInt(e->i32, 1048575, 0))};
    e->unlikely = LLVMMDNodeInContext2(e->context, parts, 3);
    e->empty_node = LLVMMDNodeInContext2(e->context, NULL, 0);
    e->invariant_kind =
        LLVMGetMDKindIDInContext(e->context, invariant, (unsigned)strlen(invariant));
    e->prof_kind = LLVMGetMDKindIDInContext(e->context, prof, (unsigned)strlen(prof));
}

static bool emitter_begin(struct kernel_emitter *e, struct compile *cx, const struct graph *graph,
                          const struct instruction_set *isa, struct place_table *places)
{
    *e = (struct kernel_emitter){
        .cx = cx, .graph = graph, .isa = *isa, .places = places, .scratch = arena_create()};
    e->code = isa->code;
    e->uncounted = !target_of(cx->device)->counts_cycles || isa->code->threads;
    LLVMInstallFatalErrorHandler(fatal_error);
    e->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(e->context, note_diagnostic, e);
    e->builder = LLVMCreateBuilderInContext(e->context);
    e->module = LLVMModuleCreateWithNameInContext(graph->name, e->context);
    create_types(e);
    create_metadata(e);
    e->code->mark_module(e);
    if (!create_machine(e)) return false;
    LLVMSetTarget(e->module, e->code->triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(e->machine);
    LLVMSetModuleDataLayout(e->module, layout);
    LLVMDisposeTargetData(layout);
    return true;
}

/* ---- variants ---- */

/* By out-port of the kernel: is it bound to an out-port of the pipeline, and has its packets NaNs, which reach that port in
 * canonical form, or bytes between fields, which reach it as zeros? */
static bool *canonical_ports(struct kernel_emitter *e, const struct graph_node *node)
{
    bool *canonical = ARENA_ARRAY(e->scratch, bool, node->kernel->out_count + 1u);
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *output = &node->outputs.items[i];
        const struct type *type = node->kernel->out[output->kernel_port].type;
        if (!type->has_floats && !type->has_padding) continue;
        if (e->graph->buffers.items[output->buffer].outer == GRAPH_OUTER_OUT) {
            canonical[output->kernel_port] = true;
        }
    }
    return canonical;
}

/* Row length of the buffers that the 2-D windows of the node look at, the same for all; or 0. */
static uint64_t window_rows(const struct kernel_emitter *e, const struct graph_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *input = &node->inputs.items[i];
        if (node->kernel->in[input->kernel_port].window_width == 0) continue;
        return e->graph->buffers.items[input->buffer].shape.row_packets;
    }
    return 0;
}

static uint32_t find_variant(struct kernel_emitter *e, const struct graph_node *node)
{
    bool *canonical = canonical_ports(e, node);
    uint64_t row_packets = window_rows(e, node);
    /* A bundle may make the maximum of an output larger than its kernel's. */
    uint64_t *most = ARENA_ARRAY(e->scratch, uint64_t, node->outputs.count + 1);
    for (size_t i = 0; i < node->outputs.count; i++)
        most[i] = node->outputs.items[i].push;
    size_t most_bytes = node->outputs.count * sizeof *most;
    size_t size = node->kernel->out_count * sizeof *canonical;
    struct graph_warp warp = node->warp;
    for (size_t i = 0; i < e->variants.count; i++) {
        const struct kernel_variant *variant = &e->variants.items[i];
        if (variant->kernel != node->kernel || variant->row_packets != row_packets) continue;
        if (variant->warp.counted != warp.counted || variant->stateful != node->stateful) continue;
        if (memcmp(variant->most, most, most_bytes) != 0) continue;
        if (size == 0 || memcmp(variant->canonical, canonical, size) == 0) return variant->id;
    }
    uint32_t id = (uint32_t)e->variants.count;
    struct kernel_variant variant = {.kernel = node->kernel,
                                     .canonical = canonical,
                                     .most = most,
                                     .row_packets = row_packets,
                                     .warp = warp,
                                     .lane_count = e->cx->device != NULL ? e->cx->device->lanes : 1,
                                     .stateful = node->stateful,
                                     .id = id};
    vec_push(e->scratch, &e->variants, variant);
    return id;
}

/* A child may write to out-ports of the pipeline, whichever kernel launches it. */
static uint32_t add_child(struct kernel_emitter *e, struct kernel *kernel)
{
    bool *canonical = ARENA_ARRAY(e->scratch, bool, kernel->out_count + 1u);
    for (uint32_t i = 0; i < kernel->out_count; i++)
        canonical[i] = kernel->out[i].type->has_floats || kernel->out[i].type->has_padding;
    uint32_t id = (uint32_t)e->variants.count;
    uint32_t lanes = e->cx->device != NULL ? e->cx->device->lanes : 1;
    struct kernel_variant variant = {.kernel = kernel,
                                     .canonical = canonical,
                                     .warp = cost_warp_of(kernel, false, e->cx->device),
                                     .lane_count = lanes,
                                     .id = id};
    vec_push(e->scratch, &e->variants, variant);
    return id;
}

/* ---- the module ---- */

void kernel_text_attribute(struct kernel_emitter *e, LLVMValueRef function, const char *name,
                           const char *value)
{
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name),
                                                      value, (unsigned)strlen(value)));
}

static void verify_module(struct kernel_emitter *e)
{
    char *text = NULL;
    if (LLVMVerifyModule(e->module, LLVMReturnStatusAction, &text)) kernel_internal_error(text);
    LLVMDisposeMessage(text);
}

/* Switches of LLVM that only its command line has:
 *   - Its SLP vectoriser (19 to 22 at least) narrows negative integers that are then converted to floats as unsigned
 *     ones, which gives other values (tests/lang/unsigned_to_float.pipe).  Pipelines of passes contain it whatever their
 *     options say.
 *   - Its scheduler compares each access of a block to memory with all others, up to 1000 of them.  The blocks of a
 *     fused stage with 256 outputs have as many, and half of their machine code's time went there. */
static void set_switches(void)
{
    static bool done;
    static const char *const arguments[] = {"pipec", "-vectorize-slp=false",
                                            "-dag-maps-huge-region=200"};
    if (!done) LLVMParseCommandLineOptions(3, arguments, NULL);
    done = true;
}

/* Reports a step of LLVM that works on the whole module. */
static void begin_module_step(struct kernel_emitter *e, const char *doing)
{
    size_t count = e->variants.count;
    struct span at = count == 1 ? e->variants.items[0].kernel->span : e->graph->span;
    e->watch->begins(e->watch->data, at,
                     arena_printf(e->scratch, "%s %s for %s", doing,
                                  arena_counted(e->scratch, count, "kernel"), e->isa.name));
}

static uint64_t count_instructions(const struct kernel_emitter *e)
{
    uint64_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f))
        count += kernel_count_instructions(f);
    return count;
}

static void count_work(struct kernel_emitter *e)
{
    uint64_t built = count_instructions(e);
    e->written_instructions = built + e->added_instructions;
    if (e->cx->times == NULL) return;
    phase_count(e->cx, COUNT_BUILT, built);
    phase_count(e->cx, COUNT_WRITTEN_OUT, e->written_instructions);
}

/* LLVM instructions, with loops written out, up to which a program gets all of LLVM's passes. */
enum { ALL_PASSES_INSTRUCTIONS_MAX = 65536 };

static bool is_large(const struct kernel_emitter *e)
{
    return e->written_instructions > ALL_PASSES_INSTRUCTIONS_MAX;
}

/* Equal functions become one: a chain of equal stages is fused into parts of equal code.  LLVM's own order of passes
 * repeats most of them up to eight times, each for a little less: a large program gets those that gain most, once or
 * twice. */
static const char *choose_passes(const struct kernel_emitter *e)
{
    static const char few[] =
        "constmerge,mergefunc,function(sroa,early-cse<memssa>,simplifycfg),cgscc(inline),"
        "deadargelim,globaldce,"
        "function(instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),"
        "loop(indvars,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,gvn,dse,"
        "loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,adce)";
    int level = e->cx->options.optimisation;
    if (level >= 1 && is_large(e)) return few;
    return arena_printf(e->scratch, "%sdefault<O%d>", level >= 1 ? "constmerge,mergefunc," : "",
                        level < 0   ? 0
                        : level > 3 ? 3
                                    : level);
}

static bool optimise_module(struct kernel_emitter *e)
{
    set_switches();
    if (is_large(e)) {
        /* Few firings execute the remainders, but LLVM would write out their loops in each
         * kernel. */
        for (size_t i = 0; i < e->remainder_loops.count; i++)
            kernel_leave_loop_alone(e, e->remainder_loops.items[i]);
    }
    begin_module_step(e, "LLVM optimised");
    const char *passes = choose_passes(e);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    enum compile_phase before = phase_begin(e->cx, PHASE_LLVM_OPTIMISE);
    LLVMErrorRef error = LLVMRunPasses(e->module, passes, e->machine, options);
    phase_resume(e->cx, before);
    LLVMDisposePassBuilderOptions(options);
    if (error == NULL) {
        kernel_expand_gathers(e);
        e->code->rewrite_module(e);
        verify_module(e); /* nothing checks the rewritten code after this */
        return true;
    }
    char *text = LLVMGetErrorMessage(error);
    report_llvm(e, "LLVM cannot optimise the kernels", LLVMCreateMessage(text));
    LLVMDisposeErrorMessage(text);
    return false;
}

/* Locals live on the stack of the thread that fires the kernel. */
enum { LOCALS_MAX_BYTES = 1 << 20 };

static void check_locals(struct kernel_emitter *e, const struct ks *code, const char *what,
                         const char *name, struct span span)
{
    uint64_t bytes = kernel_locals_bytes(code);
    if (bytes <= LOCALS_MAX_BYTES) return;
    diag_report(e->cx->diags, RULE_TOO_LARGE, span,
                "the local variables of %s '%s' take %" PRIu64 " bytes, more than %d", what, name,
                bytes, LOCALS_MAX_BYTES);
}

/* A body that asks for an event is on the stack while what it has launched is executed, which may
 * ask in turn. */
static void check_waiting_locals(struct kernel_emitter *e, const struct kernel *kernel)
{
    enum { WAITING_MAX_BYTES = 4 << 20 };
    uint64_t levels = 0, bytes = kernel_locals_bytes(kernel->body), all;
    if (!kernel->launches.waits_done) return;
    for (size_t i = 0; i < e->graph->nodes.count; i++) {
        uint64_t below = e->graph->nodes.items[i].kernel->launches.nesting;
        if (below > levels) levels = below;
    }
    if (!__builtin_mul_overflow(bytes, levels, &all) && all <= WAITING_MAX_BYTES) return;
    diag_report(e->cx->diags, RULE_TOO_LARGE, kernel->span,
                "the local variables of kernel '%s' take %" PRIu64 " bytes, and on %" PRIu64
                " levels it may wait for an event: more than %d bytes",
                kernel->name, bytes, levels, WAITING_MAX_BYTES);
}

static bool check_all_locals(struct kernel_emitter *e)
{
    for (size_t i = 0; i < e->variants.count; i++) {
        const struct kernel *kernel = e->variants.items[i].kernel;
        const struct ks *codes[] = {kernel->init, kernel->body, kernel->finish};
        for (int n = 0; n < 3; n++) {
            check_locals(e, codes[n], "kernel", kernel->name, kernel->span);
        }
        check_waiting_locals(e, kernel);
    }
    for (size_t i = 0; i < e->graph->functions.count; i++) {
        const struct function *f = e->graph->functions.items[i];
        check_locals(e, f->body, "function", f->name, f->span);
    }
    return !diag_failed(e->cx->diags);
}

static bool build_module(struct kernel_emitter *e)
{
    e->node_kernel = ARENA_ARRAY(e->cx->arena, uint32_t, e->graph->nodes.count);
    for (size_t i = 0; i < e->graph->nodes.count; i++) {
        e->node_kernel[i] = find_variant(e, &e->graph->nodes.items[i]);
    }
    size_t children = e->graph->child_kernels, first = e->graph->kernels.count - children;
    e->child_kernel = ARENA_ARRAY(e->cx->arena, uint32_t, children);
    for (size_t i = 0; i < children; i++)
        e->child_kernel[i] = add_child(e, e->graph->kernels.items[first + i]);
    if (!check_all_locals(e) || !kernel_link_bitcode(e)) return false;
    for (size_t i = 0; i < e->variants.count; i++) {
        const struct kernel *kernel = e->variants.items[i].kernel;
        e->watch->begins(e->watch->data, kernel->span,
                         arena_printf(e->scratch, "kernel '%s' was translated for %s", kernel->name,
                                      e->isa.name));
        kernel_emit_variant(e, &e->variants.items[i]);
    }
    kernel_emit_arguments_entry(e);
    if (e->code->threads) kernel_emit_call(e);
    /* Loops must not become calls of the C library. */
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        kernel_text_attribute(e, f, "no-builtin-strlen", "");
        kernel_text_attribute(e, f, "no-builtin-wcslen", "");
        e->code->mark_function(e, f);
    }
    verify_module(e);
    count_work(e);
    if (!optimise_module(e)) return false;
    if (e->cx->times != NULL) phase_count(e->cx, COUNT_OPTIMISED, count_instructions(e));
    return true;
}

/* ---- results ---- */

/* Text, too, is an image for a target that needs no linker: then it ends with a NUL. */
static bool write_module_code(struct kernel_emitter *e, enum kernel_text text_kind,
                              struct kernel_code *code)
{
    bool is_text = text_kind != KERNEL_TEXT_OBJ || e->code->linker_emulation == NULL;
    LLVMCodeGenFileType kind = is_text ? LLVMAssemblyFile : LLVMObjectFile;
    LLVMMemoryBufferRef buffer = NULL;
    char *text = NULL;
    begin_module_step(e, "LLVM wrote machine code of");
    /* Loop strength reduction takes a fifth of the time for many small kernels.  It saves an
     * addition or two a round, and the addresses of x86 contain these anyway.  The last switch
     * given applies. */
    const char *arguments[] = {"pipec", is_large(e) ? "-disable-lsr=true" : "-disable-lsr=false"};
    LLVMParseCommandLineOptions(2, arguments, NULL);
    enum compile_phase before = phase_begin(e->cx, PHASE_LLVM_EMIT);
    LLVMBool failed =
        LLVMTargetMachineEmitToMemoryBuffer(e->machine, e->module, kind, &text, &buffer);
    phase_resume(e->cx, before);
    if (failed) return report_llvm(e, "LLVM cannot generate code for the kernels", text);
    code->size_bytes = LLVMGetBufferSize(buffer);
    code->bytes = arena_copy(e->cx->arena, LLVMGetBufferStart(buffer), code->size_bytes);
    if (e->code->linker_emulation == NULL) {
        char *terminated = arena_alloc(e->cx->arena, code->size_bytes + 1);
        memcpy(terminated, code->bytes, code->size_bytes);
        terminated[code->size_bytes++] = '\0';
        code->bytes = (const unsigned char *)terminated;
    }
    LLVMDisposeMemoryBuffer(buffer);
    return true;
}

static bool make_code(struct kernel_emitter *e, enum kernel_text kind, struct kernel_code *code)
{
    if (!build_module(e)) return false;
    code->node_kernel = e->node_kernel;
    code->child_kernel = e->child_kernel;
    if (kind == KERNEL_TEXT_LLVM) {
        char *text = LLVMPrintModuleToString(e->module);
        code->size_bytes = strlen(text);
        code->bytes = arena_copy(e->cx->arena, text, code->size_bytes);
        LLVMDisposeMessage(text);
        return true;
    }
    return write_module_code(e, kind, code);
}

bool kernel_generate(struct compile *cx, const struct graph *graph,
                     const struct instruction_set *isa, struct place_table *places,
                     enum kernel_text kind, const struct kernel_watch *watch,
                     struct kernel_code *code)
{
    struct kernel_emitter e;
    bool good = emitter_begin(&e, cx, graph, isa, places);
    e.watch = watch;
    good = good && make_code(&e, kind, code) && !diag_failed(cx->diags);
    LLVMDisposeModule(e.module);
    LLVMDisposeBuilder(e.builder);
    if (e.machine != NULL) LLVMDisposeTargetMachine(e.machine);
    LLVMContextDispose(e.context);
    LLVMResetFatalErrorHandler();
    arena_destroy(e.scratch);
    return good;
}
