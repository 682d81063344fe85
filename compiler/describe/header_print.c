/* SPDX-License-Identifier: MIT */
/* header_print: the contract is in header_print.h. */
#include "compiler/describe/header_print.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/plural.h"

/* ---- names ---- */

/* The name without its folder and ending: "fir" of "dsp/fir.pipe". */
static const char *file_stem(struct arena *arena, const char *source)
{
    const char *slash = strrchr(source, '/'), *name = slash != NULL ? slash + 1 : source;
    const char *dot = strrchr(name, '.');
    if (*name == '<') return "kernels"; /* standard input */
    return arena_string(arena, name,
                        dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name));
}

static void print_guard(FILE *to, const char *stem)
{
    fputs("PIPE_", to);
    for (; *stem != '\0'; stem++)
        putc(isalnum((unsigned char)*stem) ? toupper((unsigned char)*stem) : '_', to);
    fputs("_H", to);
}

/* ---- types ---- */

static const char *c_name_of(enum scalar_type scalar)
{
    static const char *const names[] = {
        [SCALAR_BOOL] = "bool",    [SCALAR_I8] = "int8_t",     [SCALAR_U8] = "uint8_t",
        [SCALAR_I16] = "int16_t",  [SCALAR_U16] = "uint16_t",  [SCALAR_I32] = "int32_t",
        [SCALAR_U32] = "uint32_t", [SCALAR_I64] = "int64_t",   [SCALAR_U64] = "uint64_t",
        [SCALAR_F16] = "uint16_t", [SCALAR_BF16] = "uint16_t", [SCALAR_F32] = "float",
        [SCALAR_F64] = "double",
    };
    return names[scalar];
}

static void print_c_base(FILE *to, const struct type *type)
{
    const struct type *base = type_base(type);
    if (base->kind == TYPE_STRUCT)
        fprintf(to, "struct %s", base->name);
    else
        fputs(c_name_of(base->scalar), to);
}

static void print_lengths(FILE *to, const struct type *type)
{
    for (; type_is_indexed(type); type = type->element)
        fprintf(to, "[%" PRIu64 "]", type->length);
}

/* `const float *x`, `const float (*x)[4]`: packets one after the other. */
static void print_window(FILE *to, const struct type *type, const char *name, bool is_out)
{
    fputs(is_out ? "" : "const ", to);
    print_c_base(to, type);
    fprintf(to, type_is_indexed(type) ? " (*%s)" : " *%s", name);
    print_lengths(to, type);
}

/* Halves are passed as the floats that they are computed in, arrays and vectors as a pointer to their first item. */
static void print_argument(FILE *to, const struct variable *argument)
{
    if (type_is_scalar(argument->type))
        fprintf(to, "%s %s",
                type_is_half(argument->type) ? "float" : c_name_of(argument->type->scalar),
                argument->name);
    else
        print_window(to, argument->type->element, argument->name, false);
}

/* ---- structs: each before those that have it as a field ---- */

struct printed_structs {
    struct arena *arena;
    VEC(const struct type *) items;
};

static void print_c_struct(FILE *to, struct printed_structs *printed, const struct type *type)
{
    type = type_base(type);
    if (type->kind != TYPE_STRUCT) return;
    for (size_t i = 0; i < printed->items.count; i++)
        if (printed->items.items[i] == type) return;
    for (uint32_t i = 0; i < type->field_count; i++)
        print_c_struct(to, printed, type->fields[i].type);
    vec_push(printed->arena, &printed->items, type);
    fprintf(to, "\nstruct %s {\n", type->name);
    for (uint32_t i = 0; i < type->field_count; i++) {
        fputs("    ", to);
        print_c_base(to, type->fields[i].type);
        fprintf(to, " %s", type->fields[i].name);
        print_lengths(to, type->fields[i].type);
        fputs(";\n", to);
    }
    fputs("};\n", to);
}

