/* SPDX-License-Identifier: MIT */
#include "compiler/sema/test_block.h"

#include <math.h>
#include <string.h>

#include "compiler/ir/arith.h"
#include "compiler/sema/test_internal.h"
#include "compiler/syntax/parse.h"
#include "base/nearest.h"

struct checker {
    struct compile *cx;
    struct sema *sema;
    struct scope *scope;
    struct test_case *test;
    bool failed;
};

static const char *const fault_ids[] = {
#define FAULT(status, id) id,
#include "lang/faults.def"
#undef FAULT
};
enum { FAULT_IDS = sizeof fault_ids / sizeof fault_ids[0] };

__attribute__((format(printf, 4, 5))) static struct diag *
report_complaint(struct checker *c, enum rule rule, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(c->cx->arena, format, args);
    va_end(args);
    c->failed = true;
    return diag_report(c->cx->diags, rule, span, "%s", message);
}

/* ---- names ---- */

/* The name of the buffer `band` or `band[3]` in the graph; NULL after an error. */
static const char *whole_name(struct checker *c, const char *name, const struct ast_expr *dims)
{
    const char *text = name;
    for (const struct ast_expr *e = dims; e != NULL; e = e->next) {
        int64_t index;
        if (!sema_integer(c->sema, c->scope, e, &index)) {
            c->failed = true;
            return NULL;
        }
        text = arena_printf(c->cx->arena, "%s[%lld]", text, (long long)index);
    }
    return text;
}

static uint32_t find_test_port(const struct checker *c, const char *name)
{
    const struct graph *graph = c->test->graph;
    for (uint32_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *b = &graph->buffers.items[i];
        if (b->outer != GRAPH_INNER && strcmp(b->name, name) == 0) return i;
    }
    return GRAPH_NONE;
}

static struct graph_argument *find_argument(const struct checker *c, const char *name)
{
    struct graph *graph = c->test->graph;
    for (size_t i = 0; i < graph->arguments.count; i++)
        if (strcmp(graph->arguments.items[i].variable->name, name) == 0)
            return &graph->arguments.items[i];
    return NULL;
}

/* A port that is an element of the array `name`, or NULL. */
static const struct graph_buffer *find_array(const struct checker *c, const char *name)
{
    const struct graph *graph = c->test->graph;
    size_t length = strlen(name);
    for (uint32_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *b = &graph->buffers.items[i];
        if (b->outer != GRAPH_INNER && strncmp(b->name, name, length) == 0 &&
            b->name[length] == '[')
            return b;
    }
    return NULL;
}

static void report_unknown_test_port(struct checker *c, struct ast_name name, const char *whole,
                                     bool out_only)
{
    const struct graph *graph = c->test->graph;
    const char **names =
        ARENA_ARRAY(c->cx->arena, const char *, graph->buffers.count + graph->arguments.count);
    size_t count = 0;
    const struct graph_buffer *element = find_array(c, name.text);
    struct diag *d;
    if (element != NULL && strcmp(whole, name.text) == 0) {
        d = report_complaint(c, RULE_TYPE_MISMATCH, name.span, "'%s' is an array of ports",
                             name.text);
        diag_label(d, element->span, "declared here");
        diag_help(d, "name one of them: %s", element->name);
        return;
    }
    for (size_t i = 0; i < graph->buffers.count; i++)
        if (graph->buffers.items[i].outer == GRAPH_OUTER_OUT ||
            (!out_only && graph->buffers.items[i].outer == GRAPH_OUTER_IN))
            names[count++] = graph->buffers.items[i].name;
    for (size_t i = 0; i < graph->arguments.count && !out_only; i++)
        names[count++] = graph->arguments.items[i].variable->name;
    d = report_complaint(c, RULE_UNKNOWN_NAME, name.span, "'%s' has no %s '%s'", c->test->subject,
                         out_only ? "out-port" : "port or argument", whole);
    const char *nearest = nearest_name(whole, names, count);
    if (nearest != NULL) diag_help(d, "did you mean '%s'?", nearest);
}

/* ---- arguments ---- */

