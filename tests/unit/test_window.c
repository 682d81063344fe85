/* SPDX-License-Identifier: MIT */
/*
 * 2-D windows: the arithmetic of lang/window.h, and compiled kernels against a plain interpreter.
 *
 * A stream of packets arrives in pieces; what a firing sees, and whether it happens, must not depend
 * on the pieces.  Windows end at a page that cannot be touched.
 */
#include "tests/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/bodies/range_check.h"
#include "compiler/bodies/amplify.h"
#include "compiler/codegen/common/codegen.h"
#include "lang/kernel_abi.h"
#include "lang/window.h"
#include "tests/unit/compile_text.h"

/* ---- compiled ---- */

struct unit {
    struct text_compile *text;
    void *library;
    int file;
    kernel_entry run;
};

static struct unit unit_of(const char *source, int optimisation)
{
    struct unit u = {.text = text_compile(source)};
    char path[64];
    u.text->cx.options.optimisation = optimisation;
    if (u.text->graph != NULL) {
        amplify_infer_rates(&u.text->cx, u.text->graph);
        range_check_bodies(&u.text->cx, u.text->graph);
    }
    struct kernel_image *image = NULL;
    if (u.text->graph != NULL && !diag_failed(u.text->cx.diags))
        image = kernel_compile(&u.text->cx, u.text->graph);
    if (image == NULL) {
        char *messages = text_compile_messages(u.text);
        print_message("%s", messages);
        free(messages);
        fail();
        abort();
    }
    u.file = memfd_create("image", MFD_CLOEXEC);
    const struct kernel_object *object = &image->objects[0];
    assert_int_equal(write(u.file, object->bytes, object->size_bytes), (ssize_t)object->size_bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", u.file);
    u.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(u.library);
    union {
        void *object;
        kernel_entry entry;
    } found = {dlsym(u.library, "pipe_k0_run")};
    u.run = found.entry;
    return u;
}

static void unit_free(struct unit *u)
{
    dlclose(u->library);
    close(u->file);
    text_compile_free(u->text);
}

/* ---- the picture ---- */

enum { PACKETS_MAX = 400, WINDOWS_MAX = 2 };

struct picture {
    struct window_shape shape;
    uint64_t packets; /* of the whole stream */
    uint8_t pixels[PACKETS_MAX];
};

/* The packet `row`, `column` away from `place` of the frame at `base`; all of the stream is
 * known. */
static uint8_t pixel(const struct picture *p, struct window w, uint64_t base, uint64_t place,
                     uint64_t rows, int64_t row, int64_t column)
{
    uint64_t width = p->shape.row_packets;
    int64_t y = (int64_t)(place / width) + row, x = (int64_t)(place % width) + column;
    if (rows == UINT64_MAX) rows = (uint64_t)1 << 40;
    y = window_border(y, rows, w.border);
    x = window_border(x, width, w.border);
    if (y < 0 || x < 0) return 0;
    uint64_t at = base + (uint64_t)y * width + (uint64_t)x;
    assert_true(at < p->packets);
    return p->pixels[at];
}

/* The kernels' formula: order matters. */
static uint32_t expected(const struct picture *p, struct window w, uint64_t base, uint64_t place,
                         uint64_t rows)
{
    int64_t a = w.height / 2, b = w.width / 2;
    uint32_t s = 0;
    for (int64_t r = -a; r <= a; r++)
        for (int64_t c = -b; c <= b; c++)
            s = s * 31u + pixel(p, w, base, place, rows, r, c);
    return s;
}

/* Rows that the firing at `place` of the frame at `base` sees; 0: it never happens. */
static uint64_t rows_seen(const struct picture *p, struct window w, uint64_t base, uint64_t place)
{
    uint64_t held = p->packets - base, frame = window_frame(p->shape), width = p->shape.row_packets;
    if (held >= frame) return p->shape.frame_rows;
    uint64_t whole = held / width, reach = window_reach(w, p->shape);
    bool early = w.border != CONTAINER_BORDER_WRAP && place + reach < held;
    if (early) return UINT64_MAX;
    return place < whole * width ? whole : 0;
}

/* ---- running ---- */

struct run {
    const struct unit *unit;
    const struct picture *picture;
    const struct window *windows; /* of the in-ports */
    uint32_t count;
    uint64_t firing;
    uint32_t out[PACKETS_MAX];
    uint64_t seed;
};

static uint64_t random_below(uint64_t *seed, uint64_t bound)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (*seed >> 33) % bound;
}

/* Just the packets that the firings may see, in front of a page that is not there. */
static void *guarded_copy(const uint8_t *bytes, size_t size, void **pages, size_t *length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *length = 2 * page;
    *pages = mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(*pages, MAP_FAILED);
    assert_int_equal(mprotect((char *)*pages + page, page, PROT_NONE), 0);
    uint8_t *to = (uint8_t *)*pages + page - size;
    memcpy(to, bytes, size);
    return to;
}

