/* SPDX-License-Identifier: MIT */
/*
 * Kernels compiled to native code, loaded and executed: what they compute, how they fault, that
 * they vectorise.
 *
 * Windows end at a page that cannot be touched, so that an access past them is a crash.
 */
#include "tests/test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/bodies/range_check.h"
#include "compiler/bodies/amplify.h"
#include "compiler/codegen/common/codegen.h"
#include "lang/index_format.h"
#include "lang/kernel_abi.h"
#include "compiler/support/output.h"
#include "tests/unit/compile_text.h"
#include "tests/unit/kernel_image.h"

/* ---- harness ---- */

struct unit {
    struct text_compile *text;
    struct kernel_image *image;
    void *library;
    int file; /* open as long as the library: dlopen takes libraries of one name for the same */
    const struct graph *graph;
    void *arguments, *tables, *state; /* of node 0 */
    struct kernel_fault fault;
};

static struct text_compile *analysed(const char *text, int optimisation)
{
    struct text_compile *c = text_compile(text);
    c->cx.options.optimisation = optimisation;
    if (c->graph != NULL) {
        amplify_infer_rates(&c->cx, c->graph);
        range_check_bodies(&c->cx, c->graph);
    }
    if (c->graph == NULL || diag_failed(c->cx.diags)) {
        char *messages = text_compile_messages(c);
        print_message("%s", messages);
        free(messages);
        fail();
    }
    return c;
}

static kernel_entry entry_of(const struct unit *u, uint32_t node, const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "pipe_k%u_%s", u->image->node_kernel[node], name);
    union {
        void *object;
        kernel_entry entry;
    } found = {dlsym(u->library, symbol)};
    return found.entry;
}

/* Evaluates the arguments of all nodes; node 0's stay in the unit. */
static int32_t evaluate_arguments(struct unit *u)
{
    void *nodes[16] = {NULL};
    unsigned char pipeline[256] = {0};
    assert_true(u->graph->nodes.count <= 16);
    for (size_t i = 0; i < u->graph->nodes.count; i++) {
        nodes[i] = i == 0 ? u->arguments
                          : kernel_block_create(u->graph->nodes.items[i].kernel->arguments_bytes);
    }
    for (size_t i = 0; i < u->graph->arguments.count; i++) {
        const struct graph_argument *argument = &u->graph->arguments.items[i];
        const struct type *type = argument->variable->type;
        size_t width = scalar_width_bytes(type_base(type)->scalar);
        for (uint64_t k = 0; argument->values != NULL && k < type_scalar_count(type); k++)
            memcpy(pipeline + argument->variable->offset_bytes + k * width,
                   &argument->values[k].bits, width);
    }
    union {
        void *object;
        kernel_arguments_entry entry;
    } found = {dlsym(u->library, "pipe_arguments")};
    assert_non_null(found.object);
    int32_t status = found.entry(pipeline, nodes, &u->fault);
    for (size_t i = 1; i < u->graph->nodes.count; i++)
        free(nodes[i]);
    return status;
}

static void initialise(struct unit *u)
{
    struct kernel_batch batch = {
        .arguments = u->arguments, .tables = u->tables, .state = u->state, .fault = &u->fault};
    kernel_entry init = entry_of(u, 0, "init");
    assert_true((init != NULL) == (u->graph->nodes.items[0].kernel->init != NULL));
    if (init != NULL) assert_int_equal(init(&batch), KERNEL_OK);
}

static struct unit unit_unstarted(struct text_compile *text)
{
    struct unit u = {.text = text, .graph = text->graph};
    u.image = kernel_compile(&text->cx, text->graph);
    if (u.image == NULL) {
        char *messages = text_compile_messages(text);
        print_message("%s", messages);
        free(messages);
        fail();
        abort();
    }
    u.library = kernel_image_open(u.image, &u.file);
    const struct kernel *kernel = u.graph->nodes.items[0].kernel;
    u.arguments = kernel_block_create(kernel->arguments_bytes);
    u.tables = kernel_block_create(kernel->tables_bytes);
    u.state = kernel_block_create(kernel->state_bytes);
    return u;
}

static struct unit unit_at(const char *text, int optimisation)
{
    struct unit u = unit_unstarted(analysed(text, optimisation));
    assert_int_equal(evaluate_arguments(&u), KERNEL_OK);
    initialise(&u);
    return u;
}

static struct unit unit_of(const char *text)
{
    return unit_at(text, 2);
}

static void unit_free(struct unit *u)
{
    dlclose(u->library);
    close(u->file);
    free(u->arguments);
    free(u->tables);
    free(u->state);
    text_compile_free(u->text);
}

static int32_t run_from(struct unit *u, uint64_t first, uint64_t count, const void *const *in,
                        void *const *out)
{
    struct kernel_batch batch = {.arguments = u->arguments,
                                 .tables = u->tables,
                                 .state = u->state,
                                 .in = in,
                                 .out = out,
                                 .first_firing = first,
                                 .count = count,
                                 .fault = &u->fault};
    return entry_of(u, 0, "run")(&batch);
}

static int32_t run1(struct unit *u, uint64_t count, const void *in, void *out)
{
    return run_from(u, 0, count, &in, &out);
}

/* `size` bytes that end where a page begins that cannot be touched. */
struct guarded {
    void *pages, *bytes;
    size_t length;
};

static struct guarded guarded(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (size + page - 1) / page * page;
    struct guarded g = {.length = whole + page};
    g.pages = mmap(NULL, g.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(g.pages, MAP_FAILED);
    assert_int_equal(mprotect((char *)g.pages + whole, page, PROT_NONE), 0);
    g.bytes = (char *)g.pages + whole - size;
    return g;
}

static void guarded_free(struct guarded g)
{
    munmap(g.pages, g.length);
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

/* Node 0, with random packets on all inputs, must give the same bytes at -O0 (firing by firing) and
 * at -O2. */
static void expect_same_at_every_level(const char *text, bool finite)
{
    static const uint64_t counts[] = {1, 7, 8, 9, 63, 64, 65, 77, 200};
    struct unit plain = unit_at(text, 0), fast = unit_at(text, 2);
    const struct graph_node *node = &plain.graph->nodes.items[0];
    uint64_t seed = 88172645463325252u;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct guarded in[8], out[2][8];
        const void *in_bytes[8];
        void *out_bytes[2][8];
        for (size_t i = 0; i < node->inputs.count; i++) {
            const struct graph_input *input = &node->inputs.items[i];
            const struct type *type = node->kernel->in[input->kernel_port].type;
            uint64_t packets = (counts[c] - 1) * input->pop + input->peek;
            in[i] = guarded(packets * type->width_bytes);
            in_bytes[i] = in[i].bytes;
            for (uint64_t n = 0; n < packets * type->width_bytes; n++) {
                ((unsigned char *)in[i].bytes)[n] = (unsigned char)(random_bits(&seed) >> 40);
            }
            bool floats = finite && type->scalar == SCALAR_F32;
            for (uint64_t n = 0; floats && n < packets; n++) {
                ((float *)in[i].bytes)[n] = (float)(int32_t)random_bits(&seed) * 1e-9f;
            }
        }
        for (int level = 0; level < 2; level++) {
            for (size_t i = 0; i < node->outputs.count; i++) {
                const struct graph_output *output = &node->outputs.items[i];
                const struct type *type = node->kernel->out[output->kernel_port].type;
                out[level][i] = guarded(counts[c] * output->push * type->width_bytes);
                out_bytes[level][i] = out[level][i].bytes;
            }
            struct unit *u = level == 0 ? &plain : &fast;
            assert_int_equal(run_from(u, 3, counts[c], in_bytes, out_bytes[level]), KERNEL_OK);
        }
        for (size_t i = 0; i < node->outputs.count; i++) {
            const struct graph_output *output = &node->outputs.items[i];
            const struct type *type = node->kernel->out[output->kernel_port].type;
            assert_memory_equal(out_bytes[0][i], out_bytes[1][i],
                                counts[c] * output->push * type->width_bytes);
            guarded_free(out[0][i]);
            guarded_free(out[1][i]);
        }
        for (size_t i = 0; i < node->inputs.count; i++)
            guarded_free(in[i]);
    }
    unit_free(&plain);
    unit_free(&fast);
}

static char *llvm_of(const char *text)
{
    struct text_compile *c = analysed(text, 2);
    char *ir = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&ir, &size);
    assert_true(kernel_emit(&c->cx, c->graph, KERNEL_TEXT_LLVM, to));
    fclose(to);
    text_compile_free(c);
    return ir;
}

