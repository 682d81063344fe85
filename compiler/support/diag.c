#include "compiler/support/diag.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/support/arena.h"
#include "compiler/support/vec.h"

enum {
    KEPT_MAX = 10000,    /* diagnostics held at one time; those beyond are only counted */
    BUCKET_COUNT = 1024, /* of the table that finds equal diagnostics */
    TAB_COLUMNS = 8,
    LINE_WHOLE_BYTES = 240, /* longer lines are cut to a window round the caret */
    WINDOW_BEFORE_BYTES = 70,
    WINDOW_AFTER_BYTES = 100,
};

struct place {
    struct span span;
    const char *text; /* or NULL */
};

struct remark {
    bool is_help;
    const char *text;
};

struct diag {
    struct arena *arena;
    bool discarded; /* a repetition, switched off, or beyond KEPT_MAX: takes no further text */
    enum rule rule;
    enum diag_level level;
    const char *message;
    struct place primary;
    VEC(struct place) labels;
    VEC(struct remark) remarks;
    size_t order;
    struct diag *next_equal; /* in its bucket */
};

struct diags {
    struct arena *arena;
    const struct sources *sources;
    VEC(struct diag *) kept;
    struct diag *buckets[BUCKET_COUNT];
    struct diag sink;
    enum diag_level levels[RULE_COUNT];
    size_t error_count, warning_count, reported_count;
    size_t shown_error_count, hidden_count;
};

static const struct {
    const char *id;
    enum diag_level level;
} rules[RULE_COUNT] = {
#define RULE(enumerator, id, level, group, summary) {id, DIAG_##level},
#include "compiler/support/rules.def"
#undef RULE
};

/* ---- collecting ---- */

struct diags *diags_create(struct arena *arena, const struct sources *sources)
{
    struct diags *diags = ARENA_NEW(arena, struct diags);
    diags->arena = arena;
    diags->sources = sources;
    diags->sink.discarded = true;
    for (size_t i = 0; i < RULE_COUNT; i++)
        diags->levels[i] = rules[i].level;
    return diags;
}

static void count_level(struct diags *diags, enum diag_level level)
{
    if (level == DIAG_ERROR) diags->error_count++;
    if (level == DIAG_WARNING) diags->warning_count++;
}

static uint32_t hash_diag(enum rule rule, struct span span, const char *message)
{
    uint32_t hash = 2166136261u ^ (uint32_t)rule ^ span.source << 8;
    hash = (hash ^ span.begin) * 16777619u;
    hash = (hash ^ span.end) * 16777619u;
    for (; *message; message++)
        hash = (hash ^ (unsigned char)*message) * 16777619u;
    return hash ^ hash >> 16;
}

static bool is_equal(const struct diag *diag, enum rule rule, struct span span, const char *message)
{
    const struct span *at = &diag->primary.span;
    return diag->rule == rule && at->source == span.source && at->begin == span.begin &&
           at->end == span.end && strcmp(diag->message, message) == 0;
}

struct diag *diag_report(struct diags *diags, enum rule rule, struct span span, const char *format,
                         ...)
{
    enum diag_level level = diags->levels[rule];
    if (level == DIAG_OFF) return &diags->sink;
    if (diags->kept.count >= KEPT_MAX) {
        count_level(diags, level);
        diags->hidden_count++;
        return &diags->sink;
    }
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(diags->arena, format, args);
    va_end(args);
    struct diag **bucket = &diags->buckets[hash_diag(rule, span, message) % BUCKET_COUNT];
    for (const struct diag *diag = *bucket; diag; diag = diag->next_equal)
        if (is_equal(diag, rule, span, message)) return &diags->sink;
    struct diag *diag = ARENA_NEW(diags->arena, struct diag);
    diag->arena = diags->arena;
    diag->rule = rule;
    diag->level = level;
    diag->message = message;
    diag->primary.span = span;
    diag->order = diags->reported_count++;
    diag->next_equal = *bucket;
    *bucket = diag;
    vec_push(diags->arena, &diags->kept, diag);
    count_level(diags, level);
    return diag;
}

void diag_primary(struct diag *diag, const char *format, ...)
{
    if (diag->discarded) return;
    va_list args;
    va_start(args, format);
    diag->primary.text = arena_vprintf(diag->arena, format, args);
    va_end(args);
}

void diag_label(struct diag *diag, struct span span, const char *format, ...)
{
    if (diag->discarded) return;
    va_list args;
    va_start(args, format);
    struct place label = {span, arena_vprintf(diag->arena, format, args)};
    va_end(args);
    vec_push(diag->arena, &diag->labels, label);
}

