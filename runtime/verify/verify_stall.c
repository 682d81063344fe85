/* SPDX-License-Identifier: MIT */
/*
 * The sequence of a counterexample (lang/container.md, "Certificate"): it is well-formed, and has
 * an end.  That it can be fired, and ends in a stall, is seen by firing it.
 */
#include "runtime/verify/verify_certificate.h"

#include <inttypes.h>
#include <stdlib.h>

struct stall {
    const struct prt_container *c;
    uint64_t *firings; /* of each rule */
    uint64_t rule_count;
};

static enum prt_status verify_item(struct stall *s, uint64_t rule, uint64_t at, bool is_cycle,
                                   struct prt_error *error)
{
    const struct prt_container *c = s->c;
    uint64_t symbol = c->certificate[at], count = c->certificate[at + 1], nodes = c->node_count;
    CHECK_WORD(symbol < nodes || (!is_cycle && symbol - nodes < rule), at,
               "rule %" PRIu64 " contains a symbol that is neither a node nor an earlier rule",
               rule);
    uint64_t firings = symbol < nodes ? 1 : s->firings[symbol - nodes];
    CHECK_WORD(count >= 1 && count <= CONTAINER_STALL_FIRINGS_MAX, at + 1,
               "the count %" PRIu64 " is out of range", count);
    s->firings[rule] += firings * count; /* both are at most the limit */
    CHECK_WORD(s->firings[rule] <= CONTAINER_STALL_FIRINGS_MAX, at, "more than %" PRIu64 " firings",
               CONTAINER_STALL_FIRINGS_MAX);
    return PRT_OK;
}

static enum prt_status verify_rules(struct stall *s, struct prt_error *error)
{
    const struct prt_container *c = s->c;
    uint64_t at = 3, total = c->certificate_count;
    for (uint64_t i = 0; i < s->rule_count; i++) {
        CHECK_WORD(at < total && c->certificate[at] <= (total - at - 1) / 2, at < total ? at : 0,
                   "rule %" PRIu64 " runs past the section", i);
        bool is_cycle = i + 2 == s->rule_count, is_last = i + 1 == s->rule_count;
        uint64_t items = c->certificate[at];
        CHECK_WORD(items > 0 || is_last, at, "rule %" PRIu64 " is empty", i);
        for (uint64_t k = 0; k < items; k++) {
            enum prt_status status = verify_item(s, i, at + 1 + 2 * k, is_cycle, error);
            if (status != PRT_OK) return status;
        }
        at += 1 + 2 * items;
    }
    CHECK_WORD(at == total, at, "words after the last rule");
    return PRT_OK;
}

enum prt_status prt_verify_stall(const struct prt_container *c, struct prt_error *error)
{
    const uint64_t first = CONTAINER_NONE | (uint64_t)CONTAINER_CERTIFICATE_STALL
                                                << CONTAINER_CERTIFICATE_FORM_SHIFT;
    CHECK_WORD(c->certificate_count >= 3 && c->certificate[0] == first, 0,
               "a counterexample without its sequence");
    CHECK_WORD(c->certificate[1] == c->certificate_count - 2, 1,
               "another length than the section's");
    struct stall s = {.c = c, .rule_count = c->certificate[2]};
    CHECK_WORD(s.rule_count >= 2 && s.rule_count <= c->certificate_count - 3, 2,
               "%" PRIu64
               " rules: the cycle and the sequence are missing, or they are more than the words",
               s.rule_count);
    s.firings = calloc(s.rule_count, sizeof *s.firings);
    if (s.firings == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    enum prt_status status = verify_rules(&s, error);
    free(s.firings);
    return status;
}
