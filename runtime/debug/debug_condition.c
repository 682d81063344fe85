/* SPDX-License-Identifier: MIT */
#include "runtime/debug/debug_condition.h"

#include "lang/half.h"
#include "lang/scalar_text.h"
#include "runtime/debug/debug_place.h"
#include "runtime/load/debug_info.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static struct debug_value integer_value(__int128 integer)
{
    return (struct debug_value){.kind = DEBUG_INTEGER, .integer = integer};
}

static double float_of(enum scalar_type scalar, uint64_t bits)
{
    float single;
    double number;
    uint32_t low = (uint32_t)bits;
    switch (scalar) {
    case SCALAR_F16: return (double)half_from_f16((uint16_t)bits);
    case SCALAR_BF16: return (double)half_from_bf16((uint16_t)bits);
    case SCALAR_F32: memcpy(&single, &low, sizeof single); return (double)single;
    default: memcpy(&number, &bits, sizeof number); return number;
    }
}

struct debug_value prt_debugger_scalar_value(enum scalar_type scalar, const void *bytes)
{
    uint64_t bits = prt_debug_scalar_bits((uint32_t)scalar, bytes);
    if (scalar_is_float(scalar)) {
        return (struct debug_value){
            .kind = DEBUG_FLOAT, .scalar = scalar, .number = float_of(scalar, bits)};
    }
    if (scalar_is_signed(scalar)) return integer_value((int64_t)bits);
    return integer_value((__int128)bits);
}

static double value_as_number(const struct debug_value *value)
{
    return value->kind == DEBUG_FLOAT ? value->number : (double)value->integer;
}

/* A literal as the other one's type holds it. */
static struct debug_value rounded_literal(struct debug_value literal, enum scalar_type scalar)
{
    char text[64];
    uint64_t bits;
    snprintf(text, sizeof text, "%.17g", value_as_number(&literal));
    if (isfinite(value_as_number(&literal)) && scalar_parse(text, scalar, &bits))
        literal.number = float_of(scalar, bits);
    else
        literal.number = value_as_number(&literal);
    literal.kind = DEBUG_FLOAT;
    return literal;
}

static int order_of(const struct debug_value *a, const struct debug_value *b)
{
    if (a->kind == DEBUG_INTEGER && b->kind == DEBUG_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    double x = value_as_number(a), y = value_as_number(b);
    return (x > y) - (x < y);
}

bool prt_debugger_compare(struct debug_value a, enum debug_relation relation, struct debug_value b)
{
    if (a.kind == DEBUG_NOTHING || b.kind == DEBUG_NOTHING) return false;
    if (a.kind == DEBUG_FLOAT && !a.literal && b.literal) b = rounded_literal(b, a.scalar);
    if (b.kind == DEBUG_FLOAT && !b.literal && a.literal) a = rounded_literal(a, b.scalar);
    bool ordered = !isnan(value_as_number(&a)) && !isnan(value_as_number(&b));
    int order = order_of(&a, &b);
    switch (relation) {
    case DEBUG_EQ: return ordered && order == 0;
    case DEBUG_NE: return !ordered || order != 0;
    case DEBUG_LT: return ordered && order < 0;
    case DEBUG_LE: return ordered && order <= 0;
    case DEBUG_GT: return ordered && order > 0;
    case DEBUG_GE: return ordered && order >= 0;
    }
    return false;
}

bool prt_debugger_is_true(struct debug_value value)
{
    if (value.kind == DEBUG_NOTHING) return false;
    return value.kind == DEBUG_INTEGER ? value.integer != 0 : value.number != 0;
}

/* ---- words of the text ---- */

void prt_debugger_skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
}

bool prt_debugger_take_relation(const char **at, enum debug_relation *relation)
{
    static const struct {
        const char *text;
        enum debug_relation relation;
    } relations[] = {{"==", DEBUG_EQ}, {"!=", DEBUG_NE}, {"<=", DEBUG_LE},
                     {">=", DEBUG_GE}, {"<", DEBUG_LT},  {">", DEBUG_GT}};
    prt_debugger_skip_blanks(at);
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        size_t length = strlen(relations[i].text);
        if (strncmp(*at, relations[i].text, length) != 0) continue;
        *at += length;
        *relation = relations[i].relation;
        return true;
    }
    return false;
}

