/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/diag.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "compiler/diagnostics/diag_internal.h"
#include "compiler/diagnostics/diag_list.h"
#include "compiler/diagnostics/suppress.h"
#include "base/vec.h"
#include "base/nearest.h"

enum {
    KEPT_MAX = 10000,    /* diagnostics held at one time, unless an option demands more */
    BUCKET_COUNT = 1024, /* of the table that finds equal diagnostics */
};

struct examination {
    struct span item;
    bool examined;
};

struct suppression_table {
    struct arena *arena;
    VEC(struct suppressions *) by_source; /* NULL: not read yet */
    VEC(struct examination) items;        /* in order of place once `checked` */
    bool checked;
};

struct diags {
    struct arena *arena;
    const struct sources *sources;
    VEC(struct diag *) kept;
    struct diag *buckets[BUCKET_COUNT];
    struct diag sink;
    enum diag_level levels[RULE_COUNT];
    size_t error_count, warning_count, note_count, reported_count;
    size_t kept_max;
    size_t lost_count; /* reported, but not kept, beyond kept_max */
    bool (*hides)(void *data, enum rule rule, struct span span, const char *message);
    void *hides_data;
    struct suppression_table *suppressions; /* shared with the forks */
};

/* The levels by their names in the table. */
enum {
    LINT_ONLY = 8,
    ACCEPTABLE = 16,
    IS_NOTE = DIAG_NOTE,
    IS_WARNING = DIAG_WARNING,
    IS_ERROR = DIAG_ERROR,
    IS_LINT_NOTE = LINT_ONLY | DIAG_NOTE,
    IS_LINT_WARNING = LINT_ONLY | DIAG_WARNING,
    IS_ACCEPTABLE_ERROR = ACCEPTABLE | DIAG_ERROR,
};

static const struct {
    const char *id;
    int level;
    const char *group, *summary;
} rules[RULE_COUNT] = {
#define RULE(enumerator, id, level, group, summary) {id, IS_##level, group, summary},
#include "compiler/diagnostics/rules.def"
#undef RULE
};

/* ---- collecting ---- */

struct diags *diags_create(struct arena *arena, const struct sources *sources)
{
    struct diags *diags = ARENA_NEW(arena, struct diags);
    diags->arena = arena;
    diags->sources = sources;
    diags->sink.discarded = true;
    diags->kept_max = KEPT_MAX;
    diags->suppressions = ARENA_NEW(arena, struct suppression_table);
    diags->suppressions->arena = arena;
    for (size_t i = 0; i < RULE_COUNT; i++)
        diags->levels[i] = rule_is_lint((enum rule)i) ? DIAG_OFF : rule_level((enum rule)i);
    return diags;
}

struct diags *diags_fork(struct arena *arena, const struct diags *diags)
{
    struct diags *fork = diags_create(arena, diags->sources);
    memcpy(fork->levels, diags->levels, sizeof fork->levels);
    fork->suppressions = diags->suppressions;
    fork->hides = diags->hides;
    fork->hides_data = diags->hides_data;
    return fork;
}

static void count_level(struct diags *diags, enum diag_level level)
{
    if (level == DIAG_ERROR) diags->error_count++;
    if (level == DIAG_WARNING) diags->warning_count++;
    if (level == DIAG_NOTE) diags->note_count++;
}

/* The diagnostics of this rule at this place are in this bucket. */
static struct diag **find_bucket(struct diags *diags, enum rule rule, struct span span)
{
    uint32_t hash = 2166136261u ^ (uint32_t)rule ^ span.source << 8;
    hash = (hash ^ span.begin) * 16777619u;
    hash = (hash ^ span.end) * 16777619u;
    return &diags->buckets[(hash ^ hash >> 16) % BUCKET_COUNT];
}

static bool is_reported_at(const struct diag *diag, enum rule rule, struct span span)
{
    const struct span *at = &diag->primary.span;
    return diag->rule == rule && at->source == span.source && at->begin == span.begin &&
           at->end == span.end;
}