static void expect_in_llvm(const char *text, const char *part)
{
    char *ir = llvm_of(text);
    if (strstr(ir, part) == NULL) print_message("there is no '%s' in\n%s\n", part, ir);
    assert_non_null(strstr(ir, part));
    free(ir);
}

static void expect_same_in_lanes(const char *text, bool finite)
{
    char *ir = llvm_of(text);
    assert_true(strstr(ir, "lanes") != NULL || strstr(ir, "%phases") != NULL);
    free(ir);
    expect_same_at_every_level(text, finite);
}

/* ---- loops over firings ---- */

#define ONE(body)                                                                                  \
    "kernel k(in f32 x, out f32 y) { " body " } pipeline main(in f32 x, out f32 y) { k(x -> y); }"

static const char fir[] =
    "kernel fir<int N>(in f32 x peek N, out f32 y; f32 gain) {"
    "  table f32 taps[N]; init { for (i32 i = 0; i < N; i++) taps[i] = gain / (i + 1); }"
    "  f32 acc = 0; for (i32 i = 0; i < N; i++) acc = fma(x[i], taps[i], acc); y <- acc; }"
    "pipeline main(in f32 x, out f32 y) { fir<64>(x -> y; 0.75); }";

static void pointwise_loops_are_vectors(void **state)
{
    (void)state;
    expect_in_llvm(ONE("y <- x * 3 + 1;"), "fmul <8 x float>");
    expect_in_llvm(ONE("y <- x > 0 ? sqrt(x) : -x;"), "@llvm.sqrt.v8f32");
}

static void library_functions_become_vectors(void **state)
{
    (void)state;
    expect_in_llvm("fn f32 poly(f32 x) { f32 p = 0.5; p = fma(p, x, 0.25); bool low = x < 0.0; "
                   "return low ? -p : p; }" ONE("y <- poly(x) * poly(x + 1);"),
                   "@llvm.fma.v8f32");
}

static void a_fir_filter_has_firings_in_lanes(void **state)
{
    (void)state;
    expect_in_llvm(fir, "@llvm.fma.v64f32");
    expect_in_llvm(fir, "@llvm.fma.v8f32");
}

static void a_fir_filter_has_the_bits_of_its_formula(void **state)
{
    (void)state;
    struct unit u = unit_of(fir);
    for (uint64_t count = 1; count < 150; count += 1 + count / 9) {
        struct guarded x = guarded((count + 63) * 4), y = guarded(count * 4);
        float *in = x.bytes, *out = y.bytes;
        uint64_t seed = count + 1;
        for (uint64_t i = 0; i < count + 63; i++)
            in[i] = (float)(int32_t)random_bits(&seed) * 1e-7f;
        assert_int_equal(run1(&u, count, in, out), KERNEL_OK);
        for (uint64_t n = 0; n < count; n++) {
            float acc = 0;
            for (int i = 0; i < 64; i++)
                acc = fmaf(in[n + (uint64_t)i], 0.75f / (float)(i + 1), acc);
            assert_memory_equal(&acc, &out[n], 4);
        }
        guarded_free(x);
        guarded_free(y);
    }
    unit_free(&u);
}