static bool skip_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0 || isalnum((unsigned char)(*at)[length]) ||
        (*at)[length] == '_' || (*at)[length] == '.' || (*at)[length] == '[')
        return false;
    *at += length;
    return true;
}

static bool take_constant(const char **at, struct debug_value *value)
{
    bool negative = **at == '-';
    const char *word = *at + negative;
    *value = integer_value(0);
    if (!negative && skip_word(&word, "true"))
        value->integer = 1;
    else if (skip_word(&word, "inf") || skip_word(&word, "nan"))
        *value = (struct debug_value){.kind = DEBUG_FLOAT,
                                      .number = word[-1] == 'f' ? HUGE_VAL : (double)NAN};
    else if (negative || !skip_word(&word, "false"))
        return false;
    if (negative) value->number = -value->number;
    *at = word;
    return true;
}

bool prt_debugger_take_number(const char **at, struct debug_value *value)
{
    prt_debugger_skip_blanks(at);
    bool constant = take_constant(at, value);
    value->literal = true;
    if (constant) return true;
    bool negative = **at == '-';
    const char *digits = *at + negative;
    char *end, *float_end;
    if (!isdigit((unsigned char)digits[0]) &&
        !(digits[0] == '.' && isdigit((unsigned char)digits[1])))
        return false;
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    errno = 0;
    unsigned long long whole = strtoull(digits, &end, hexadecimal ? 16 : 10);
    bool large = errno != 0;
    double number = strtod(digits, &float_end);
    *value = (struct debug_value){.literal = true};
    if (float_end > end || large) {
        value->kind = DEBUG_FLOAT;
        value->number = negative ? -number : number;
        *at = float_end;
    } else {
        value->kind = DEBUG_INTEGER;
        value->integer = negative ? -(__int128)whole : (__int128)whole;
        *at = end;
    }
    return !isalnum((unsigned char)**at) && **at != '_';
}

/* ---- conditions ---- */

enum { DEPTH_MAX = 64 };

struct condition {
    const struct prt_debugger *d;
    const char *at;
    uint64_t firing;
    uint32_t depth;
    struct prt_error *error;
};

static enum prt_status take_or(struct condition *c, struct debug_value *value);

static enum prt_status take_level(struct condition *c, struct debug_value *value)
{
    c->at += strlen("level(");
    prt_debugger_skip_blanks(&c->at);
    uint32_t buffer = prt_debugger_take_buffer(c->d, &c->at);
    if (buffer == PRT_NONE) return prt_debugger_refuse_name(c->d, DEBUG_BUFFERS, c->at, c->error);
    prt_debugger_skip_blanks(&c->at);
    if (*c->at != ')') return prt_error_set(c->error, PRT_E_USAGE, "')' is missing");
    c->at++;
    const struct core_fifo *fifo = c->d->sched->buffers[buffer].fifo;
    *value = integer_value((__int128)(fifo->written_packets - fifo->oldest_packets));
    return PRT_OK;
}

enum prt_status prt_debugger_refuse_parts(const struct prt_debugger *d, uint32_t type,
                                          const char *name, struct prt_error *error)
{
    char parts[DEBUG_PARTS_MAX];
    prt_debug_parts_text(d->container, type, parts, sizeof parts);
    return prt_error_set(error, PRT_E_USAGE, "'%s' is no number: name a part of it%s%s", name,
                         parts[0] != '\0' ? ": " : "", parts);
}

enum prt_status prt_debugger_refuse_rest(const char *rest, struct prt_error *error)
{
    bool assigns = rest[0] == '=' && rest[1] != '=';
    return prt_error_set(error, PRT_E_USAGE, "'%s' is left over%s", rest,
                         assigns ? ": '==' compares" : "");
}