static void add_remark(struct diag *diag, bool is_help, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void add_remark(struct diag *diag, bool is_help, const char *format, va_list args)
{
    if (diag->discarded) return;
    struct remark remark = {is_help, arena_vprintf(diag->arena, format, args)};
    vec_push(diag->arena, &diag->remarks, remark);
}

void diag_note(struct diag *diag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_remark(diag, false, format, args);
    va_end(args);
}

void diag_help(struct diag *diag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_remark(diag, true, format, args);
    va_end(args);
}

bool diag_failed(const struct diags *diags)
{
    return diags->error_count > 0;
}

size_t diag_error_count(const struct diags *diags)
{
    return diags->error_count;
}

size_t diag_warning_count(const struct diags *diags)
{
    return diags->warning_count;
}

const char *rule_id(enum rule rule)
{
    return rules[rule].id;
}

enum rule rule_find(const char *id)
{
    size_t i = 0;
    while (i < RULE_COUNT && strcmp(rules[i].id, id) != 0)
        i++;
    return (enum rule)i;
}

bool diag_set_level(struct diags *diags, enum rule rule, enum diag_level level)
{
    if (rules[rule].level == DIAG_ERROR && level != DIAG_ERROR) return false;
    diags->levels[rule] = level;
    return true;
}

/* ---- characters on a terminal ---- */

/* Bytes of the UTF-8 sequence at `p`, or 0 where it is not one; *code is the character. */
static size_t decode_utf8(const unsigned char *p, size_t available, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (*p < 0x80) {
        *code = *p;
        return 1;
    }
    size_t length = *p >= 0xF0 ? 4 : *p >= 0xE0 ? 3 : *p >= 0xC2 ? 2 : 0;
    if (length == 0 || *p > 0xF4 || length > available) return 0;
    uint32_t value = *p & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3Fu);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
    *code = value;
    return length;
}

struct range {
    uint32_t first, last;
};

/* Controls, line separators and what reorders or hides text. */
static const struct range unprintable[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},       {0x061C, 0x061C},
    {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
    {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE0FFF},
};
static const struct range combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093C, 0x093C},   {0x0941, 0x0948}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};
static const struct range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF},
    {0x20000, 0x3FFFD},
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    return false;
}
#define IN_RANGES(table, code) in_ranges((table), sizeof(table) / sizeof *(table), (code))

/* One character of a text as it is shown: some source bytes, and the columns they take. */
struct glyph {
    size_t length;
    unsigned columns;
    bool escaped; /* one byte, shown as \xNN */
};

static struct glyph glyph_at(const char *text, size_t available)
{
    const unsigned char *p = (const unsigned char *)text;
    if (*p >= 0x20 && *p < 0x7F) return (struct glyph){1, 1, false};
    uint32_t code;
    size_t length = decode_utf8(p, available, &code);
    if (length == 0 || IN_RANGES(unprintable, code)) return (struct glyph){1, 4, true};
    unsigned columns = IN_RANGES(combining, code) ? 0 : IN_RANGES(wide, code) ? 2 : 1;
    return (struct glyph){length, columns, false};
}

static void print_glyph(FILE *to, const char *text, struct glyph glyph)
{
    if (glyph.escaped)
        fprintf(to, "\\x%02X", (unsigned char)*text);
    else
        fwrite(text, 1, glyph.length, to);
}

void diag_print_escaped(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        struct glyph glyph = glyph_at(text + i, length - i);
        print_glyph(to, text + i, glyph);
        i += glyph.length;
    }
}

static void print_escaped(FILE *to, const char *text)
{
    diag_print_escaped(to, text, strlen(text));
}

/* ---- showing ---- */

struct printer {
    const struct sources *sources;
    FILE *to;
    bool colour;
    int gutter_columns;
    uint32_t shown_source; /* whose snippets are being shown */
};

#define BOLD "\033[1m"
#define RESET "\033[0m"
#define CARET_COLOUR "\033[1;32m"
#define LABEL_COLOUR "\033[1;34m"
static const char *const level_names[] = {"", "note", "warning", "error"};
static const char *const level_colours[] = {"", "\033[1;36m", "\033[1;35m", "\033[1;31m"};

static void paint(const struct printer *printer, const char *colour)
{
    if (printer->colour) fputs(colour, printer->to);
}

static void print_spaces(FILE *to, unsigned count)
{
    fprintf(to, "%*s", (int)count, "");
}