static void lanes_and_firings_have_the_same_bits(void **state)
{
    (void)state;
    /* Conditions that differ between lanes, masked assignments, uniform ones under them. */
    expect_same_in_lanes("kernel k(in i32 x pop 3 peek 5, out i32 y push 2) { i32 a = 0; i32 b = 7;"
                         "  for (i32 i = 0; i < 5; i++) { i32 v = x[i];"
                         "    if (v > 0) { a += v; for (i32 j = 0; j < 3; j++) b ^= a << j; }"
                         "    else if (v & 1) a -= v; else { i32 t = a; a = b; b = t; }"
                         "    b += (v >> 3) > a ? v : i; }"
                         "  y <- a; y <- b; }"
                         "pipeline main(in i32 x, out i32 y) { k(x -> y); }",
                         false);
    /* Strides: two packets, four packets, more. */
    expect_same_in_lanes(
        "kernel k(in u8 x pop 2 peek 9, in f64 z pop 4, in u16 w pop 7, out f64 y) {"
        "  f64 s = 0; for (i32 i = 0; i < 4; i++)"
        "  s += (f64)(x[i * 2 + 1] ^ 5u) * (i + 1) + (f64)w[i] + (f64)(bits(z[i]) >> 50);"
        "  y <- s; }"
        "pipeline main(in u8 x, in f64 z, in u16 w, out f64 y) { k(x, z, w -> y); }",
        false);
    /* A window read more than once: phases, the last of them shorter. */
    expect_same_in_lanes(
        "kernel k(in f32 x pop 5 peek 23, in i16 z pop 3 peek 6, out f32 y) {"
        "  f32 s = 0; for (i32 i = 0; i < 23; i++) s = fma(x[i], x[22 - i], s) + (f32)z[i / 4];"
        "  y <- s; }"
        "pipeline main(in f32 x, in i16 z, out f32 y) { k(x, z -> y); }",
        true);
    /* Narrow integers that are whole words: as many as there are at most, with a longer window, stored by index. */
    expect_same_in_lanes(
        "kernel k(in u8 x pop 64, in i16 z pop 6 peek 10, in u16 w pop 2 peek 3, out u8 y push 64,"
        "         out i16 v push 10, out i8 u push 20) {"
        "  u32 s = 7; for (i32 i = 0; i < 64; i++) s = s * 31 + (u32)x[63 - i];"
        "  for (i32 i = 0; i < 10; i++) { s ^= (u32)z[i]; v <- (i16)(z[9 - i] - (i16)w[i % 3]); }"
        "  for (i32 i = 0; i < 16; i++) { s = s << 5 | s >> 27;"
        "    for (u32 b = 0; b < 4; b++) y <- (u8)(s >> (8 * b)) ^ x[i]; }"
        "  for (i32 i = 0; i < 20; i += 3) u[i] = (i8)(s >> (u32)i); }"
        "pipeline main(in u8 x, in i16 z, in u16 w, out u8 y, out i16 v, out i8 u) {"
        "  k(x, z, w -> y, v, u); }",
        false);
    /* Table look-up with an index of each lane, local arrays, break in uniform control. */
    expect_same_in_lanes(
        "const u16 SQUARES[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, "
        "225};"
        "kernel k(in u8 x pop 4, out u32 y push 4) { u32 v[4]; u32 w[4] = {1, 2, 3};"
        "  for (i32 i = 0; i < 4; i++) { v[i] = (u32)SQUARES[x[i] & 15u]; if (x[i] > 9u) w[i] += "
        "v[i]; }"
        "  for (i32 i = 0; i < 4; i++) for (i32 j = 0; j + 1 < 4; j++)"
        "    if (v[j] > v[j + 1]) { u32 t = v[j]; v[j] = v[j + 1]; v[j + 1] = t; }"
        "  for (i32 i = 0; i < 9; i++) { if (i == 4) break; y[i] = v[i] * 3u + w[3 - i]; } }"
        "pipeline main(in u8 x, out u32 y) { k(x -> y); }",
        false);
    /* Functions: with loops, with uniform and varying arguments, with arrays. */
    expect_same_in_lanes(
        "fn f32 window(i32 i, i32 n) { return (f32)i / (f32)n; }"
        "fn f32 power(f32 x, i32 n) { f32 r = 1; for (i32 i = 0; i < 4; i++) if (i < n) r *= x; "
        "return r; }"
        "fn f32 pick(f32 v[3], f32 x) { f32 s = 0; for (i32 i = 0; i < 3; i++) s += v[i] * x; "
        "return s; }"
        "kernel k(in f32 x peek 6, out f32 y) { f32 c[3] = {0.5, 0.25, 0.125}; f32 s = 0;"
        "  for (i32 i = 0; i < 6; i++) s += power(x[i], i) * window(i, 6) + pick(c, x[i]);"
        "  y <- s; } pipeline main(in f32 x, out f32 y) { k(x -> y); }",
        true);
    /* Booleans in memory, logical operators, conversions. */
    expect_same_in_lanes(
        "kernel k(in f32 x peek 3, in i8 z, out bool y, out i16 w) { bool any = false; i16 n = 0;"
        "  for (i32 i = 0; i < 3; i++) { any = any || (x[i] < 0.5 && !(x[i] > 0.25)); n += "
        "(i16)x[i]; "
        "    if (any) n += (i16)z; }"
        "  y <- any; w <- n; } pipeline main(in f32 x, in i8 z, out bool y, out i16 w) { k(x, z -> "
        "y, w); }",
        true);
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t count = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        count++;
    return count;
}

/* 64 packets are seen by a firing, 67 by four neighbours: each is loaded once for all of them, in parts of 16 lanes. */
static void firings_of_a_filter_share_what_they_load(void **state)
{
    (void)state;
    char *ir = llvm_of(fir);
    assert_in_range(count_of(ir, "load <16 x float>"), 67, 79);
    free(ir);
}

static void woven_firings_have_the_same_bits(void **state)
{
    (void)state;
    /* Several ports, blocks that are written in order and by index, integers that make words. */
    expect_same_in_lanes(
        "kernel k(in f32 x pop 2 peek 17, in i16 z pop 2 peek 16, out f32 y push 2, out i16 v push "
        "4, out i32 w push 3) {"
        "  f32 s = 0; i32 n = 1;"
        "  for (i32 i = 0; i < 16; i++) { s = fma(x[i], x[16], s); n = n * 7 + (i32)z[i]; }"
        "  y <- s; y <- x[1];"
        "  for (i32 i = 0; i < 4; i++) v <- (i16)(n >> (u32)i);"
        "  w[2] = n; w[0] = n ^ (i32)z[3]; }"
        "pipeline main(in f32 x, in i16 z, out f32 y, out i16 v, out i32 w) { k(x, z -> y, v, w); "
        "}",
        true);
    /* Vectors, conditions of each lane, a window that ends within a tile. */
    expect_same_in_lanes(
        "kernel k(in f32x2 x peek 13, out f32x2 y) { f32x2 s = 0; i32 n = 0;"
        "  for (i32 i = 0; i < 13; i++) { s += x[i] * (f32)(i + 1); if (x[i].x > x[12].y) n += i; }"
        "  y <- f32x2(s.y, s.x - (f32)n); }"
        "pipeline main(in f32x2 x, out f32x2 y) { k(x -> y); }",
        true);
    /* Doubles, of which fewer parts have a register each. */
    expect_same_in_lanes(
        "kernel k(in f64 x peek 9, out f64 y) { f64 s = 0;"
        "  for (i32 i = 0; i < 9; i++) s = fma((f64)(bits(x[i]) >> 40), (f64)(i + 1), s); y <- s; }"
        "pipeline main(in f64 x, out f64 y) { k(x -> y); }",
        false);
    /* Places that differ between lanes, or that are known only in a loop: not woven. */
    expect_same_in_lanes("kernel k(in i32 x peek 40, out i32 y) { i32 s = 0;"
                         "  for (i32 i = 0; i < 40; i++) s = s * 3 + x[i] - x[x[i] & 31]; y <- s; }"
                         "pipeline main(in i32 x, out i32 y) { k(x -> y); }",
                         false);
    expect_same_in_lanes("kernel k(in i32 x peek 300, out i32 y) { i32 s = 0;"
                         "  for (i32 i = 0; i < 300; i++) s = s * 3 + x[i]; y <- s; }"
                         "pipeline main(in i32 x, out i32 y) { k(x -> y); }",
                         false);
}

static void a_rest_of_firings_is_a_block_in_lanes(void **state)
{
    (void)state;
    expect_in_llvm(fir, "%last = ");
    expect_same_in_lanes(
        "kernel k(in i32 x pop 20 peek 23, out i32 y push 2, out bool z) { i32 a = 1; i32 b = 0;"
        "  for (i32 i = 0; i < 23; i++) { a = a * 31 + x[i]; if (x[i] > a) b++; }"
        "  y <- a; y <- b; z <- a > b; }"
        "pipeline main(in i32 x, out i32 y, out bool z) { k(x -> y, z); }",
        false);
}

static void bytes_of_words_are_stored_as_words(void **state)
{
    (void)state;
    expect_in_llvm("kernel k(in u32 x pop 4, out u8 y push 16) {"
                   "  for (i32 i = 0; i < 4; i++) { u32 s = x[i]; s ^= s << 13;"
                   "    for (u32 b = 0; b < 4; b++) y <- (u8)(s >> (8 * b)); } }"
                   "pipeline main(in u32 x, out u8 y) { k(x -> y); }",
                   "store <8 x i32>");
}