static void set_argument(struct checker *c, struct graph_argument *argument,
                         const struct ast_expr *value)
{
    uint64_t count;
    argument->values = sema_values(c->sema, c->scope, value, argument->variable->type, &count);
    argument->has_default = argument->values != NULL;
    argument->property = PROPERTY_NONE;
    c->failed |= !argument->has_default;
}

struct setting { /* a name that was given a value, to detect a second one */
    const char *name;
    struct span span;
};

typedef VEC(struct setting) setting_list;

static bool note_setting(struct checker *c, setting_list *settings, const char *name,
                         struct span span)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->items[i].name, name) != 0) continue;
        struct diag *d =
            report_complaint(c, RULE_DUPLICATE_NAME, span, "'%s' is given twice", name);
        diag_label(d, settings->items[i].span, "the first time");
        return false;
    }
    vec_push(c->cx->arena, settings, (struct setting){name, span});
    return true;
}

/* Sets the arguments of `of PIPELINE(0.5, 3)` in order. */
static void set_positional(struct checker *c, const struct ast_node *subject,
                           setting_list *settings)
{
    struct graph *graph = c->test->graph;
    size_t n = 0;
    for (const struct ast_expr *e = subject->inputs; e != NULL; e = e->next, n++) {
        if (n == graph->arguments.count) {
            report_complaint(c, RULE_WRONG_ARGUMENT_COUNT, e->span,
                             "'%s' takes %zu run-time argument%s", c->test->subject, n,
                             n == 1 ? "" : "s");
            return;
        }
        struct graph_argument *argument = &graph->arguments.items[n];
        note_setting(c, settings, argument->variable->name, e->span);
        set_argument(c, argument, e);
    }
}

/* Whether it is what an in-port knows, and a file is bound to that port. */
static bool is_known_by_file(const struct checker *c, const struct graph_argument *argument)
{
    for (size_t i = 0; argument->property != PROPERTY_NONE && i < c->test->inputs.count; i++) {
        const struct test_stream *input = &c->test->inputs.items[i];
        if (strcmp(input->port, argument->port) == 0)
            return input->values != NULL && input->values->kind == TEST_FILE;
    }
    return false;
}

/* ---- statements ---- */

static void check_set(struct checker *c, const struct ast_check *check, setting_list *settings)
{
    struct graph_argument *argument =
        check->dims == NULL ? find_argument(c, check->name.text) : NULL;
    const char *name = whole_name(c, check->name.text, check->dims);
    if (name == NULL) return;
    if (argument != NULL) {
        note_setting(c, settings, name, check->name.span);
        set_argument(c, argument, check->value);
        return;
    }
    uint32_t buffer = find_test_port(c, name);
    if (buffer == GRAPH_NONE) {
        report_unknown_test_port(c, check->name, name, false);
        return;
    }
    const struct graph_buffer *b = &c->test->graph->buffers.items[buffer];
    if (b->outer == GRAPH_OUTER_OUT) {
        struct diag *d = report_complaint(c, RULE_WRONG_KIND_OF_NAME, check->name.span,
                                          "'%s' is an out-port: it is expected, not set", name);
        diag_label(d, b->span, "declared here");
        diag_help(d, "write 'expect %s == ...'", name);
        return;
    }
    note_setting(c, settings, name, check->name.span);
    struct test_stream input = {
        .port = name, .buffer = buffer, .span = check->span, .tolerance = TEST_EXACT};
    if (test_values_parse(c->sema, c->scope, check->value, b->type, &input.values))
        vec_push(c->cx->arena, &c->test->inputs, input);
    else
        c->failed = true;
}

/* Splits `out`, `out[1]` into the name and its subscripts, outermost first; false for other
 * expressions. */
static bool split_port(const struct ast_expr *e, struct ast_name *name, struct ast_expr **dims)
{
    *dims = NULL;
    while (e->kind == AST_EXPR_INDEX) {
        e->right->next = *dims;
        *dims = e->right;
        e = e->left;
    }
    *name = e->name;
    return e->kind == AST_EXPR_NAME;
}