static void print_structs(FILE *to, struct printed_structs *printed, const struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->in_count; i++)
        print_c_struct(to, printed, kernel->in[i].type);
    for (uint32_t i = 0; i < kernel->out_count; i++)
        print_c_struct(to, printed, kernel->out[i].type);
}

/* ---- functions ---- */

enum section { SECTION_RUN, SECTION_INIT, SECTION_FINISH, SECTIONS };
static const char *const section_names[SECTIONS] = {"run", "init", "finish"};

static bool has_section(const struct kernel *kernel, enum section section)
{
    return section == SECTION_RUN || (section == SECTION_INIT && kernel->init != NULL) ||
           (section == SECTION_FINISH && kernel->finish != NULL);
}

static bool is_port_counted(const struct kernel_port *port, enum section section)
{
    return section == SECTION_FINISH || port->push_least != port->push;
}

static void print_function(FILE *to, const struct kernel *kernel, enum section section)
{
    const char *before = "";
    fprintf(to, "int32_t %s_%s(", kernel->name, section_names[section]);
    if (kernel->foreign->state_bytes > 0) {
        fputs("void *state", to);
        before = ", ";
    }
    bool reads = section == SECTION_RUN || (section == SECTION_FINISH && kernel->in_count == 1);
    for (uint32_t i = 0; reads && i < kernel->in_count; i++, before = ", ") {
        fputs(before, to);
        print_window(to, kernel->in[i].type, kernel->in[i].name, false);
        if (section == SECTION_FINISH) fprintf(to, ", uint64_t %s_left", kernel->in[i].name);
    }
    for (uint32_t i = 0; section != SECTION_INIT && i < kernel->out_count; i++, before = ", ") {
        fputs(before, to);
        print_window(to, kernel->out[i].type, kernel->out[i].name, true);
        if (is_port_counted(&kernel->out[i], section))
            fprintf(to, ", uint64_t *%s_count", kernel->out[i].name);
    }
    for (uint32_t i = 0; i < kernel->argument_count; i++, before = ", ") {
        fputs(before, to);
        print_argument(to, kernel->arguments[i]);
    }
    fputs(*before == '\0' ? "void)" : ")", to);
}

/* ---- the header ---- */

static void print_comments(FILE *to, const struct kernel *kernel)
{
    fprintf(to, "\n/* %s\n", kernel->name);
    for (uint32_t i = 0; i < kernel->in_count; i++)
        fprintf(to, " *   %s: a firing sees %" PRIu64 " packet%s, and consumes %" PRIu64 "\n",
                kernel->in[i].name, kernel->in[i].peek, plural(kernel->in[i].peek),
                kernel->in[i].pop);
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (port->push_least == port->push)
            fprintf(to, " *   %s: a firing writes %" PRIu64 " packet%s\n", port->name, port->push,
                    plural(port->push));
        else
            fprintf(to,
                    " *   %s: a firing writes %" PRIu64 " to %" PRIu64
                    " packets, and their number to *%s_count\n",
                    port->name, port->push_least, port->push, port->name);
    }
    if (kernel->foreign->state_bytes > 0)
        fprintf(to, " *   state: %" PRIu64 " bytes, aligned to 64, zero before 'init'\n",
                kernel->foreign->state_bytes);
    if (kernel->foreign->finishes)
        fprintf(to,
                " *   finish: at the end of the stream; %" PRIu64 " packets at most to each port\n",
                kernel->foreign->finish_packets);
    fputs(kernel->foreign->pure ? " *   pure: several threads may fire it at a time; it keeps "
                                  "nothing but its state */\n"
                                : " *   its firings follow one another */\n",
          to);
}

