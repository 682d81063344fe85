/* SPDX-License-Identifier: MIT */
/*
 * kernel_foreign: the functions of an extern kernel (lang/reference.md, "Extern kernels"):
 *
 *     int32_t NAME_run([void *state,] const T *x, .. [uint64_t N,] T *y, [uint64_t *y_count,] .., arguments ..)
 *     int32_t NAME_init(void *state, arguments ..)
 *     int32_t NAME_finish([void *state,] [const T *x, uint64_t x_left,] T *y, uint64_t *y_count, .., arguments ..)
 *
 * describe/header_print.c writes the same as C.  0: done.  Of a source, FOREIGN_STOP ends the stream.
 * Any other value is a fault.
 *
 * A check of purity fires twice: the second time with a copy of the state and other out-windows.  All of these follow
 * the state of the node (foreign_align).
 */
#include "compiler/codegen/common/kernel_foreign.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "compiler/codegen/common/foreign_files.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

enum { ARGUMENTS_MAX = 2048 };

struct foreign_call {
    LLVMValueRef values[ARGUMENTS_MAX];
    LLVMTypeRef types[ARGUMENTS_MAX];
    const char *extensions[ARGUMENTS_MAX]; /* as the C ABI asks of narrow integers; or NULL */
    unsigned count;
};

static void pass_argument(struct foreign_call *call, LLVMValueRef value, const char *extension)
{
    call->values[call->count] = value;
    call->types[call->count] = LLVMTypeOf(value);
    call->extensions[call->count++] = extension;
}

static const char *extension_of(const struct type *type)
{
    if (type->width_bytes >= 4 || scalar_is_float(type->scalar)) return NULL;
    return scalar_is_signed(type->scalar) ? "signext" : "zeroext";
}

/* ---- functions ---- */

static LLVMValueRef declare_foreign(struct kernel_emitter *e, const char *name,
                                    const struct foreign_call *call)
{
    LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
    if (function != NULL) return function;
    LLVMTypeRef type = LLVMFunctionType(e->i32, (LLVMTypeRef *)call->types, call->count, 0);
    function = LLVMAddFunction(e->module, name, type);
    kernel_function_attribute(e, function, "nounwind");
    for (unsigned i = 0; i < call->count; i++)
        if (call->extensions[i] != NULL)
            kernel_parameter_attribute(e, function, i, call->extensions[i]);
    return function;
}

static LLVMValueRef make_call(struct kernel_emitter *e, const char *section,
                              const struct foreign_call *call)
{
    const char *name = arena_printf(e->scratch, "%s_%s", e->body->kernel->name, section);
    LLVMValueRef function = declare_foreign(e, name, call);
    LLVMTypeRef type = LLVMFunctionType(e->i32, (LLVMTypeRef *)call->types, call->count, 0);
    return LLVMBuildCall2(e->builder, type, function, (LLVMValueRef *)call->values, call->count,
                          "foreign");
}

/* ---- operands ---- */

static void pass_arguments(struct kernel_emitter *e, struct foreign_call *call)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct variable *argument = kernel->arguments[i];
        if (type_is_scalar(argument->type))
            pass_argument(call, e->body->argument_values[i], extension_of(argument->type));
        else
            pass_argument(call, kernel_variable_address(e, argument).pointer, NULL);
    }
}

static void pass_state(struct kernel_emitter *e, struct foreign_call *call, LLVMValueRef state)
{
    if (e->body->kernel->foreign->state_bytes > 0) pass_argument(call, state, NULL);
}

static LLVMValueRef foreign_window(struct kernel_emitter *e, bool is_out, uint32_t port)
{
    LLVMValueRef zero = kernel_i64(e, 0);
    return is_out ? kernel_out_packet(e, port, zero, zero).pointer
                  : kernel_in_packet(e, port, zero, zero).pointer;
}

static bool has_packet_count(const struct kernel_emitter *e, const struct kernel_port *port)
{
    return e->body->entry == ENTRY_FINISH || port->push_least != port->push;
}