static bool check_ulp(struct checker *c, const struct ast_check *check, const struct type *type,
                      struct test_stream *expected)
{
    int64_t steps;
    if (strcmp(check->tolerance_unit.text, "ulp") != 0) {
        struct diag *d = report_complaint(c, RULE_SYNTAX, check->tolerance_unit.span,
                                          "a tolerance is 'within ABS' or 'within N ulp'");
        diag_help(d, "write 'ulp' in place of '%s'", check->tolerance_unit.text);
        return false;
    }
    if (!type->has_floats) {
        report_complaint(c, RULE_TYPE_MISMATCH, check->tolerance_unit.span,
                         "ulp are steps between floating-point values, and the packets are %s",
                         type_text(c->cx->arena, type));
        return false;
    }
    if (!sema_integer(c->sema, c->scope, check->tolerance_value, &steps)) return false;
    expected->tolerance = TEST_ULP;
    expected->ulp = (uint64_t)steps;
    if (steps >= 0) return true;
    report_complaint(c, RULE_CONSTANT_RANGE, check->tolerance_value->span,
                     "a tolerance is a number from 0 on");
    return false;
}

static bool check_tolerance(struct checker *c, const struct ast_check *check,
                            const struct type *type, struct test_stream *expected)
{
    if (check->tolerance.text == NULL) return true;
    if (strcmp(check->tolerance.text, "within") != 0) {
        struct diag *d = report_complaint(c, RULE_SYNTAX, check->tolerance.span,
                                          "a tolerance is 'within ABS' or 'within N ulp'");
        diag_help(d, "write 'within' in place of '%s'", check->tolerance.text);
        return false;
    }
    if (check->tolerance_unit.text != NULL) return check_ulp(c, check, type, expected);
    uint64_t count;
    const struct scalar_value *value = sema_values(c->sema, c->scope, check->tolerance_value,
                                                   type_scalar(c->sema->types, SCALAR_F64), &count);
    if (value == NULL) return false;
    expected->tolerance = TEST_WITHIN;
    expected->within = arith_as_f64(*value);
    if (expected->within >= 0 && isfinite(expected->within)) return true;
    report_complaint(c, RULE_CONSTANT_RANGE, check->tolerance_value->span,
                     "a tolerance is a number from 0 on");
    return false;
}

static void check_expect(struct checker *c, const struct ast_check *check, setting_list *settings)
{
    struct ast_name port;
    struct ast_expr *dims;
    if (check->other == NULL || !split_port(check->value, &port, &dims)) {
        struct diag *d = report_complaint(c, RULE_SYNTAX, check->span,
                                          "an expectation names an out-port and its packets");
        diag_help(d, "write 'expect PORT == {1, 2, 3};'");
        return;
    }
    const char *name = whole_name(c, port.text, dims);
    if (name == NULL) return;
    uint32_t buffer = find_test_port(c, name);
    if (buffer == GRAPH_NONE) {
        report_unknown_test_port(c, port, name, true);
        return;
    }
    const struct graph_buffer *b = &c->test->graph->buffers.items[buffer];
    if (b->outer == GRAPH_OUTER_IN) {
        struct diag *d = report_complaint(c, RULE_WRONG_KIND_OF_NAME, port.span,
                                          "'%s' is an in-port: it is set, not expected", name);
        diag_label(d, b->span, "declared here");
        diag_help(d, "write '%s = ...'", name);
        return;
    }
    note_setting(c, settings, name, port.span);
    struct test_stream expected = {.port = name, .buffer = buffer, .span = check->span};
    bool ok = test_values_parse(c->sema, c->scope, check->other, b->type, &expected.values);
    ok = check_tolerance(c, check, b->type, &expected) && ok;
    if (ok)
        vec_push(c->cx->arena, &c->test->expected, expected);
    else
        c->failed = true;
}

/* ---- expect fault, expect error ---- */