static void print_c_kernel(FILE *to, const struct kernel *kernel)
{
    print_comments(to, kernel);
    fprintf(to,
            "__attribute__((weak)) extern const char %s_signature[];\n"
            "const char %s_signature[] =\n    ",
            kernel->name, kernel->name);
    /* It has names, numbers and signs only, nothing to be escaped. */
    fprintf(to, "\"%s\";\n", kernel->foreign->signature);
    if (kernel->foreign->state_bytes > 0)
        fprintf(to, "enum { %s_state_bytes = %" PRIu64 " };\n", kernel->name,
                kernel->foreign->state_bytes);
    for (int section = 0; section < SECTIONS; section++) {
        if (!has_section(kernel, (enum section)section)) continue;
        print_function(to, kernel, (enum section)section);
        fputs(";\n", to);
    }
}

void header_print(FILE *to, const struct compile *cx, const char *source)
{
    const char *stem = file_stem(cx->arena, source);
    struct printed_structs printed = {.arena = cx->arena};
    fprintf(to, "/* The extern kernels of %s.pipe, by 'pipec --emit=header'. */\n#ifndef ", stem);
    print_guard(to, stem);
    fputs("\n#define ", to);
    print_guard(to, stem);
    fputs("\n\n#include <stdbool.h>\n#include <stdint.h>\n\n"
          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
          "/* Every function returns 0, or another number as a fault.  The firing of a source "
          "returns PIPE_STOP at\n"
          " * the end of its stream. */\n"
          "#ifndef PIPE_STOP\n#define PIPE_STOP (-1)\n#endif\n",
          to);
    for (size_t i = 0; i < cx->foreign_kernels.count; i++)
        print_structs(to, &printed, cx->foreign_kernels.items[i]);
    for (size_t i = 0; i < cx->foreign_kernels.count; i++)
        print_c_kernel(to, cx->foreign_kernels.items[i]);
    fputs("\n#ifdef __cplusplus\n}\n#endif\n#endif\n", to);
}

/* ---- the skeleton ---- */

static void print_unused_arguments(FILE *to, const struct kernel *kernel, enum section section)
{
    if (kernel->foreign->state_bytes > 0) fputs("    (void)state;\n", to);
    bool reads = section == SECTION_RUN || (section == SECTION_FINISH && kernel->in_count == 1);
    for (uint32_t i = 0; reads && i < kernel->in_count; i++) {
        fprintf(to, "    (void)%s;\n", kernel->in[i].name);
        if (section == SECTION_FINISH) fprintf(to, "    (void)%s_left;\n", kernel->in[i].name);
    }
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        fprintf(to, "    (void)%s;\n", kernel->arguments[i]->name);
}

static void print_zeros(FILE *to, const struct kernel *kernel, enum section section)
{
    for (uint32_t i = 0; section != SECTION_INIT && i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        uint64_t packets = section == SECTION_FINISH ? 0 : port->push_least;
        if (packets > 0)
            fprintf(to, "    memset(%s, 0, %" PRIu64 " * sizeof *%s);\n", port->name, packets,
                    port->name);
        else
            fprintf(to, "    (void)%s;\n", port->name);
        if (is_port_counted(port, section))
            fprintf(to, "    *%s_count = %" PRIu64 ";\n", port->name, packets);
    }
}

void skeleton_print(FILE *to, const struct compile *cx, const char *source)
{
    const char *stem = file_stem(cx->arena, source);
    fprintf(to,
            "/* The extern kernels of %s.pipe, by 'pipec --emit=skeleton': they write zeros so "
            "far. */\n"
            "#include \"%s.h\"\n\n#include <string.h>\n",
            stem, stem);
    for (size_t i = 0; i < cx->foreign_kernels.count; i++) {
        const struct kernel *kernel = cx->foreign_kernels.items[i];
        for (int section = 0; section < SECTIONS; section++) {
            if (!has_section(kernel, (enum section)section)) continue;
            fputc('\n', to);
            print_function(to, kernel, (enum section)section);
            fputs("\n{\n", to);
            print_unused_arguments(to, kernel, (enum section)section);
            print_zeros(to, kernel, (enum section)section);
            bool ends = section == SECTION_RUN && kernel->in_count == 0;
            fputs(ends ? "    return PIPE_STOP;\n}\n" : "    return 0;\n}\n", to);
        }
    }
}