/* Where the packets of the port are counted. */
static LLVMValueRef port_counter(struct kernel_emitter *e, uint32_t port)
{
    return kernel_array_item(e, e->i64, 1, e->body->out[port].counts, kernel_i64(e, 0));
}

/* ---- what a call has done ---- */

static void check_status(struct kernel_emitter *e, LLVMValueRef status, struct span span)
{
    LLVMValueRef zero = LLVMConstInt(e->i32, 0, 0);
    if (e->body->entry == ENTRY_RUN && e->body->kernel->stops) {
        LLVMBasicBlockRef stop = kernel_block(e, "stops"), go = kernel_block(e, "goes.on");
        LLVMValueRef end = LLVMConstInt(e->i32, (unsigned)FOREIGN_STOP, 1);
        LLVMValueRef stops = LLVMBuildICmp(e->builder, LLVMIntEQ, status, end, "");
        kernel_branch_unlikely(e, stops, stop, go);
        kernel_position(e, stop);
        kernel_leave_batch(e, LLVMConstInt(e->i32, KERNEL_STOPPED, 0));
        kernel_position(e, go);
    }
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntNE, status, zero, "");
    kernel_fault_if(e, bad, KERNEL_FAULT_FOREIGN, span,
                    LLVMBuildSExt(e->builder, status, e->i64, ""), NULL);
}

/* Foreign code has written its packets before they are counted.  If they are more than there is room for, harm has been
 * done already; the report says so. */
static void check_foreign_counts(struct kernel_emitter *e, struct span span)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (!has_packet_count(e, port)) continue;
        bool finishes = e->body->entry == ENTRY_FINISH;
        LLVMValueRef most = kernel_i64(e, finishes ? port->finish_max : port->push);
        LLVMValueRef least = kernel_i64(e, finishes ? 0 : port->push_least);
        LLVMValueRef count = LLVMBuildLoad2(e->builder, e->i64, port_counter(e, i), "count");
        LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGT, count, most, "");
        kernel_fault_if(e, bad, KERNEL_FAULT_PUSH, span, count, most);
        bad = LLVMBuildICmp(e->builder, LLVMIntULT, count, least, "");
        kernel_fault_if(e, bad, KERNEL_FAULT_PUSH, span, count, least);
    }
}

/* ---- firing twice ---- */

static bool checks_purity(const struct kernel_emitter *e)
{
    return e->body->entry == ENTRY_RUN && e->body->kernel->foreign->fires_twice;
}

/* One firing into out-windows and counters; `state`: of it. */
struct firing {
    LLVMValueRef state, *windows, *counters;
};

static struct firing real_firing(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    struct firing f = {.state = e->body->state,
                       .windows = ARENA_ARRAY(e->scratch, LLVMValueRef, kernel->out_count + 1u),
                       .counters = ARENA_ARRAY(e->scratch, LLVMValueRef, kernel->out_count + 1u)};
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        f.windows[i] = foreign_window(e, true, i);
        f.counters[i] = port_counter(e, i);
    }
    return f;
}

/* After the state: a copy of it, then the out-windows.  Counters are on the stack. */
static struct firing second_firing(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    struct firing f = real_firing(e);
    uint64_t at = foreign_align(kernel->foreign->state_bytes);
    f.state = kernel_offset(e, e->builder, e->body->state, at);
    at += foreign_align(kernel->foreign->state_bytes);
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        f.windows[i] = kernel_offset(e, e->builder, e->body->state, at);
        f.counters[i] = kernel_alloca(e, e->i64, "again");
        LLVMBuildStore(e->builder, kernel_i64(e, 0), f.counters[i]);
        at += foreign_align(port->push * port->type->width_bytes);
    }
    return f;
}