static void unknown_id(struct checker *c, const struct ast_check *check, const char *what,
                       const char *const *ids, size_t count)
{
    struct diag *d = report_complaint(c, RULE_UNKNOWN_NAME, check->value->span,
                                      "there is no %s \"%s\"", what, c->test->id);
    const char *nearest = nearest_name(c->test->id, ids, count);
    enum { LISTED_MAX = 12 };
    if (nearest != NULL) diag_help(d, "did you mean \"%s\"?", nearest);
    if (nearest != NULL || count > LISTED_MAX) return;
    const char *list = "";
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && strcmp(ids[i], ids[i - 1]) == 0; /* several faults have one id */
        if (!again)
            list = arena_printf(c->cx->arena, "%s%s\"%s\"", list, i > 0 ? ", " : "", ids[i]);
    }
    diag_note(d, "there are %s", list);
}

static void check_fault_id(struct checker *c, const struct ast_check *check)
{
    for (size_t i = 0; i < FAULT_IDS; i++)
        if (strcmp(fault_ids[i], c->test->id) == 0) return;
    unknown_id(c, check, "fault", fault_ids, FAULT_IDS);
}

static void check_error_id(struct checker *c, const struct ast_check *check)
{
    enum rule rule = rule_find(c->test->id);
    if (rule == RULE_COUNT) {
        const char *ids[RULE_COUNT];
        for (int i = 0; i < RULE_COUNT; i++)
            ids[i] = rule_id((enum rule)i);
        unknown_id(c, check, "rule", ids, RULE_COUNT);
    } else if (rule_level(rule) != DIAG_ERROR) {
        report_complaint(c, RULE_TEST_BLOCK, check->value->span,
                         "\"%s\" is a %s: it refuses no program", c->test->id,
                         diag_level_name(rule_level(rule)));
    }
}

/* `expect fault "id"`, `expect error "id"`: the expected outcome, instead of packets. */
static void check_outcome(struct checker *c, const struct ast_check *check)
{
    struct test_case *test = c->test;
    bool fault = strcmp(check->name.text, "fault") == 0;
    if (!fault && strcmp(check->name.text, "error") != 0) {
        struct diag *d = report_complaint(c, RULE_SYNTAX, check->name.span,
                                          "a test expects packets, a fault, or an error");
        diag_help(d, "write 'expect fault \"ID\";' or 'expect error \"ID\";'");
        return;
    }
    if (test->outcome != TEST_ENDS) {
        struct diag *d = report_complaint(c, RULE_TEST_BLOCK, check->span,
                                          "a test ends in one way, and this is a second one");
        diag_label(d, test->outcome_span, "the first one");
        return;
    }
    const struct ast_expr *id = check->value;
    test->outcome = fault ? TEST_FAULTS : TEST_REFUSED;
    test->outcome_span = check->span;
    test->id = arena_string(c->cx->arena, id->string.bytes, id->string.size_bytes);
    if (fault)
        check_fault_id(c, check);
    else
        check_error_id(c, check);
}

/* ---- the block ---- */

static void check_test_statements(struct checker *c, const struct ast_item *item)
{
    setting_list settings = {0};
    set_positional(c, item->subject, &settings);
    for (const struct ast_check *check = item->checks; check != NULL; check = check->next) {
        if (check->kind == AST_CHECK_SET) check_set(c, check, &settings);
        if (check->kind != AST_CHECK_EXPECT) continue;
        if (c->test->outcome == TEST_FAULTS) {
            struct diag *d =
                report_complaint(c, RULE_TEST_BLOCK, check->span,
                                 "a run that ends in a fault has no outputs to compare");
            diag_label(d, c->test->outcome_span, "the fault");
            continue;
        }
        check_expect(c, check, &settings);
    }
    const struct graph *graph = c->test->graph;
    for (size_t i = 0; i < graph->arguments.count && !c->failed; i++) {
        const struct graph_argument *argument = &graph->arguments.items[i];
        if (argument->has_default || is_known_by_file(c, argument)) continue;
        struct diag *d =
            report_complaint(c, RULE_WRONG_ARGUMENT_COUNT, c->test->span,
                             "test '%s' needs a value for the argument '%s' of '%s'", c->test->name,
                             argument->variable->name, c->test->subject);
        diag_label(d, argument->variable->span, "it has no default");
    }
    if (c->failed || c->test->outcome != TEST_ENDS || c->test->expected.count > 0) return;
    struct diag *d = report_complaint(c, RULE_TEST_BLOCK, c->test->span,
                                      "test '%s' expects nothing", c->test->name);
    diag_help(d, "write 'expect PORT == {...};', 'expect fault \"ID\";' or 'expect error \"ID\";'");
}