/* The bytes of the line that are shown: the whole line, or a window round the caret. */
struct excerpt {
    const char *bytes;
    uint32_t begin, end; /* within the line */
    uint32_t line_length;
    uint32_t mark_begin, mark_end; /* within the line */
};

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static struct excerpt choose_excerpt(const struct source *source, uint32_t line, struct span span)
{
    uint32_t begin = source->line_begin[line - 1];
    uint32_t end = line < source->line_count ? source->line_begin[line] - 1 : source->size_bytes;
    const char *text = source->bytes + begin;
    uint32_t length = end - begin;
    if (length > 0 && text[length - 1] == '\r' && line < source->line_count) length--;
    struct excerpt excerpt = {.bytes = text, .end = length, .line_length = length};
    excerpt.mark_begin = span.begin - begin < length ? span.begin - begin : length;
    excerpt.mark_end = span.end < end ? span.end - begin : length;
    if (excerpt.mark_end > length) excerpt.mark_end = length;
    if (excerpt.mark_end < excerpt.mark_begin) excerpt.mark_end = excerpt.mark_begin;
    if (span.end > end)
        while (excerpt.mark_end > excerpt.mark_begin + 1 &&
               isspace((unsigned char)text[excerpt.mark_end - 1]))
            excerpt.mark_end--;
    if (length <= LINE_WHOLE_BYTES) return excerpt;
    uint32_t mark = excerpt.mark_begin;
    excerpt.begin = mark > WINDOW_BEFORE_BYTES ? mark - WINDOW_BEFORE_BYTES : 0;
    excerpt.end = length - mark > WINDOW_AFTER_BYTES ? mark + WINDOW_AFTER_BYTES : length;
    for (int i = 0; i < 3 && excerpt.begin > 0 && continues_character(text[excerpt.begin]); i++)
        excerpt.begin--;
    for (int i = 0; i < 3 && excerpt.end < length && continues_character(text[excerpt.end]); i++)
        excerpt.end--;
    if (excerpt.mark_end > excerpt.end) excerpt.mark_end = excerpt.end;
    return excerpt;
}

/* Prints the excerpt; fills the columns where its mark begins and ends. */
static void print_excerpt(FILE *to, const struct excerpt *excerpt, unsigned *first, unsigned *last)
{
    unsigned column = 0;
    bool begun = false, ended = false;
    if (excerpt->begin > 0) {
        fputs("...", to);
        column = 3;
    }
    for (uint32_t i = excerpt->begin; i < excerpt->end;) {
        struct glyph glyph = glyph_at(excerpt->bytes + i, excerpt->end - i);
        if (!begun && i + glyph.length > excerpt->mark_begin) {
            *first = column;
            begun = true;
        }
        if (!ended && i >= excerpt->mark_end) {
            *last = column;
            ended = true;
        }
        if (excerpt->bytes[i] == '\t') {
            glyph.columns = TAB_COLUMNS - column % TAB_COLUMNS;
            print_spaces(to, glyph.columns);
        } else {
            print_glyph(to, excerpt->bytes + i, glyph);
        }
        column += glyph.columns;
        i += (uint32_t)glyph.length;
    }
    if (!begun) *first = column;
    if (!ended) *last = column;
    if (excerpt->end < excerpt->line_length) fputs("...", to);
}

static void print_gutter(const struct printer *printer, uint32_t line)
{
    if (line)
        fprintf(printer->to, "%*u | ", printer->gutter_columns, line);
    else
        fprintf(printer->to, "%*s | ", printer->gutter_columns, "");
}

static void print_snippet(struct printer *printer, const struct place *place, bool is_primary)
{
    const struct source *source = source_get(printer->sources, place->span.source);
    FILE *to = printer->to;
    if (!source) {
        if (place->text) {
            print_gutter(printer, 0);
            print_escaped(to, place->text);
            fputc('\n', to);
        }
        return;
    }
    uint32_t line, column;
    source_locate(source, place->span.begin, &line, &column);
    if (place->span.source != printer->shown_source) {
        print_escaped(to, source->name);
        fprintf(to, ":%u:%u:\n", line, column);
        printer->shown_source = place->span.source;
    }
    struct excerpt excerpt = choose_excerpt(source, line, place->span);
    unsigned first = 0, last = 0;
    print_gutter(printer, line);
    print_excerpt(to, &excerpt, &first, &last);
    fputc('\n', to);
    print_gutter(printer, 0);
    print_spaces(to, first);
    paint(printer, is_primary ? CARET_COLOUR : LABEL_COLOUR);
    unsigned i = first;
    do
        fputc(is_primary ? '^' : '-', to);
    while (++i < last);
    if (place->text && *place->text) {
        fputc(' ', to);
        print_escaped(to, place->text);
    }
    paint(printer, RESET);
    fputc('\n', to);
}

static int count_digits(uint32_t number)
{
    int digits = 1;
    while (number /= 10)
        digits++;
    return digits;
}