static LLVMValueRef fire_foreign(struct kernel_emitter *e, const struct firing *f)
{
    struct foreign_call *call = ARENA_NEW(e->scratch, struct foreign_call);
    const struct kernel *kernel = e->body->kernel;
    pass_state(e, call, f->state);
    for (uint32_t i = 0; i < kernel->in_count; i++)
        pass_argument(call, foreign_window(e, false, i), NULL);
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        pass_argument(call, f->windows[i], NULL);
        if (has_packet_count(e, &kernel->out[i])) pass_argument(call, f->counters[i], NULL);
    }
    pass_arguments(e, call);
    return make_call(e, "run", call);
}

/* Bytes that a firing does not write are the same both times. */
static void clear_windows(struct kernel_emitter *e, const struct firing *f)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        LLVMBuildMemSet(e->builder, f->windows[i], LLVMConstInt(e->i8, 0, 0),
                        kernel_i64(e, port->push * port->type->width_bytes),
                        port->type->alignment_bytes);
    }
}

static void expect_equal_bytes(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b,
                               uint64_t bytes, struct span span)
{
    if (bytes == 0) return;
    LLVMTypeRef params[] = {e->pointer, e->pointer, e->i64};
    LLVMTypeRef type = LLVMFunctionType(e->i32, params, 3, 0);
    LLVMValueRef compare = LLVMGetNamedFunction(e->module, "memcmp");
    if (compare == NULL) compare = LLVMAddFunction(e->module, "memcmp", type);
    LLVMValueRef args[] = {a, b, kernel_i64(e, bytes)};
    LLVMValueRef order = LLVMBuildCall2(e->builder, type, compare, args, 3, "");
    LLVMValueRef bad =
        LLVMBuildICmp(e->builder, LLVMIntNE, order, LLVMConstInt(e->i32, 0, 0), "differs");
    kernel_fault_if(e, bad, KERNEL_FAULT_IMPURE, span, NULL, NULL);
}

static void expect_equal(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b, struct span span)
{
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntNE, a, b, "differs");
    kernel_fault_if(e, bad, KERNEL_FAULT_IMPURE, span, NULL, NULL);
}

static void fire_foreign_twice(struct kernel_emitter *e, const struct ks *s)
{
    const struct kernel *kernel = e->body->kernel;
    struct firing first = real_firing(e), second = second_firing(e);
    uint64_t state_bytes = kernel->foreign->state_bytes;
    if (state_bytes > 0)
        LLVMBuildMemCpy(e->builder, second.state, 8, first.state, 8, kernel_i64(e, state_bytes));
    clear_windows(e, &first);
    clear_windows(e, &second);
    LLVMValueRef status = fire_foreign(e, &first);
    check_status(e, status, s->span);
    check_foreign_counts(e, s->span);
    expect_equal(e, status, fire_foreign(e, &second), s->span);
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (has_packet_count(e, port))
            expect_equal(e, LLVMBuildLoad2(e->builder, e->i64, first.counters[i], ""),
                         LLVMBuildLoad2(e->builder, e->i64, second.counters[i], ""), s->span);
        expect_equal_bytes(e, first.windows[i], second.windows[i],
                           port->push * port->type->width_bytes, s->span);
    }
    expect_equal_bytes(e, first.state, second.state, state_bytes, s->span);
}

/* ---- sections ---- */

static LLVMValueRef call_init(struct kernel_emitter *e)
{
    struct foreign_call *call = ARENA_NEW(e->scratch, struct foreign_call);
    pass_state(e, call, e->body->state);
    pass_arguments(e, call);
    return make_call(e, "init", call);
}

static LLVMValueRef call_finish(struct kernel_emitter *e)
{
    struct foreign_call *call = ARENA_NEW(e->scratch, struct foreign_call);
    const struct kernel *kernel = e->body->kernel;
    pass_state(e, call, e->body->state);
    if (kernel->in_count == 1) {
        pass_argument(call, foreign_window(e, false, 0), NULL);
        pass_argument(call, LLVMBuildLoad2(e->builder, e->i64, e->body->left, "left"), NULL);
    }
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        pass_argument(call, foreign_window(e, true, i), NULL);
        pass_argument(call, port_counter(e, i), NULL);
    }
    pass_arguments(e, call);
    return make_call(e, "finish", call);
}