/* One batch of what is ready, or of a part of it. */
static bool fire(struct run *r, uint64_t arrived, bool closed)
{
    const struct picture *p = r->picture;
    uint64_t frame = window_frame(p->shape), place = r->firing % frame;
    uint64_t base = r->firing - place, held = arrived - base, count = UINT64_MAX;
    struct kernel_window windows[WINDOWS_MAX];
    const void *in[WINDOWS_MAX];
    void *pages[WINDOWS_MAX] = {NULL}, *out = r->out + r->firing;
    size_t length[WINDOWS_MAX] = {0};
    if (held > frame) held = frame;
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t n = window_firings(r->windows[i], p->shape, place, held, closed, &windows[i].rows);
        if (n < count) count = n;
    }
    if (count == 0) return false;
    if (random_below(&r->seed, 3) == 0) count = 1 + random_below(&r->seed, count);
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t oldest = window_first(r->windows[i], p->shape, place);
        uint64_t older = oldest > 0 ? random_below(&r->seed, oldest) % 3 : 0;
        windows[i].first = oldest - older;
        windows[i].place = place;
        uint64_t last = place + count - 1 + window_reach(r->windows[i], p->shape);
        if (r->windows[i].border == CONTAINER_BORDER_WRAP || last >= held) last = held - 1;
        in[i] = guarded_copy(p->pixels + base + windows[i].first, last + 1 - windows[i].first,
                             &pages[i], &length[i]);
    }
    uint64_t produced = 0, completed = 0;
    struct kernel_fault fault;
    struct kernel_batch batch = {.in = in,
                                 .out = &out,
                                 .produced = &produced,
                                 .completed = &completed,
                                 .first_firing = r->firing,
                                 .count = count,
                                 .windows = windows,
                                 .fault = &fault};
    assert_int_equal(r->unit->run(&batch), KERNEL_OK);
    assert_int_equal(produced, count);
    assert_int_equal(completed, count);
    for (uint32_t i = 0; i < r->count; i++)
        munmap(pages[i], length[i]);
    r->firing += count;
    return true;
}

/* All firings, the stream arriving in pieces; each firing's value against the formula's. */
static void check_stream(struct run *r)
{
    const struct picture *p = r->picture;
    uint64_t arrived = 0, frame = window_frame(p->shape);
    r->firing = 0;
    while (arrived < p->packets) {
        uint64_t piece = 1 + random_below(&r->seed, 40);
        arrived = arrived + piece < p->packets ? arrived + piece : p->packets;
        while (fire(r, arrived, false)) {
        }
    }
    while (fire(r, p->packets, true)) {
    }
    for (uint64_t n = 0; n <= r->firing && n < p->packets; n++) {
        uint64_t place = n % frame;
        uint32_t sum = 0;
        bool happens = true;
        for (uint32_t i = 0; i < r->count; i++) {
            uint64_t rows = rows_seen(p, r->windows[i], n - place, place);
            happens = happens && rows > 0;
            if (happens) sum = sum * 7u + expected(p, r->windows[i], n - place, place, rows);
        }
        assert_int_equal(happens, n < r->firing);
        if (happens) assert_int_equal(sum, r->out[n]);
    }
}

static const char *const border_names[] = {"clamp", "mirror", "wrap", "zero"};

static char *shape_words(struct window_shape shape)
{
    char *text = malloc(64);
    if (shape.frame_rows == 0)
        snprintf(text, 64, "rows %d", (int)shape.row_packets);
    else
        snprintf(text, 64, "frame %dx%d", (int)shape.row_packets, (int)shape.frame_rows);
    return text;
}

static void check_pictures(const struct unit *unit, struct window_shape shape,
                           const struct window *windows, uint32_t count)
{
    uint64_t frame = shape.frame_rows == 0 ? shape.row_packets * 5 : window_frame(shape);
    uint64_t seed = 7;
    uint64_t lengths[] = {2 * frame, frame, frame + shape.row_packets * 2 + 1,
                          2 * frame + shape.row_packets / 2,
                          shape.row_packets > 1 ? shape.row_packets - 1 : 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct picture picture = {.shape = shape, .packets = lengths[i]};
        assert_true(picture.packets <= PACKETS_MAX);
        for (uint64_t n = 0; n < picture.packets; n++)
            picture.pixels[n] = (uint8_t)random_below(&seed, 256);
        struct run run = {
            .unit = unit, .picture = &picture, .windows = windows, .count = count, .seed = i + 1};
        for (int round = 0; round < 3; round++)
            check_stream(&run);
    }
}

static void check_window(struct window w, struct window_shape shape)
{
    char source[1024], *words = shape_words(shape);
    int a = (int)w.height / 2, b = (int)w.width / 2;
    snprintf(source, sizeof source,
             "kernel k(in u8 x window %ux%u border %s, out u32 y) { u32 s = 0;"
             "  for (i32 r = %d; r <= %d; r++) for (i32 c = %d; c <= %d; c++)"
             "    s = s * 31u + (u32)x[r][c]; y <- s; }"
             "pipeline main(in u8 x %s, out u32 y) { k(x -> y); }",
             w.width, w.height, border_names[w.border], -a, a, -b, b, words);
    for (int level = 0; level <= 2; level += 2) {
        struct unit unit = unit_of(source, level);
        check_pictures(&unit, shape, &w, 1);
        unit_free(&unit);
    }
    free(words);
}

