/* SPDX-License-Identifier: MIT */
/*
 * How stages share packets and reference entries (lang/dispatch.md).  A mistake here could do no harm in a run, because the
 * scheduler compares every launch with the contents of its entry.  But the packets would not be those of the plan.
 */
#include "runtime/verify/verify_internal.h"

#include "lang/dispatch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The entries of a pack are distinct, and every referenced entry has an owner.  `taken`: per pack,
 * the entries that its stages own. */
static enum prt_status verify_reference_entries(const struct prt_container *c, uint8_t *taken,
                                                struct prt_error *error)
{
    uint32_t owned = 0;
    memset(taken, 0, c->stage_count);
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct container_stage *s = &c->stages[i];
        bool spilled = (s->flags & CONTAINER_STAGE_SPILLED) != 0;
        CHECK(s->entry != CONTAINER_NONE || !spilled, STAGES, i, "a spilled stage without entry");
        if (s->entry == CONTAINER_NONE || spilled) continue;
        CHECK((taken[s->pack] >> s->entry & 1) == 0, STAGES, i,
              "reference entry %" PRIu32 " belongs to another stage of its pack", s->entry);
        taken[s->pack] |= (uint8_t)(1u << s->entry);
        owned |= 1u << s->entry;
    }
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct container_stage *s = &c->stages[i];
        CHECK(s->entry == CONTAINER_NONE || (owned >> s->entry & 1) != 0, STAGES, i,
              "reference entry %" PRIu32 " belongs to no stage", s->entry);
    }
    return PRT_OK;
}

/* `first`: of each pack, its first place in `taken`, one more at the end. */
static enum prt_status verify_places(const struct prt_container *c, uint32_t *first, uint8_t *taken,
                                     struct prt_error *error)
{
    uint32_t gap = c->stage_count; /* the first pack without stages */
    assert(first != NULL && taken != NULL);
    for (uint32_t i = 0; i < c->stage_count; i++)
        first[c->stages[i].pack + 1]++;
    for (uint32_t p = 0; p < c->stage_count; p++) {
        if (first[p + 1] == 0 && gap == c->stage_count) gap = p;
        CHECK(gap == c->stage_count || first[p + 1] == 0, STAGES, 0, "there is no pack %" PRIu32,
              gap);
        first[p + 1] += first[p];
    }
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct container_stage *s = &c->stages[i];
        uint32_t length = first[s->pack + 1] - first[s->pack];
        CHECK(s->place < length, STAGES, i, "place %" PRIu32 " of a pack of %" PRIu32 " stages",
              s->place, length);
        CHECK(!taken[first[s->pack] + s->place], STAGES, i,
              "place %" PRIu32 " of pack %" PRIu32 " is taken", s->place, s->pack);
        taken[first[s->pack] + s->place] = 1;
        bool last = s->place + 1 == length;
        CHECK(last == ((s->flags & CONTAINER_STAGE_ENDS_PACK) != 0), STAGES, i, "%s",
              last ? "the last of its pack does not end it"
                   : "it ends its pack, but is not the last");
        CHECK(length == 1 || s->entry != CONTAINER_NONE, STAGES, i,
              "a stage of a pack without reference entry");
        CHECK(length <= DISPATCH_UNITS, STAGES, i, "a pack of more than %u stages", DISPATCH_UNITS);
    }
    return PRT_OK;
}

enum prt_status prt_verify_packs(const struct prt_container *c, struct prt_error *error)
{
    uint32_t *first = calloc((size_t)c->stage_count + 1, sizeof *first);
    uint8_t *taken = calloc((size_t)c->stage_count + 1, 1);
    enum prt_status status = first != NULL && taken != NULL
                                 ? PRT_OK
                                 : prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (status == PRT_OK) status = verify_places(c, first, taken, error);
    if (status == PRT_OK) status = verify_reference_entries(c, taken, error);
    free(first);
    free(taken);
    return status;
}
