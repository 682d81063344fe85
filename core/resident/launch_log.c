/* SPDX-License-Identifier: MIT */
#include "core/resident/launch_log.h"

#include "core/resident/resident_machine.h"

void core_log_begin(struct core_resident *r)
{
    if (r->log == NULL) return;
    core_store_system(&r->log->waits, 1);
    for (uint32_t round = 0; core_load_system(&r->log->moment) == 0; round += round < UINT32_MAX) {
        if (core_load_system_32(&r->mail->stop) != 0) return;
        core_pause(r, round);
    }
    core_store_system(&r->log->clock, core_now(r));
}

/* Waits until there is room for an entry.  False: the host ends the run. */
static bool await_log_room(struct core_resident *r)
{
    for (uint32_t round = 0; r->logged - r->log_taken == r->log->rows;
         round += round < UINT32_MAX) {
        r->log_taken = core_load_system(&r->log->taken);
        if (core_load_system_32(&r->mail->stop) != 0) return false;
        core_poke_system(&r->mail->beats, ++r->beats);
        core_pause(r, round);
    }
    return true;
}

void core_log_launch(struct core_resident *r, const struct core_log_entry *entry)
{
    const struct core_stage *stage = core_stage(r->core, entry->stage);
    if (r->log == NULL || !await_log_room(r)) return;
    uint64_t *appended = core_log_appended(r->log, r->logged);
    *core_log_row(r->log, r->logged) = *entry;
    for (uint32_t i = 0; i < stage->output_count; i++)
        appended[i] = core_produced(r->core)[stage->first_output + i];
    core_fence_system();
    core_store_system(&r->log->written, ++r->logged);
}