static bool is_equal_diag(const struct diag *diag, enum rule rule, struct span span,
                          const char *message)
{
    return is_reported_at(diag, rule, span) && strcmp(diag->message, message) == 0;
}

static void keep_diag(struct diags *diags, struct diag *diag, struct diag **bucket)
{
    diag->order = diags->reported_count++;
    diag->next_equal = *bucket;
    *bucket = diag;
    vec_push(diags->arena, &diags->kept, diag);
    count_level(diags, diag->level);
}

struct diag *diag_report(struct diags *diags, enum rule rule, struct span span, const char *format,
                         ...)
{
    enum diag_level level = diags->levels[rule];
    if (level == DIAG_OFF || diag_allowed_reason(diags, rule, span) != NULL) return &diags->sink;
    span = source_origin(diags->sources, span);
    if (diags->kept.count >= diags->kept_max) {
        count_level(diags, level);
        diags->lost_count++;
        return &diags->sink;
    }
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(diags->arena, format, args);
    va_end(args);
    struct diag **bucket = find_bucket(diags, rule, span);
    for (const struct diag *diag = *bucket; diag; diag = diag->next_equal)
        if (is_equal_diag(diag, rule, span, message)) return &diags->sink;
    if (diags->hides != NULL && diags->hides(diags->hides_data, rule, span, message))
        return &diags->sink;
    struct diag *diag = ARENA_NEW(diags->arena, struct diag);
    diag->arena = diags->arena;
    diag->sources = diags->sources;
    diag->rule = rule;
    diag->level = level;
    diag->message = message;
    diag->primary.span = span;
    keep_diag(diags, diag, bucket);
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
    struct place label = {source_origin(diag->sources, span),
                          arena_vprintf(diag->arena, format, args)};
    va_end(args);
    vec_push(diag->arena, &diag->labels, label);
}

/* The user's place becomes the first one; the place in the library follows. */
static void trace_to_user(const struct sources *sources, struct diag *diag, struct place use)
{
    struct place first = diag->primary;
    bool leaves = source_is_library(sources, first.span.source) &&
                  !source_is_library(sources, use.span.source);
    if (diag->trace_count++ >= DIAG_TRACES_MAX && !leaves) return;
    vec_push(diag->arena, &diag->labels, use);
    if (!leaves) return;
    diag->primary = use;
    if (first.text == NULL) first.text = "";
    memmove(diag->labels.items + 1, diag->labels.items,
            (diag->labels.count - 1) * sizeof diag->labels.items[0]);
    diag->labels.items[0] = first;
}