static void control_flow_is_the_same_at_every_level(void **state)
{
    (void)state;
    expect_same_at_every_level(
        "kernel k(in u8 x pop 2, out i32 y push 2) { i32 r = 0; i32 n = (i32)(x[0] & 15u);"
        "  switch (x[1]) { case 0: r = 5; case 1: r++; break; case 2: { i32 q = 3; r += q; } "
        "    default: r = -1; if (n > 7) break; r = 9; case 200: r *= 2; }"
        "  i32 i = 0; do { i++; if (i == 3) continue; if (i * i > 90) break; r += i; } while (i < "
        "n);"
        "  for (;;) { if (r < 100) { r = r * 3 + 101; continue; } break; }"
        "  while (r > 1000) r /= 3;"
        "  y <- r; if (r & 1) { y <- 1; return; } y <- n++ + --i; }"
        "pipeline main(in u8 x, out i32 y) { k(x -> y); }",
        false);
    expect_same_at_every_level(
        "fn i32 third(i32 v[3]) { v[0] = 4; return v[0] + v[2]; }"
        "kernel k(in i32 x pop 3, out i32 y push 6) { i32 a[3] = {x[0], x[1]}; i32 "
        "b[2][3];"
        "  b[1] = a; a[2] = x[2]; b[0] = third(a) > 4 ? a : b[1]; i32 i = 0; a[i++] += i; "
        "  y <- a[0]; y <- b[0][2]; y <- b[1][2]; y <- third(b[0]); y <- b[0][0]; y <- i;"
        "}"
        "pipeline main(in i32 x, out i32 y) { k(x -> y); }",
        false);
}

/* ---- integers ---- */

static void integers_wrap(void **state)
{
    (void)state;
    struct unit u =
        unit_of("kernel k(in i32 a, in i32 b, out i32 y push 7) {"
                " y <- a + b; y <- a * b; y <- a / b; y <- a % b; y <- a << b; y <- a >> b;"
                " y <- abs(a); } "
                "pipeline main(in i32 a, in i32 b, out i32 y) { k(a, b -> y); }");
    int32_t a[] = {INT32_MIN, INT32_MAX, -7}, b[] = {-1, 33, 2}, y[21];
    const void *in[] = {a, b};
    void *out[] = {y};
    assert_int_equal(run_from(&u, 0, 3, in, out), KERNEL_OK);
    static const int32_t expected[] = {INT32_MAX,
                                       INT32_MIN,
                                       INT32_MIN,
                                       0,
                                       0,
                                       -1,
                                       INT32_MIN, /**/
                                       INT32_MIN + 32,
                                       2147483615,
                                       INT32_MAX / 33,
                                       INT32_MAX % 33,
                                       -2,
                                       INT32_MAX >> 1,
                                       INT32_MAX,
                                       -5,
                                       -14,
                                       -3,
                                       -1,
                                       -28,
                                       -2,
                                       7};
    assert_memory_equal(y, expected, sizeof expected);
    unit_free(&u);
}

static void narrow_and_unsigned_integers(void **state)
{
    (void)state;
    struct unit u =
        unit_of("kernel k(in i8 a, in u64 b, out i64 y push 6) {"
                " y <- (i64)(a / (i8)-1); y <- (i64)(u8)a; y <- (i64)(b / 3u); y <- (i64)(a << 9);"
                " y <- (i64)min(a, (i8)5); y <- (i64)(b > 9u); }"
                "pipeline main(in i8 a, in u64 b, out i64 y) { k(a, b -> y); }");
    int8_t a[] = {INT8_MIN};
    uint64_t b[] = {UINT64_MAX};
    int64_t y[6];
    const void *in[] = {a, b};
    void *out[] = {y};
    assert_int_equal(run_from(&u, 0, 1, in, out), KERNEL_OK);
    int64_t expected[] = {INT8_MIN, 128, (int64_t)(UINT64_MAX / 3), 0, INT8_MIN, 1};
    assert_memory_equal(y, expected, sizeof expected);
    unit_free(&u);
}

/* ---- floats ---- */

static const float special_floats[] = {
    0.0f,   -0.0f,        1.0f,   -1.0f, 0.5f,     -0.5f,      0.4999999701976776f,
    1.5f,   2.5f,         -2.5f,  3.7f,  -3.7f,    8388607.5f, 8388609.0f,
    1e10f,  -1e10f,       1e-40f, 3e38f, INFINITY, -INFINITY,  NAN,
    4.2e9f, 2147483648.0f};
enum { SPECIALS = sizeof special_floats / sizeof special_floats[0] };

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return x != x ? 0x7fc00000u : bits;
}

static float smaller(float a, float b, bool larger)
{
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return (signbit(a) != 0) != larger ? a : b;
    return (a < b) != larger ? a : b;
}

static void rounding_is_exact(void **state)
{
    (void)state;
    struct unit u =
        unit_of(ONE("y <- floor(x); y <- ceil(x); y <- trunc(x); y <- rint(x); y <- round(x);"
                    "y <- sqrt(x); y <- abs(x); y <- copysign(2, x);"));
    float y[SPECIALS * 8];
    assert_int_equal(run1(&u, SPECIALS, special_floats, y), KERNEL_OK);
    for (int i = 0; i < SPECIALS; i++) {
        float x = special_floats[i];
        float expected[] = {
            floorf(x), ceilf(x), truncf(x), rintf(x),
            roundf(x), sqrtf(x), fabsf(x),  x != x ? y[i * 8 + 7] : copysignf(2, x)};
        for (int n = 0; n < 8; n++)
            assert_int_equal(bits_of(y[i * 8 + n]), bits_of(expected[n]));
    }
    unit_free(&u);
}

static void minimum_and_maximum_ignore_nan_and_order_zeros(void **state)
{
    (void)state;
    struct unit u =
        unit_of("kernel k(in f32 a, in f32 b, out f32 y push 2) { y <- min(a, b); y <- max(a, b); }"
                "pipeline main(in f32 a, in f32 b, out f32 y) { k(a, b -> y); }");
    for (int i = 0; i < SPECIALS; i++) {
        float a[SPECIALS], y[SPECIALS * 2];
        for (int n = 0; n < SPECIALS; n++)
            a[n] = special_floats[i];
        const void *in[] = {a, special_floats};
        void *out[] = {y};
        assert_int_equal(run_from(&u, 0, SPECIALS, in, out), KERNEL_OK);
        for (int n = 0; n < SPECIALS; n++) {
            float b = special_floats[n];
            assert_int_equal(bits_of(y[(size_t)n * 2]), bits_of(smaller(a[n], b, false)));
            assert_int_equal(bits_of(y[n * 2 + 1]), bits_of(smaller(a[n], b, true)));
        }
    }
    unit_free(&u);
}