static int widest_line_number(const struct printer *printer, const struct diag *diag)
{
    int widest = 5;
    for (size_t i = 0; i <= diag->labels.count; i++) {
        struct span span = i ? diag->labels.items[i - 1].span : diag->primary.span;
        const struct source *source = source_get(printer->sources, span.source);
        uint32_t line, column;
        if (!source) continue;
        source_locate(source, span.begin, &line, &column);
        int digits = count_digits(line);
        if (digits > widest) widest = digits;
    }
    return widest;
}

static void print_head(const struct printer *printer, const struct diag *diag)
{
    const struct source *source = source_get(printer->sources, diag->primary.span.source);
    FILE *to = printer->to;
    paint(printer, BOLD);
    if (source) {
        uint32_t line, column;
        source_locate(source, diag->primary.span.begin, &line, &column);
        print_escaped(to, source->name);
        fprintf(to, ":%u:%u: ", line, column);
    } else {
        fputs("pipec: ", to);
    }
    paint(printer, level_colours[diag->level]);
    fprintf(to, "%s: ", level_names[diag->level]);
    paint(printer, RESET BOLD);
    print_escaped(to, diag->message);
    paint(printer, RESET);
    fprintf(to, " [%s]\n", rule_id(diag->rule));
}

static void print_diag(struct printer *printer, const struct diag *diag)
{
    printer->gutter_columns = widest_line_number(printer, diag);
    printer->shown_source = diag->primary.span.source;
    print_head(printer, diag);
    print_snippet(printer, &diag->primary, true);
    for (size_t i = 0; i < diag->labels.count; i++)
        print_snippet(printer, &diag->labels.items[i], false);
    for (size_t i = 0; i < diag->remarks.count; i++) {
        const struct remark *remark = &diag->remarks.items[i];
        paint(printer, remark->is_help ? CARET_COLOUR : level_colours[DIAG_NOTE]);
        fputs(remark->is_help ? "help: " : "note: ", printer->to);
        paint(printer, RESET);
        print_escaped(printer->to, remark->text);
        fputc('\n', printer->to);
    }
}

static int compare_diags(const void *a, const void *b)
{
    const struct diag *x = *(struct diag *const *)a, *y = *(struct diag *const *)b;
    const struct span *p = &x->primary.span, *q = &y->primary.span;
    if (p->source != q->source) return p->source < q->source ? -1 : 1;
    if (p->begin != q->begin) return p->begin < q->begin ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void diag_flush(struct diags *diags, FILE *to, bool colour)
{
    struct printer printer = {.sources = diags->sources, .to = to, .colour = colour};
    if (diags->kept.count)
        qsort(diags->kept.items, diags->kept.count, sizeof(struct diag *), compare_diags);
    for (size_t i = 0; i < diags->kept.count; i++) {
        const struct diag *diag = diags->kept.items[i];
        if (diags->shown_error_count >= DIAG_SHOWN_MAX) {
            diags->hidden_count++;
            continue;
        }
        if (diag->level == DIAG_ERROR) diags->shown_error_count++;
        print_diag(&printer, diag);
    }
    if (diags->hidden_count)
        fprintf(to, "pipec: note: %zu more message%s not shown\n", diags->hidden_count,
                diags->hidden_count == 1 ? " is" : "s are");
    diags->hidden_count = 0;
    diags->kept.count = 0;
}

/* ---- names that were meant ---- */

enum { NAME_COMPARED_MAX = 128 };

static bool same_letter(char a, char b, bool fold)
{
    return a == b || (fold && tolower((unsigned char)a) == tolower((unsigned char)b));
}

/* Damerau-Levenshtein (adjacent transpositions); lengths at most NAME_COMPARED_MAX. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                            bool fold)
{
    size_t rows[3][NAME_COMPARED_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        before[j] = above[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = above[j - 1] + !same_letter(a[i - 1], b[j - 1], fold);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2], fold) &&
                same_letter(a[i - 2], b[j - 1], fold) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_length];
}

const char *nearest_name(const char *name, const char *const *candidates, size_t count)
{
    size_t length = strlen(name), limit = (length + 2) / 3;
    const char *nearest = NULL;
    size_t nearest_exact = 0, nearest_folded = 0;
    if (length == 0 || length > NAME_COMPARED_MAX) return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = candidates[i];
        size_t other = strlen(candidate);
        size_t difference = other > length ? other - length : length - other;
        if (other > NAME_COMPARED_MAX || difference > limit) continue;
        size_t exact = edit_distance(name, length, candidate, other, false);
        size_t folded = edit_distance(name, length, candidate, other, true);
        /* A name of one letter is near to every other: only its other case is suggested. */
        if (folded > 0 && (exact > limit || exact >= length)) continue;
        if (nearest &&
            (exact > nearest_exact || (exact == nearest_exact && folded >= nearest_folded)))
            continue;
        nearest = candidate;
        nearest_exact = exact;
        nearest_folded = folded;
    }
    return nearest;
}