void diag_trace(struct diags *diags, size_t since, struct span use, const char *what)
{
    struct place place = {source_origin(diags->sources, use), NULL};
    for (size_t i = since; i < diags->kept.count; i++) {
        struct diag *diag = diags->kept.items[i];
        if (place.text == NULL) place.text = arena_printf(diags->arena, "for '%s' here", what);
        trace_to_user(diags->sources, diag, place);
    }
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

void diag_fix(struct diag *diag, struct span span, const char *format, ...)
{
    if (diag->discarded || span.source == 0) return;
    if (source_origin(diag->sources, span).source != span.source)
        return; /* not the author's text */
    va_list args;
    va_start(args, format);
    struct place edit = {span, arena_vprintf(diag->arena, format, args)};
    va_end(args);
    vec_push(diag->arena, &diag->edits, edit);
}

void diag_suggest(struct diag *diag, struct span span, const char *name)
{
    diag_help(diag, "did you mean '%s'?", name);
    diag_fix(diag, span, "%s", name);
}

enum rule diag_first_error(const struct diags *diags)
{
    for (size_t i = 0; i < diags->kept.count; i++)
        if (diags->kept.items[i]->level == DIAG_ERROR) return diags->kept.items[i]->rule;
    return RULE_COUNT;
}

void diag_take(struct diags *to, struct diags *from)
{
    for (size_t i = 0; i < from->kept.count; i++) {
        const struct diag *diag = from->kept.items[i];
        struct diag *taken = diag_report(to, diag->rule, diag->primary.span, "%s", diag->message);
        if (taken->discarded) continue;
        taken->primary = diag->primary;
        taken->trace_count = diag->trace_count;
        taken->labels.items = diag->labels.items;
        taken->labels.count = taken->labels.capacity = diag->labels.count;
        taken->remarks.items = diag->remarks.items;
        taken->remarks.count = taken->remarks.capacity = diag->remarks.count;
        taken->edits.items = diag->edits.items;
        taken->edits.count = taken->edits.capacity = diag->edits.count;
    }
    to->lost_count += from->lost_count;
    from->kept.count = 0;
}

static bool has_error_at(struct diags *diags, enum rule rule, struct span span)
{
    for (const struct diag *d = *find_bucket(diags, rule, span); d != NULL; d = d->next_equal)
        if (d->level == DIAG_ERROR && is_reported_at(d, rule, span)) return true;
    return false;
}

void diag_take_other(struct diags *to, struct diags *from)
{
    size_t count = 0;
    for (size_t i = 0; i < from->kept.count; i++) {
        struct diag *diag = from->kept.items[i];
        if (diag->level == DIAG_ERROR && has_error_at(to, diag->rule, diag->primary.span)) continue;
        from->kept.items[count++] = diag;
    }
    from->kept.count = count;
    diag_take(to, from);
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

size_t diag_note_count(const struct diags *diags)
{
    return diags->note_count;
}

size_t diag_kept_count(const struct diags *diags)
{
    return diags->kept.count;
}

const struct diag *diag_at(const struct diags *diags, size_t index)
{
    return diags->kept.items[index];
}

void diag_drop(struct diags *diags, bool (*drops)(void *data, const struct diag *diag), void *data)
{
    size_t kept = 0;
    for (size_t i = 0; i < diags->kept.count; i++) {
        struct diag *diag = diags->kept.items[i];
        if (!drops(data, diag)) {
            diags->kept.items[kept++] = diag;
            continue;
        }
        diags->error_count -= diag->level == DIAG_ERROR;
        diags->warning_count -= diag->level == DIAG_WARNING;
        diags->note_count -= diag->level == DIAG_NOTE;
    }
    diags->kept.count = kept;
}

void diag_hide(struct diags *diags,
               bool (*hides)(void *data, enum rule rule, struct span span, const char *message),
               void *data)
{
    diags->hides = hides;
    diags->hides_data = data;
}

void diag_keep(struct diags *diags, size_t most)
{
    diags->kept_max = most;
}

enum rule diag_rule(const struct diag *diag)
{
    return diag->rule;
}

enum diag_level diag_level(const struct diag *diag)
{
    return diag->level;
}

struct span diag_span(const struct diag *diag)
{
    return diag->primary.span;
}

const char *diag_message(const struct diag *diag)
{
    return diag->message;
}

const char *rule_id(enum rule rule)
{
    return rules[rule].id;
}

enum diag_level rule_level(enum rule rule)
{
    return (enum diag_level)(rules[rule].level & ~(LINT_ONLY | ACCEPTABLE));
}

bool rule_is_lint(enum rule rule)
{
    return (rules[rule].level & LINT_ONLY) != 0;
}

bool rule_is_suppressible(enum rule rule)
{
    return rule_level(rule) != DIAG_ERROR || (rules[rule].level & ACCEPTABLE) != 0;
}

const char *rule_group(enum rule rule)
{
    return rules[rule].group;
}

const char *rule_summary(enum rule rule)
{
    return rules[rule].summary;
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
    if (rule_level(rule) == DIAG_ERROR && level != DIAG_ERROR) return false;
    diags->levels[rule] = level;
    return true;
}

bool diag_wants(const struct diags *diags, enum rule rule)
{
    return diags->levels[rule] != DIAG_OFF;
}

/* ---- several compilations in one list ---- */

struct absorption {
    struct diags *to;
    struct sources *sources;
    const struct diags *from;
    uint32_t *ids; /* by source id of `from`: its id in `sources`; 0: not copied yet */
};

static uint32_t absorb_source(struct absorption *a, uint32_t id)
{
    const struct source *source = source_get(a->from->sources, id);
    if (source == NULL) return 0;
    if (a->ids[id] == 0 && id != 1) a->ids[id] = source_find(a->sources, source->name);
    if (a->ids[id] == 0) a->ids[id] = source_adopt(a->sources, source, id != 1);
    return a->ids[id];
}

static struct place absorb_place(struct absorption *a, struct place place)
{
    struct arena *arena = a->to->arena;
    place.span.source = absorb_source(a, place.span.source);
    if (place.text != NULL) place.text = arena_string(arena, place.text, strlen(place.text));
    return place;
}

static void absorb_diag(struct absorption *a, const struct diag *diag)
{
    struct arena *arena = a->to->arena;
    struct place primary = absorb_place(a, diag->primary);
    const char *message = diag->message;
    struct diag **bucket = find_bucket(a->to, diag->rule, primary.span);
    for (const struct diag *other = *bucket; other; other = other->next_equal)
        if (is_equal_diag(other, diag->rule, primary.span, message)) return;
    if (a->to->kept.count >= a->to->kept_max) {
        count_level(a->to, diag->level);
        a->to->lost_count++;
        return;
    }
    struct diag *copy = ARENA_NEW(arena, struct diag);
    copy->arena = arena;
    copy->sources = a->to->sources;
    copy->rule = diag->rule;
    copy->level = diag->level;
    copy->message = arena_string(arena, message, strlen(message));
    copy->primary = primary;
    for (size_t i = 0; i < diag->labels.count; i++)
        vec_push(arena, &copy->labels, absorb_place(a, diag->labels.items[i]));
    for (size_t i = 0; i < diag->remarks.count; i++) {
        struct remark remark = diag->remarks.items[i];
        remark.text = arena_string(arena, remark.text, strlen(remark.text));
        vec_push(arena, &copy->remarks, remark);
    }
    for (size_t i = 0; i < diag->edits.count; i++)
        vec_push(arena, &copy->edits, absorb_place(a, diag->edits.items[i]));
    keep_diag(a->to, copy, bucket);
}

void diag_absorb(struct diags *to, struct sources *to_sources, const struct diags *from,
                 bool (*takes)(void *data, const struct diag *diag), void *data)
{
    struct arena *scratch = arena_create();
    struct absorption a = {to, to_sources, from,
                           ARENA_ARRAY(scratch, uint32_t, source_count(from->sources) + 1)};
    for (size_t i = 0; i < from->kept.count; i++)
        if (takes == NULL || takes(data, from->kept.items[i])) absorb_diag(&a, from->kept.items[i]);
    to->lost_count += from->lost_count;
    arena_destroy(scratch);
}

/* ---- suppressions ---- */

static struct suppressions *suppressions_of(struct diags *diags, uint32_t id)
{
    const struct source *source = source_get(diags->sources, id);
    if (source == NULL) return NULL;
    struct suppression_table *table = diags->suppressions;
    while (table->by_source.count <= id)
        vec_push(table->arena, &table->by_source, (struct suppressions *)NULL);
    struct suppressions **of = &table->by_source.items[id];
    if (*of == NULL) *of = suppressions_read(table->arena, source, id);
    return *of;
}

static bool is_about_suppressions(enum rule rule)
{
    return rule == RULE_UNUSED_SUPPRESSION || rule == RULE_SUPPRESSION_WITHOUT_REASON;
}

/* The first comment that accepts the finding. Marks all that accept it as used. */
static const struct suppression *find_suppression(struct diags *diags, enum rule rule,
                                                  struct span span)
{
    if (!rule_is_suppressible(rule) || is_about_suppressions(rule)) return NULL;
    struct suppressions *of = suppressions_of(diags, span.source);
    const struct suppression *found = NULL;
    for (size_t i = 0; of != NULL && i < of->items.count; i++) {
        struct suppression *s = &of->items.items[i];
        if (s->rule != rule || span.begin < s->begin || span.begin >= s->end) continue;
        if (rule_level(rule) == DIAG_ERROR && !s->has_reason) continue;
        s->used = true;
        if (found == NULL) found = s;
    }
    return found;
}

const char *diag_allowed_reason(struct diags *diags, enum rule rule, struct span span)
{
    const struct suppression *s = find_suppression(diags, rule, span);
    if (s == NULL) return NULL;
    const char *bytes = source_get(diags->sources, span.source)->bytes;
    return arena_string(diags->arena, bytes + s->reason.begin, s->reason.end - s->reason.begin);
}

static void report_unknown_rule(struct diags *diags, const struct suppression *s)
{
    const struct source *source = source_get(diags->sources, s->name.source);
    const char *names[RULE_COUNT];
    const char *name =
        arena_string(diags->arena, source->bytes + s->name.begin, s->name.end - s->name.begin);
    for (int i = 0; i < RULE_COUNT; i++)
        names[i] = rule_id((enum rule)i);
    struct diag *d =
        diag_report(diags, RULE_INVALID_SUPPRESSION, s->name, "there is no rule '%s'", name);
    const char *nearest = nearest_name(name, names, RULE_COUNT);
    if (nearest != NULL) diag_suggest(d, s->name, nearest);
}

void diag_examined(struct diags *diags, struct span item, bool examined)
{
    struct suppression_table *table = diags->suppressions;
    struct examination examination = {item, examined};
    vec_push(table->arena, &table->items, examination);
}

/* Orders by place; for one item, puts an examination that was complete first. */
static int compare_examinations(const void *a, const void *b)
{
    const struct examination *x = a, *y = b;
    if (x->item.source != y->item.source) return x->item.source < y->item.source ? -1 : 1;
    if (x->item.begin != y->item.begin) return x->item.begin < y->item.begin ? -1 : 1;
    return (int)y->examined - (int)x->examined;
}

/* Keeps the first examination of each item. */
static void settle_examinations(struct suppression_table *table)
{
    size_t kept = 0;
    if (table->items.count == 0) return;
    qsort(table->items.items, table->items.count, sizeof table->items.items[0],
          compare_examinations);
    for (size_t i = 1; i < table->items.count; i++) {
        const struct span *last = &table->items.items[kept].item, *item;
        item = &table->items.items[i].item;
        if (item->source != last->source || item->begin != last->begin)
            table->items.items[++kept] = table->items.items[i];
    }
    table->items.count = kept + 1;
}

/* True if every item that the comment covers was examined for the rule. */
static bool is_examined(const struct suppression_table *table, const struct suppression *s)
{
    size_t low = 0, high = table->items.count;
    if (strcmp(rule_group(s->rule), "style") == 0) return true;
    while (low < high) { /* the first item that ends after the beginning of the covered range */
        size_t middle = low + (high - low) / 2;
        const struct span *item = &table->items.items[middle].item;
        bool before = item->source != s->comment.source ? item->source < s->comment.source
                                                        : item->end <= s->begin;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < table->items.count; low++) {
        const struct examination *e = &table->items.items[low];
        if (e->item.source != s->comment.source || e->item.begin >= s->end) return true;
        if (!e->examined) return false;
    }
    return true;
}

static void check_suppression(struct diags *diags, const struct suppression *s, bool complete)
{
    const char *id = s->rule != RULE_COUNT ? rule_id(s->rule) : NULL;
    if (s->rule == RULE_COUNT) {
        report_unknown_rule(diags, s);
    } else if (!rule_is_suppressible(s->rule) || is_about_suppressions(s->rule)) {
        diag_report(diags, RULE_SUPPRESSION_OF_ERROR, s->name, "'%s' cannot be accepted: %s", id,
                    is_about_suppressions(s->rule) ? "it is about such comments"
                                                   : "it is an error of the language");
    } else if (!s->has_reason) {
        struct diag *d = diag_report(diags, RULE_SUPPRESSION_WITHOUT_REASON, s->name,
                                     "nothing says why '%s' is accepted here", id);
        diag_help(d, "write why after it: reason=\"...\"");
    } else if (!s->used && complete && diag_wants(diags, s->rule) &&
               is_examined(diags->suppressions, s)) {
        diag_report(diags, RULE_UNUSED_SUPPRESSION, s->name,
                    "'%s' is not reported here: the comment accepts nothing", id);
    }
}

void diag_check_suppressions(struct diags *diags, bool complete)
{
    if (diags->suppressions->checked) return;
    diags->suppressions->checked = true;
    settle_examinations(diags->suppressions);
    for (uint32_t id = 1; id <= source_count(diags->sources); id++) {
        if (source_is_library(diags->sources, id)) continue;
        const struct suppressions *of = suppressions_of(diags, id);
        for (size_t i = 0; i < of->items.count; i++)
            check_suppression(diags, &of->items.items[i], complete);
        for (size_t i = 0; i < of->malformed.count; i++) {
            struct diag *d = diag_report(diags, RULE_INVALID_SUPPRESSION, of->malformed.items[i],
                                         "this comment says nothing to pipec");
            diag_help(d, "write // pipec: allow(RULE) reason=\"...\"");
        }
    }
}

/* ---- showing ---- */

static const struct {
    const char *name;
    void (*print)(const struct report *report, FILE *to);
} formats[DIAG_FORMAT_COUNT] = {
    [DIAG_TEXT] = {"text", diag_print_text},
    [DIAG_SHORT] = {"short", diag_print_short},
    [DIAG_JSON] = {"json", diag_print_json},
    [DIAG_JSONL] = {"jsonl", diag_print_jsonl},
    [DIAG_SARIF] = {"sarif", diag_print_sarif},
    [DIAG_GITHUB] = {"github", diag_print_github},
    [DIAG_GITLAB] = {"gitlab", diag_print_gitlab},
    [DIAG_CHECKSTYLE] = {"checkstyle", diag_print_checkstyle},
};

const char *diag_format_name(enum diag_format format)
{
    return formats[format].name;
}

const char *diag_level_name(enum diag_level level)
{
    static const char *const names[] = {"none", "note", "warning", "error"};
    return names[level];
}

static int compare_diags(const void *a, const void *b)
{
    const struct diag *x = *(const struct diag *const *)a, *y = *(const struct diag *const *)b;
    const struct span *p = &x->primary.span, *q = &y->primary.span;
    if (p->source != q->source) return p->source < q->source ? -1 : 1;
    if (p->begin != q->begin) return p->begin < q->begin ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static struct report report_of(const struct diags *diags, const struct diag_view *view)
{
    struct report report = {
        .arena = diags->arena,
        .sources = diags->sources,
        .items = ARENA_ARRAY(diags->arena, const struct diag *, diags->kept.count),
        .lost_count = diags->lost_count,
        .error_count = diags->error_count,
        .warning_count = diags->warning_count,
        .colour = view->colour,
        .all = view->all,
        .error_limit = view->error_limit > 0 ? view->error_limit : DIAG_SHOWN_MAX,
        .finished = !view->unfinished};
    for (size_t i = 0; i < diags->kept.count; i++)
        if (diags->kept.items[i]->level >= view->min_level)
            report.items[report.count++] = diags->kept.items[i];
    if (report.count > 0)
        qsort(report.items, report.count, sizeof(const struct diag *), compare_diags);
    return report;
}

void diag_print(const struct diags *diags, FILE *to, const struct diag_view *view)
{
    struct report report = report_of(diags, view);
    formats[view->format].print(&report, to);
}

void diag_list_json(const struct diags *diags, struct json *json, const char *key)
{
    struct report report = report_of(diags, &(struct diag_view){.min_level = DIAG_NOTE});
    report_list_json(&report, json, key);
}

bool diag_has(const struct diags *diags, enum rule rule)
{
    for (size_t i = 0; i < diags->kept.count; i++)
        if (diags->kept.items[i]->rule == rule) return true;
    return false;
}

void diag_flush(struct diags *diags, FILE *to, bool colour)
{
    diag_print(diags, to, &(struct diag_view){.format = DIAG_TEXT, .colour = colour});
    diags->lost_count = 0;
    diags->kept.count = 0;
}