static void float_to_integer_saturates(void **state)
{
    (void)state;
    struct unit u = unit_of(
        "kernel k(in f32 x, out i64 y push 5) { y <- (i64)(i32)x; y <- (i64)(u8)x; y <- (i64)x;"
        " y <- (i64)(u32)x; y <- (i64)(isnan(x) ? 4 : isinf(x) ? 2 : signbit(x) ? 1 : 0); }"
        "pipeline main(in f32 x, out i64 y) { k(x -> y); }");
    static const float x[] = {NAN, INFINITY, -INFINITY, -3.9f, 300.5f, 3e9f};
    static const int64_t expected[] = {
        0,         0,   0,         0,   4, INT32_MAX, 255, INT64_MAX,  UINT32_MAX, 2,
        INT32_MIN, 0,   INT64_MIN, 0,   2, -3,        0,   -3,         0,          1,
        300,       255, 300,       300, 0, INT32_MAX, 255, 3000000000, 3000000000, 0};
    int64_t y[30];
    assert_int_equal(run1(&u, 6, x, y), KERNEL_OK);
    assert_memory_equal(y, expected, sizeof expected);
    unit_free(&u);
}

/* Sema refuses f16 and bf16 so far: the types of a conversion are replaced after it. */
static struct unit conversion(const char *program, enum scalar_type from, enum scalar_type to)
{
    struct text_compile *c = analysed(program, 2);
    struct kernel *kernel = c->graph->nodes.items[0].kernel;
    struct ks *emission = kernel->body;
    while (emission->kind == KS_BLOCK)
        emission = emission->body;
    assert_int_equal(emission->kind, KS_EMIT);
    assert_int_equal(emission->expr->kind, KX_CONVERT);
    kernel->in[0].type = emission->expr->left->type = type_scalar(c->graph->types, from);
    kernel->out[0].type = emission->expr->type = type_scalar(c->graph->types, to);
    return unit_unstarted(c);
}

enum { HALVES = 65536 };

static void every_half_becomes_its_f32(void **state)
{
    (void)state;
    struct unit u = conversion("kernel k(in u16 x, out f32 y) { y <- (f32)x; }"
                               "pipeline main(in u16 x, out f32 y) { k(x -> y); }",
                               SCALAR_F16, SCALAR_F32);
    struct unit b = conversion("kernel k(in u16 x, out f32 y) { y <- (f32)x; }"
                               "pipeline main(in u16 x, out f32 y) { k(x -> y); }",
                               SCALAR_BF16, SCALAR_F32);
    uint16_t *x = malloc(HALVES * sizeof *x);
    float *y = malloc(HALVES * sizeof *y), *z = malloc(HALVES * sizeof *z);
    for (int i = 0; i < HALVES; i++)
        x[i] = (uint16_t)i;
    assert_int_equal(run1(&u, HALVES, x, y), KERNEL_OK);
    assert_int_equal(run1(&b, HALVES, x, z), KERNEL_OK);
    for (int i = 0; i < HALVES; i++) {
        int exponent = i >> 10 & 31, fraction = i & 1023;
        float value = exponent == 0 ? ldexpf((float)fraction, -24)
                                    : ldexpf((float)(fraction + 1024), exponent - 25);
        if (exponent == 31) value = fraction != 0 ? NAN : INFINITY;
        if (bits_of(y[i]) != bits_of(i >> 15 ? -value : value)) {
            print_message("0x%04x: %a\n", i, (double)y[i]);
        }
        assert_int_equal(bits_of(y[i]), bits_of(i >> 15 ? -value : value));
        bool nan = (i & 0x7fff) > 0x7f80;
        assert_int_equal(bits_of(z[i]), nan ? 0x7fc00000u : (uint32_t)i << 16);
    }
    free(x);
    free(y);
    free(z);
    unit_free(&u);
    unit_free(&b);
}

/* Rounds to `fraction` bits after the point of the leading one, not below 2^(least - fraction),
 * ties to even. */