/* A pipeline that must not compile has no checked ports. */
static void check_refused(struct checker *c, const struct ast_item *item)
{
    for (const struct ast_check *check = item->checks; check != NULL; check = check->next) {
        if (check->kind == AST_CHECK_EXPECT_NAMED || check->kind == AST_CHECK_ERROR) continue;
        struct diag *d = report_complaint(
            c, RULE_TEST_BLOCK, check->span,
            "'expect error' is the only statement: a program that does not compile does not run");
        diag_label(d, c->test->outcome_span, "the error");
        return;
    }
    const struct ast_node *subject = item->subject;
    if (subject->inputs != NULL)
        report_complaint(
            c, RULE_TEST_BLOCK, subject->inputs->span,
            "'expect error' takes no run-time arguments: a program that does not compile does "
            "not run");
    const struct symbol *symbol = scope_find(c->scope, subject->name.text);
    if (symbol == NULL || (symbol->kind != SYMBOL_PIPELINE && symbol->kind != SYMBOL_KERNEL))
        c->failed |= !sema_check_subject(c->sema, c->scope, subject);
}

bool test_check_with(struct sema *sema, const struct ast_item *item, struct test_case *test)
{
    struct checker c = {
        .cx = sema->cx, .sema = sema, .scope = sema_scope_at(sema, item->span), .test = test};
    *test = (struct test_case){.name = item->name.text,
                               .span = item->name.span,
                               .subject = item->subject->name.text,
                               .item = item};
    for (const struct ast_check *check = item->checks; check != NULL; check = check->next) {
        if (check->kind == AST_CHECK_EXPECT_NAMED) check_outcome(&c, check);
        if (check->kind == AST_CHECK_ERROR) c.failed = true;
    }
    if (test->outcome == TEST_REFUSED) {
        check_refused(&c, item);
        return !c.failed;
    }
    if (!sema_check_subject(sema, c.scope, item->subject)) return false;
    test->graph = sema_elaborate_subject(sema, c.scope, item->subject);
    if (test->graph == NULL) return false;
    check_test_statements(&c, item);
    return !c.failed;
}

struct test_case *test_check(struct compile *cx, const struct ast_program *program,
                             const struct ast_item *item)
{
    struct sema *sema = sema_create(cx, program);
    struct test_case *test = ARENA_NEW(cx->arena, struct test_case);
    return test_check_with(sema, item, test) ? test : NULL;
}

struct graph *test_subject(struct compile *cx, const struct ast_program *program,
                           const struct ast_item *item)
{
    struct sema *sema = sema_create(cx, program);
    return sema_elaborate_subject(sema, sema_scope_at(sema, item->span), item->subject);
}

/* The pipeline is parsed from a text that sees the program's types and declares no name that they
 * need. */
struct graph *test_copy_graph(struct compile *cx, const struct ast_program *program,
                              const struct type *type)
{
    static const char form[] = "kernel pipec_copies_(in %s x, out %s y) { y <- x; }\n"
                               "pipeline pipec_copy_(in %s x, out %s y) "
                               "{ pipec_copies_(x -> y); }\n";
    const char *name = type_text(cx->arena, type);
    const char *text = arena_printf(cx->arena, form, name, name, name, name);
    struct ast_program *copy =
        parse_program(cx, source_add(cx->sources, "copy", text, strlen(text)));
    struct ast_file *last = copy->files;
    while (last->next != NULL)
        last = last->next;
    last->next = program->files;
    if (diag_failed(cx->diags)) return NULL;
    struct sema *sema = sema_create(cx, copy);
    const struct symbol *symbol =
        scope_find(sema->globals, intern_string(cx->names, "pipec_copy_"));
    struct graph *graph = sema_elaborate_pipeline(sema, symbol->item, sema->globals, NULL, false);
    if (graph != NULL) sema_collect_used(sema, graph);
    return graph;
}