static enum prt_status take_condition_place(struct condition *c, struct debug_value *value)
{
    struct debug_place place;
    enum prt_status status = prt_debugger_place_read(c->d, &c->at, &place, c->error);
    if (status != PRT_OK) return status;
    const struct container_type *type = prt_debug_type(c->d->container, place.type);
    bool scalar = place.kind == DEBUG_VALUE &&
                  (type != NULL ? type->kind == CONTAINER_TYPE_SCALAR
                                : place.size_bytes == scalar_width_bytes(place.scalar));
    if (place.kind == DEBUG_PACKETS)
        return prt_error_set(c->error, PRT_E_USAGE, "'%s' is no number: name a packet of it: %s[0]",
                             place.name, place.name);
    if (!scalar) return prt_debugger_refuse_parts(c->d, place.type, place.name, c->error);
    *value = (struct debug_value){.kind = DEBUG_NOTHING};
    if (place.bytes != NULL) *value = prt_debugger_scalar_value(place.scalar, place.bytes);
    return PRT_OK;
}

static enum prt_status take_operand(struct condition *c, struct debug_value *value)
{
    prt_debugger_skip_blanks(&c->at);
    if (*c->at == '!') {
        c->at++;
        if (++c->depth > DEPTH_MAX)
            return prt_error_set(c->error, PRT_E_USAGE, "the condition is nested too deeply");
        enum prt_status status = take_operand(c, value);
        c->depth--;
        if (status == PRT_OK && value->kind != DEBUG_NOTHING)
            *value = integer_value(!prt_debugger_is_true(*value));
        return status;
    }
    if (*c->at == '(') {
        c->at++;
        enum prt_status status = take_or(c, value);
        prt_debugger_skip_blanks(&c->at);
        if (status == PRT_OK && *c->at != ')')
            return prt_error_set(c->error, PRT_E_USAGE, "')' is missing");
        c->at += status == PRT_OK;
        return status;
    }
    *value = integer_value(0);
    if (*c->at == '\0') return prt_error_set(c->error, PRT_E_USAGE, "a value is missing");
    if (prt_debugger_take_number(&c->at, value)) return PRT_OK;
    if (skip_word(&c->at, "cycle"))
        *value = integer_value((__int128)prt_run_moment_cycles(c->d->run));
    else if (skip_word(&c->at, "firing"))
        *value = integer_value((__int128)c->firing);
    else if (strncmp(c->at, "level(", 6) == 0)
        return take_level(c, value);
    else
        return take_condition_place(c, value);
    return PRT_OK;
}

static enum prt_status take_relation(struct condition *c, struct debug_value *value)
{
    enum debug_relation relation;
    struct debug_value right;
    enum prt_status status = take_operand(c, value);
    if (status != PRT_OK || !prt_debugger_take_relation(&c->at, &relation)) return status;
    status = take_operand(c, &right);
    if (status == PRT_OK) *value = integer_value(prt_debugger_compare(*value, relation, right));
    return status;
}

/* Both sides are read, whatever the first one says. */
static enum prt_status take_and(struct condition *c, struct debug_value *value)
{
    enum prt_status status = take_relation(c, value);
    for (prt_debugger_skip_blanks(&c->at); status == PRT_OK && strncmp(c->at, "&&", 2) == 0;
         prt_debugger_skip_blanks(&c->at)) {
        struct debug_value right;
        c->at += 2;
        status = take_relation(c, &right);
        if (status == PRT_OK)
            *value = integer_value(prt_debugger_is_true(*value) && prt_debugger_is_true(right));
    }
    return status;
}

static enum prt_status take_or(struct condition *c, struct debug_value *value)
{
    if (++c->depth > DEPTH_MAX)
        return prt_error_set(c->error, PRT_E_USAGE, "the condition is nested too deeply");
    enum prt_status status = take_and(c, value);
    for (prt_debugger_skip_blanks(&c->at); status == PRT_OK && strncmp(c->at, "||", 2) == 0;
         prt_debugger_skip_blanks(&c->at)) {
        struct debug_value right;
        c->at += 2;
        status = take_and(c, &right);
        if (status == PRT_OK)
            *value = integer_value(prt_debugger_is_true(*value) || prt_debugger_is_true(right));
    }
    c->depth--;
    return status;
}

enum prt_status prt_debugger_evaluate(const struct prt_debugger *d, const char *text,
                                      uint64_t firing, struct debug_value *value,
                                      struct prt_error *error)
{
    struct condition c = {.d = d, .at = text, .firing = firing, .error = error};
    enum prt_status status = take_or(&c, value);
    prt_debugger_skip_blanks(&c.at);
    return status == PRT_OK && *c.at != '\0' ? prt_debugger_refuse_rest(c.at, error) : status;
}