static double rounded(double x, int fraction, int least)
{
    int exponent;
    frexp(x, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    return ldexp(nearbyint(ldexp(x, fraction - exponent)), exponent - fraction);
}

static double half_value(uint16_t half, enum scalar_type type)
{
    int fraction_bits = type == SCALAR_F16 ? 10 : 7, bias = type == SCALAR_F16 ? 15 : 127;
    int exponent = (half & 0x7fff) >> fraction_bits, fraction = half & ((1 << fraction_bits) - 1);
    double value = exponent == 0
                       ? ldexp(fraction, 1 - bias - fraction_bits)
                       : ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return half >> 15 ? -value : value;
}

static void wide_floats_are_rounded_once_to_halves(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    static double x[COUNT];
    static uint16_t y[COUNT];
    for (int kind = 0; kind < 2; kind++) {
        enum scalar_type to = kind == 0 ? SCALAR_F16 : SCALAR_BF16;
        struct unit u = conversion("kernel k(in f64 x, out u16 y) { y <- (u16)x; }"
                                   "pipeline main(in f64 x, out u16 y) { k(x -> y); }",
                                   SCALAR_F64, to);
        uint64_t seed = 7;
        for (int i = 0; i < COUNT; i++) {
            /* Near the middle between two halves, on both sides of it, and anywhere. */
            double scale = ldexp(1, (int)(random_bits(&seed) % 46) - 28);
            double near = (double)(random_bits(&seed) % 4096) + 0.5;
            double nudge = (double)(int)(random_bits(&seed) % 3 - 1) * 0x1p-40;
            x[i] = i % 2 ? (near + nudge) * scale * 0x1p-3
                         : (double)(int64_t)random_bits(&seed) * scale * 0x1p-63;
        }
        assert_int_equal(run1(&u, COUNT, x, y), KERNEL_OK);
        for (int i = 0; i < COUNT; i++) {
            double value = rounded(x[i], kind == 0 ? 10 : 7, kind == 0 ? -14 : -126);
            if (kind == 0 && fabs(value) > 65504) {
                assert_int_equal(y[i], x[i] < 0 ? 0xfc00 : 0x7c00);
                continue;
            }
            if (half_value(y[i], to) != value) print_message("%a: 0x%04x\n", x[i], y[i]);
            assert_true(half_value(y[i], to) == value);
        }
        double special[] = {NAN, INFINITY, -INFINITY, 1e300, -1e-300, 65519.999, 65520};
        static const uint16_t expected[2][7] = {
            {0x7e00, 0x7c00, 0xfc00, 0x7c00, 0x8000, 0x7bff, 0x7c00},
            {0x7fc0, 0x7f80, 0xff80, 0x7f80, 0x8000, 0x4780, 0x4780}};
        assert_int_equal(run1(&u, 7, special, y), KERNEL_OK);
        assert_memory_equal(y, expected[kind], sizeof expected[kind]);
        unit_free(&u);
    }
}

static void nothing_is_contracted(void **state)
{
    (void)state;
    struct unit u = unit_of(ONE("y <- x * x - 1.0000002;"));
    volatile float x = 1.0000001f;
    volatile float square = x * x;
    float in = x, y;
    assert_int_equal(run1(&u, 1, &in, &y), KERNEL_OK);
    assert_true(y == square - 1.0000002f);
    unit_free(&u);
}

static void nan_is_canonical_at_out_ports_only(void **state)
{
    (void)state;
    struct unit u = unit_of("kernel id(in f32 x, out f32 y) { y <- x; }"
                            "pipeline main(in f32 x, out f32 y) { x -> id -> id -> y; }");
    assert_int_not_equal(u.image->node_kernel[0], u.image->node_kernel[1]);
    uint32_t x[40], y[40];
    for (uint32_t i = 0; i < 40; i++)
        x[i] = 0xff800001u + i;
    const void *in[] = {x};
    void *out[] = {y};
    assert_int_equal(run1(&u, 40, x, y), KERNEL_OK);
    assert_memory_equal(x, y, sizeof x);
    struct kernel_batch batch = {.in = in, .out = out, .count = 40, .fault = &u.fault};
    assert_int_equal(entry_of(&u, 1, "run")(&batch), KERNEL_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(y[i], 0x7fc00000u);
    unit_free(&u);
}

/* ---- work-items ---- */

/* Runs one firing of a kernel of 4x3x2 items with the given registers. */
static void run_items(struct unit *u, const uint16_t registers[24], int32_t y[24])
{
    void *out[] = {y};
    struct kernel_batch batch = {.out = out, .count = 1, .indices = registers, .fault = &u->fault};
    memset(y, 0, 24 * sizeof *y);
    assert_int_equal(entry_of(u, 0, "run")(&batch), KERNEL_OK);
}

/* Items write what they are where they are in order of their numbers. */
static void items_are_what_the_registers_of_the_batch_say(void **state)
{
    (void)state;
    const uint32_t extents[] = {4, 3, 2};
    const struct index_format format = index_format_of(extents);
    for (int optimisation = 0; optimisation <= 2; optimisation++) {
        struct unit u = unit_at(
            "kernel k(out i32 y push 24) group 4x3x2 {\n"
            "    y[(item.z * 3 + item.y) * 4 + item.x] = item.x + 10 * item.y + 100 * item.z;\n"
            "}\npipeline main(out i32 y) { k(-> y); }",
            optimisation);
        uint16_t registers[24];
        int32_t y[24];
        for (uint32_t n = 0; n < 24; n++)
            registers[n] = (uint16_t)index_pack(&format, n % 4, n / 4 % 3, n / 12);
        run_items(&u, registers, y);
        for (int n = 0; n < 24; n++)
            assert_int_equal(y[n], n % 4 + 10 * (n / 4 % 3) + 100 * (n / 12));
        /* Two are the same item: the place of the other one stays empty. */
        registers[17] = registers[5];
        run_items(&u, registers, y);
        assert_int_equal(y[17], 0);
        assert_int_equal(y[5], 11);
        unit_free(&u);
    }
}

/* ---- faults ---- */

static void division_by_zero_names_firing_and_place(void **state)
{
    (void)state;
    struct unit u = unit_of("kernel k(in i32 a, out i32 y) {\n  y <- 100 /\n    a; }\n"
                            "pipeline main(in i32 a, out i32 y) { k(a -> y); }");
    int32_t a[] = {1, 2, 0, 4}, y[4];
    const void *in[] = {a};
    void *out[] = {y};
    assert_int_equal(run_from(&u, 1000, 4, in, out), KERNEL_FAULT_DIVISION);
    assert_int_equal(u.fault.firing, 1002);
    assert_int_equal(u.fault.source, 0);
    assert_int_equal(u.fault.line, 2);
    assert_int_equal(u.fault.index, 0);
    assert_int_equal(y[1], 50);
    unit_free(&u);
}

static void an_index_outside_is_a_fault(void **state)
{
    (void)state;
    struct unit u = unit_of("fn i32 at(i32 v[4], i32 i) { return v[i]; }\n"
                            "kernel k(in i32 x pop 2, out i32 y) {\n"
                            "  i32 v[4] = {1, 2, 3, 4};\n"
                            "  y <- at(v, x[0]) + x[x[1]];\n}\n"
                            "pipeline main(in i32 x, out i32 y) { k(x -> y); }");
    int32_t good[] = {3, 0}, array[] = {-1, 0}, window[] = {0, 2}, y[1];
    assert_int_equal(run1(&u, 1, good, y), KERNEL_OK);
    assert_int_equal(y[0], 7);
    assert_int_equal(run1(&u, 1, array, y), KERNEL_FAULT_INDEX);
    assert_int_equal(u.fault.index, -1);
    assert_int_equal(u.fault.bound, 4);
    assert_int_equal(u.fault.line, 1);
    assert_int_equal(run1(&u, 1, window, y), KERNEL_FAULT_INDEX);
    assert_int_equal(u.fault.index, 2);
    assert_int_equal(u.fault.bound, 2);
    assert_int_equal(u.fault.line, 4);
    unit_free(&u);
}

static void too_many_and_too_few_packets_are_faults(void **state)
{
    (void)state;
    struct unit u = unit_of("kernel k(in i32 x, out i32 y push 2) {\n"
                            "  for (i32 i = 0; i < x; i++) y <- i;\n}\n"
                            "pipeline main(in i32 x, out i32 y) { k(x -> y); }");
    int32_t good[] = {2, 2}, many[] = {2, 3}, few[] = {2, 1};
    struct guarded y = guarded(4 * sizeof(int32_t));
    assert_int_equal(run1(&u, 2, good, y.bytes), KERNEL_OK);
    assert_int_equal(run1(&u, 2, many, y.bytes), KERNEL_FAULT_PUSH);
    assert_int_equal(u.fault.index, 3);
    assert_int_equal(u.fault.bound, 2);
    assert_int_equal(u.fault.line, 2);
    assert_int_equal(run1(&u, 2, few, y.bytes), KERNEL_FAULT_PUSH);
    assert_int_equal(u.fault.index, 1);
    assert_int_equal(u.fault.firing, 1);
    guarded_free(y);
    unit_free(&u);
}

static void short_circuits_protect(void **state)
{
    (void)state;
    struct unit u = unit_of("kernel k(in i32 x, out i32 y push 2) {"
                            "  y <- x != 0 && 8 / x > 1 ? 8 / x : 0; y <- x == 0 ? 1 : 8 % x; }"
                            "pipeline main(in i32 x, out i32 y) { k(x -> y); }");
    int32_t x[] = {0, 2, 3}, y[6];
    assert_int_equal(run1(&u, 3, x, y), KERNEL_OK);
    static const int32_t expected[] = {0, 1, 4, 0, 2, 2};
    assert_memory_equal(y, expected, sizeof expected);
    unit_free(&u);
}

static void arguments_may_fault(void **state)
{
    (void)state;
    struct unit u = unit_unstarted(
        analysed("kernel k(in i32 x, out i32 y; i32 a) { y <- x * a; }"
                 "pipeline main(in i32 x, out i32 y; i32 n = 0) { k(x -> y; 6 / n); }",
                 2));
    assert_int_equal(evaluate_arguments(&u), KERNEL_FAULT_DIVISION);
    assert_true(u.fault.firing == UINT64_MAX);
    unit_free(&u);
}

/* ---- blocks, ports, finish ---- */

static void arguments_are_expressions_over_the_pipelines(void **state)
{
    (void)state;
    struct unit u = unit_of("kernel k(in f32 x, out f32 y; bool on, f64 a, i16 b = 3) {"
                            "  y <- on ? (f32)(x * a) + b : 0; }"
                            "pipeline main(in f32 x, out f32 y; i32 n = 4, bool off = false) {"
                            "  k(x -> y; !off, n * 2.5); }");
    float x[] = {1, 2}, y[2];
    assert_int_equal(run1(&u, 2, x, y), KERNEL_OK);
    assert_true(y[0] == 13 && y[1] == 23);
    unit_free(&u);
}

static void state_lives_between_batches(void **state)
{
    (void)state;
    struct unit u =
        unit_of("kernel k(in i32 x, out i32 y) { state i32 sum = 100; state i32 last[2];"
                "  state bool odd; sum += x; i32 t = last[1]; last[1] = last[0]; last[0] = sum;"
                "  odd = !odd; y <- odd ? sum : t; }"
                "pipeline main(in i32 x, out i32 y) { k(x -> y); }");
    int32_t x[] = {1, 2, 3, 4, 5, 6}, y[6];
    assert_int_equal(run1(&u, 1, x, y), KERNEL_OK);
    assert_int_equal(run1(&u, 4, x + 1, y + 1), KERNEL_OK);
    assert_int_equal(run1(&u, 1, x + 5, y + 5), KERNEL_OK);
    static const int32_t expected[] = {101, 0, 106, 103, 115, 110};
    assert_memory_equal(y, expected, sizeof expected);
    unit_free(&u);
}

static void finish_appends_what_it_says(void **state)
{
    (void)state;
    struct unit u =
        unit_of("kernel k(in i32 x pop 4, out i32 y, out i32 z) { state i32 n = 0; n++;"
                "  y <- x[0]; z <- n;"
                "  finish push 5 { for (i64 i = 0; i < left(x); i++) y <- x[i]; y <- n; } }"
                "pipeline main(in i32 x, out i32 y, out i32 z) { k(x -> y, z); }");
    int32_t x[] = {1, 2, 3, 4, 5, 6}, y[5], z[5];
    const void *in[] = {x};
    void *out[] = {y, z};
    assert_int_equal(run_from(&u, 0, 1, in, out), KERNEL_OK);
    const void *tail[] = {x + 4};
    uint64_t left[] = {2}, produced[] = {99, 99};
    struct kernel_batch batch = {.state = u.state,
                                 .in = tail,
                                 .out = out,
                                 .left = left,
                                 .produced = produced,
                                 .fault = &u.fault};
    assert_int_equal(entry_of(&u, 0, "finish")(&batch), KERNEL_OK);
    assert_int_equal(produced[0], 3);
    assert_int_equal(produced[1], 0);
    assert_int_equal(y[0], 5);
    assert_int_equal(y[2], 1);
    unit_free(&u);
}

static void largest_firing_of_a_batch_is_reported(void **state)
{
    (void)state;
    struct unit u = unit_of("kernel k(in i32 x, out i32 y push ..5, out i32 z) {"
                            "  for (i32 i = 0; i < x; i++) y <- i; z <- x; }"
                            "pipeline main(in i32 x, out i32 y, out i32 z) { k(x -> y, z); }");
    int32_t x[] = {1, 4, 0, 3}, y[20], z[4];
    const void *in[] = {x};
    void *out[] = {y, z};
    uint64_t produced[2], completed, most[] = {99, 99};
    struct kernel_batch batch = {.in = in,
                                 .out = out,
                                 .produced = produced,
                                 .completed = &completed,
                                 .count = 4,
                                 .fault = &u.fault,
                                 .most = most};
    assert_int_equal(entry_of(&u, 0, "run")(&batch), KERNEL_OK);
    assert_int_equal(produced[0], 8);
    assert_int_equal(most[0], 4);
    assert_int_equal(most[1], 99); /* one packet a firing: nothing to find out */
    batch.most = NULL;
    assert_int_equal(entry_of(&u, 0, "run")(&batch), KERNEL_OK);
    unit_free(&u);
}

static void port_arrays_are_indexed_while_running(void **state)
{
    (void)state;
    struct unit u =
        unit_of("kernel k(in i32 s, in i32 x[3] pop 2, out i32 y[2]) { for (i32 i = 0; i < 2; i++) "
                "y[i] <- x[s][1] * (i + 1) - i * s; }"
                "pipeline main(in i32 s, in i32 a, in i32 b, in i32 c, out i32 p, out i32 q) {"
                "  buffer i32 x[3]; buffer i32 y[2]; a -> copy -> x[0]; b -> copy -> x[1]; c -> "
                "copy -> x[2];"
                "  k(s, x -> y); y[0] -> copy -> p; y[1] -> copy -> q; }"
                "kernel copy(in i32 x, out i32 y) { y <- x; }");
    uint32_t node = 0;
    while (strcmp(u.graph->nodes.items[node].kernel->name, "k") != 0)
        node++;
    int32_t s[] = {2, 1, 3}, x[3][6] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}}, y[2][3];
    const void *in[] = {s, x[0], x[1], x[2]};
    void *out[] = {y[0], y[1]};
    struct kernel_batch batch = {.in = in, .out = out, .count = 2, .fault = &u.fault};
    assert_int_equal(entry_of(&u, node, "run")(&batch), KERNEL_OK);
    assert_int_equal(y[0][0], 21);
    assert_int_equal(y[1][0], 40);
    assert_int_equal(y[0][1], 13);
    assert_int_equal(y[1][1], 25);
    batch.count = 3;
    assert_int_equal(entry_of(&u, node, "run")(&batch), KERNEL_FAULT_INDEX);
    assert_int_equal(u.fault.firing, 2);
    assert_int_equal(u.fault.bound, 3);
    unit_free(&u);
}