static void windows_see_what_they_should_at_every_border(void **state)
{
    (void)state;
    static const struct window_shape shapes[] = {{1, 1}, {3, 2}, {2, 5}, {37, 4}, {5, 0}, {23, 0}};
    static const struct window sizes[] = {{1, 1, 0}, {3, 3, 0}, {5, 5, 0}, {7, 1, 0}, {1, 5, 0}};
    int number = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
            for (uint32_t border = 0; border < 4; border++) {
                if (number++ % draw_step() != 0) continue;
                struct window w = sizes[n];
                w.border = border;
                bool endless = shapes[s].frame_rows == 0 && w.height > 1;
                if (border == CONTAINER_BORDER_WRAP && endless) continue;
                check_window(w, shapes[s]);
            }
}

/* Written out, so that LLVM makes vectors of firings. */
static void windows_without_loops_have_the_same_bits(void **state)
{
    (void)state;
    struct window w = {3, 3, CONTAINER_BORDER_MIRROR};
    struct window_shape shape = {41, 4};
    struct unit unit = unit_of(
        "kernel k(in u8 x window 3x3 border mirror, out u32 y) {"
        "  u32 s = (u32)x[-1][-1]; s = s * 31u + (u32)x[-1][0]; s = s * 31u + (u32)x[-1][1];"
        "  s = s * 31u + (u32)x[0][-1]; s = s * 31u + (u32)x; s = s * 31u + (u32)x[0][1];"
        "  s = s * 31u + (u32)x[1][-1]; s = s * 31u + (u32)x[1][0]; s = s * 31u + "
        "(u32)x[1][1];"
        "  y <- s; } pipeline main(in u8 x frame 41x4, out u32 y) { k(x -> y); }",
        2);
    check_pictures(&unit, shape, &w, 1);
    unit_free(&unit);
}

static void windows_of_a_port_array_differ_in_nothing_but_their_pictures(void **state)
{
    (void)state;
    static const struct window windows[] = {{3, 1, CONTAINER_BORDER_ZERO},
                                            {3, 1, CONTAINER_BORDER_ZERO}};
    struct window_shape shape = {11, 0};
    struct unit unit =
        unit_of("kernel k(in u8 x[2] window 3x1 border zero, out u32 y) { u32 t = 0;"
                "  for (i32 p = 0; p < 2; p++) { u32 s = 0;"
                "    for (i32 c = -1; c <= 1; c++) s = s * 31u + (u32)x[p][0][c]; t = t * 7u + s; }"
                "  y <- t; }"
                "pipeline main(in u8 a rows 11, in u8 b rows 11, out u32 y) { k(a, b -> y); }",
                2);
    check_pictures(&unit, shape, windows, 2);
    unit_free(&unit);
}

static void several_windows_of_a_kernel_have_their_own_sizes_and_borders(void **state)
{
    (void)state;
    static const struct window windows[] = {{5, 3, CONTAINER_BORDER_CLAMP},
                                            {1, 5, CONTAINER_BORDER_ZERO}};
    struct window_shape shape = {13, 6};
    struct unit unit = unit_of(
        "kernel k(in u8 a window 5x3, in u8 b window 1x5 border zero, out u32 y) {"
        "  u32 s = 0; u32 t = 0;"
        "  for (i32 r = -1; r <= 1; r++) for (i32 c = -2; c <= 2; c++)"
        "    s = s * 31u + (u32)a[r][c];"
        "  for (i32 r = -2; r <= 2; r++) t = t * 31u + (u32)b[r][0];"
        "  y <- s * 7u + t; }"
        "pipeline main(in u8 a frame 13x6, in u8 b frame 13x6, out u32 y) { k(a, b -> y); }",
        2);
    check_pictures(&unit, shape, windows, 2);
    unit_free(&unit);
}

/* ---- the arithmetic ---- */

static void mirrors_do_not_repeat_the_edge(void **state)
{
    (void)state;
    static const int64_t of_four[] = {2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1};
    for (int64_t i = -4; i < 8; i++)
        assert_int_equal(window_border(i, 4, CONTAINER_BORDER_MIRROR), of_four[i + 4]);
    assert_int_equal(window_border(-3, 1, CONTAINER_BORDER_MIRROR), 0);
    assert_int_equal(window_border(-1, 4, CONTAINER_BORDER_ZERO), -1);
    assert_int_equal(window_border(-1, 4, CONTAINER_BORDER_WRAP), 3);
    assert_int_equal(window_border(9, 4, CONTAINER_BORDER_CLAMP), 3);
}

TEST_MAIN("window", cmocka_unit_test(mirrors_do_not_repeat_the_edge),
          cmocka_unit_test(windows_see_what_they_should_at_every_border),
          cmocka_unit_test(windows_without_loops_have_the_same_bits),
          cmocka_unit_test(windows_of_a_port_array_differ_in_nothing_but_their_pictures),
          cmocka_unit_test(several_windows_of_a_kernel_have_their_own_sizes_and_borders))