void kernel_foreign_call(struct kernel_emitter *e, const struct ks *s)
{
    enum kernel_entry_kind entry = e->body->entry;
    if (checks_purity(e)) {
        fire_foreign_twice(e, s);
        return;
    }
    LLVMValueRef status;
    if (entry == ENTRY_RUN) {
        struct firing firing = real_firing(e);
        status = fire_foreign(e, &firing);
    } else {
        status = entry == ENTRY_INIT ? call_init(e) : call_finish(e);
    }
    check_status(e, status, s->span);
    if (entry != ENTRY_INIT) check_foreign_counts(e, s->span);
}

/* ---- bitcode ---- */

static bool report_bitcode(struct kernel_emitter *e, const struct foreign_file *file, char *text)
{
    struct diag *diag = diag_report(e->cx->diags, RULE_CODEGEN, file->span,
                                    "LLVM cannot use the bitcode '%s'", file->name);
    if (text != NULL) diag_note(diag, "%s", text);
    diag_help(diag, "compile it with a clang that is not newer than the LLVM of pipec, which "
                    "'pipec --version' names");
    LLVMDisposeMessage(text);
    return false;
}

static void drop_text_attribute(LLVMValueRef function, const char *name)
{
    LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
                                     (unsigned)strlen(name));
}

static bool link_foreign_file(struct kernel_emitter *e, const struct foreign_file *file)
{
    LLVMModuleRef module = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        (const char *)file->bytes.bytes, file->bytes.size_bytes, file->name);
    bool bad = LLVMParseBitcodeInContext2(e->context, buffer, &module) != 0;
    LLVMDisposeMemoryBuffer(buffer);
    if (bad) return report_bitcode(e, file, NULL);
    char *problem = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &problem)) {
        LLVMDisposeModule(module);
        return report_bitcode(e, file, problem);
    }
    LLVMDisposeMessage(problem);
    const char *triple = e->code->triple;
    if (strncmp(LLVMGetTarget(module), triple, strcspn(triple, "-")) != 0) {
        LLVMDisposeModule(module);
        return report_bitcode(e, file, LLVMCreateMessage("it is for another processor"));
    }
    /* Foreign functions get the instruction set of the image: with another one they could not be inlined, and each image
     * has its own. */
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        drop_text_attribute(f, "target-cpu");
        drop_text_attribute(f, "target-features");
        drop_text_attribute(f, "tune-cpu");
        drop_text_attribute(f, "min-legal-vector-width");
    }
    return LLVMLinkModules2(e->module, module) == 0 || report_bitcode(e, file, NULL);
}

/* Makes the function of a firing internal, so that it cannot collide with one of another file, and has it inlined. */
static void put_in_place(struct kernel_emitter *e, const struct kernel *kernel)
{
    const char *name = arena_printf(e->scratch, "%s_run", kernel->name);
    LLVMValueRef run = LLVMGetNamedFunction(e->module, name);
    if (run == NULL || LLVMIsDeclaration(run)) return;
    LLVMSetLinkage(run, LLVMInternalLinkage);
    static const char *const against[] = {"noinline", "optnone"};
    for (size_t i = 0; i < sizeof against / sizeof *against; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(against[i], strlen(against[i]));
        LLVMRemoveEnumAttributeAtIndex(run, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
    }
    kernel_function_attribute(e, run, "alwaysinline");
}

bool kernel_link_bitcode(struct kernel_emitter *e)
{
    const struct foreign_files *files = e->cx->foreign;
    if (files == NULL) return true;
    for (size_t i = 0; i < files->items.count; i++)
        if (files->items.items[i].kind == FOREIGN_BITCODE &&
            !link_foreign_file(e, &files->items.items[i]))
            return false;
    for (size_t i = 0; i < e->graph->kernels.count; i++)
        if (e->graph->kernels.items[i]->foreign != NULL)
            put_in_place(e, e->graph->kernels.items[i]);
    return true;
}