/* ---- the image ---- */

static void equal_programs_give_equal_images(void **state)
{
    (void)state;
    struct text_compile *a = analysed(fir, 2), *b = analysed(fir, 2);
    struct kernel_image *first = kernel_compile(&a->cx, a->graph);
    struct kernel_image *second = kernel_compile(&b->cx, b->graph);
    assert_non_null(first);
    assert_int_equal(first->objects[0].size_bytes, second->objects[0].size_bytes);
    assert_memory_equal(first->objects[0].bytes, second->objects[0].bytes,
                        first->objects[0].size_bytes);
    text_compile_free(a);
    text_compile_free(b);
}

static void expect_refusal(const char *text, const char *isa, const char *linker, const char *part)
{
    struct text_compile *c = analysed(text, 2);
    c->cx.options.isa = isa;
    c->cx.options.linker = linker;
    assert_null(kernel_compile(&c->cx, c->graph));
    char *messages = text_compile_messages(c);
    if (strstr(messages, part) == NULL) print_message("%s", messages);
    assert_non_null(strstr(messages, part));
    free(messages);
    text_compile_free(c);
}

static void what_cannot_be_compiled_is_refused(void **state)
{
    (void)state;
    expect_refusal(
        "kernel k(in f32 x, out f32 y) { f32 a[200][1000], b[400][400]; a[0][(i32)x & 511] = x;"
        "  y <- a[0][3]; } pipeline main(in f32 x, out f32 y) { k(x -> y); }",
        NULL, NULL, "take 1440000 bytes");
    expect_refusal(ONE("y <- fma(x, x, x);"), "x86-64", NULL, "'fmaf'");
    expect_refusal(ONE("y <- x;"), "x86-64-v5", NULL, "did you mean 'x86-64-v");
    expect_refusal(ONE("y <- x;"), NULL, "/nonexistent/ld", "/nonexistent/ld");
    expect_refusal(ONE("y <- x;"), NULL, "/bin/false", "status 1");
}

static void fast_mathematics_contract_and_keep_nan(void **state)
{
    (void)state;
    struct text_compile *c = analysed(ONE("y <- isnan(x) ? 7 : x * x - 1.0000002;"), 2);
    c->cx.options.fast_math = true;
    struct unit u = unit_unstarted(c);
    float x[40], y[40];
    for (int i = 0; i < 40; i++)
        x[i] = i == 20 ? NAN : 1.0000001f;
    assert_int_equal(run1(&u, 40, x, y), KERNEL_OK);
    assert_true(y[20] == 7);
    assert_true(y[0] == fmaf(x[0], x[0], -1.0000002f));
    unit_free(&u);
}

static size_t folder_entries(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    if (directory == NULL) return 2;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2;
}

static void an_interrupted_link_leaves_no_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/test-codegen-XXXXXX", linker[64], log[64];
    assert_non_null(mkdtemp(folder));
    snprintf(linker, sizeof linker, "%s/linker", folder);
    snprintf(log, sizeof log, "%s/started", folder);
    FILE *script = fopen(linker, "w");
    if (script == NULL) {
        fail();
        return;
    }
    fprintf(script, "#!/bin/sh\necho > %s\nexec sleep 1\n", log);
    fclose(script);
    assert_int_equal(chmod(linker, 0700), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("TMPDIR", folder, 1);
        cleanup_install();
        struct text_compile *c = analysed(ONE("y <- x;"), 2);
        c->cx.options.linker = linker;
        kernel_compile(&c->cx, c->graph);
        _exit(0);
    }
    while (access(log, F_OK) != 0)
        usleep(1000);
    assert_int_equal(folder_entries(folder), 3);
    int status;
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(folder_entries(folder), 2);
    unlink(linker);
    unlink(log);
    assert_int_equal(rmdir(folder), 0);
}

static void every_text_form_is_written(void **state)
{
    (void)state;
    struct text_compile *c = analysed(fir, 2);
    static const char *const parts[] = {"define ", "vfmadd", ".func ", "\177ELF"};
    for (int kind = 0; kind < 4; kind++) {
        char *text = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&text, &size);
        assert_true(kernel_emit(&c->cx, c->graph, (enum kernel_text)kind, to));
        fclose(to);
        assert_non_null(memmem(text, size, parts[kind], strlen(parts[kind])));
        free(text);
    }
    text_compile_free(c);
}

/* As llvm-c/Support.h declares it: tests are compiled without LLVM's headers. */
void LLVMParseCommandLineOptions(int count, const char *const *arguments, const char *overview);

/* A kernel of so many lookups, 190 LLVM instructions each, that LLVM then finds to be useless. */
static char *lookups_text(int lookups)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    fputs("kernel k(in u8 x, out u8 y) { const u8 box[4] = {3, 1, 0, 2}; u8 t = x;", to);
    for (int i = 0; i < lookups; i++)
        fprintf(to, " t = box[t + %d & 3];", i);
    fputs(" y <- x + (t & 0); } pipeline main(in u8 x, out u8 y) { x -> k -> y; }", to);
    fclose(to);
    return text;
}

/* Compiles in a process of its own, as LLVM keeps the switch.  Returns what LLVM says of its passes. */
static char *passes_of(const char *program)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    pid_t child = fork();
    if (child == 0) {
        static const char *const switches[] = {"test", "-debug-pass=Arguments"};
        struct text_compile *c = analysed(program, 2);
        LLVMParseCommandLineOptions(2, switches, NULL);
        bool good = dup2(fileno(file), STDERR_FILENO) >= 0 && kernel_compile(&c->cx, c->graph);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    rewind(file);
    char *passes = NULL;
    size_t size = 0;
    assert_true(getdelim(&passes, &size, '\0', file) > 0);
    fclose(file);
    return passes;
}

static void large_programs_skip_loop_strength_reduction(void **state)
{
    (void)state;
    static const int lookups[] = {200, 400}; /* the limit is passed at about 345 */
    for (int large = 0; large < 2; large++) {
        char *text = lookups_text(lookups[large]), *passes = passes_of(text);
        assert_non_null(strstr(passes, "-codegenprepare"));
        assert_int_equal(strstr(passes, "-loop-reduce") == NULL, large);
        free(passes);
        free(text);
    }
}

TEST_MAIN(
    "codegen", cmocka_unit_test(pointwise_loops_are_vectors),
    cmocka_unit_test(library_functions_become_vectors),
    cmocka_unit_test(a_fir_filter_has_firings_in_lanes),
    cmocka_unit_test(a_fir_filter_has_the_bits_of_its_formula),
    cmocka_unit_test(lanes_and_firings_have_the_same_bits),
    cmocka_unit_test(firings_of_a_filter_share_what_they_load),
    cmocka_unit_test(woven_firings_have_the_same_bits),
    cmocka_unit_test(a_rest_of_firings_is_a_block_in_lanes),
    cmocka_unit_test(bytes_of_words_are_stored_as_words),
    cmocka_unit_test(control_flow_is_the_same_at_every_level), cmocka_unit_test(integers_wrap),
    cmocka_unit_test(narrow_and_unsigned_integers), cmocka_unit_test(rounding_is_exact),
    cmocka_unit_test(minimum_and_maximum_ignore_nan_and_order_zeros),
    cmocka_unit_test(float_to_integer_saturates), cmocka_unit_test(every_half_becomes_its_f32),
    cmocka_unit_test(wide_floats_are_rounded_once_to_halves),
    cmocka_unit_test(nothing_is_contracted), cmocka_unit_test(nan_is_canonical_at_out_ports_only),
    cmocka_unit_test(items_are_what_the_registers_of_the_batch_say),
    cmocka_unit_test(division_by_zero_names_firing_and_place),
    cmocka_unit_test(an_index_outside_is_a_fault),
    cmocka_unit_test(too_many_and_too_few_packets_are_faults),
    cmocka_unit_test(short_circuits_protect), cmocka_unit_test(arguments_may_fault),
    cmocka_unit_test(arguments_are_expressions_over_the_pipelines),
    cmocka_unit_test(state_lives_between_batches), cmocka_unit_test(finish_appends_what_it_says),
    cmocka_unit_test(largest_firing_of_a_batch_is_reported),
    cmocka_unit_test(port_arrays_are_indexed_while_running),
    cmocka_unit_test(equal_programs_give_equal_images),
    cmocka_unit_test(what_cannot_be_compiled_is_refused),
    cmocka_unit_test(fast_mathematics_contract_and_keep_nan),
    cmocka_unit_test(an_interrupted_link_leaves_no_files),
    cmocka_unit_test(every_text_form_is_written),
    cmocka_unit_test(large_programs_skip_loop_strength_reduction))
