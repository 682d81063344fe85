/* SPDX-License-Identifier: MIT */
#include "runtime/sched/static_part.h"

#include "runtime/sched/self_driven.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/live_port.h"
#include "runtime/sched/packets.h"
#include "runtime/sched/ready.h"
#include "runtime/sched/select.h"

#include <assert.h>
#include <inttypes.h>

/* ---- guards ---- */

/* Packets in front of the input that no firing in flight consumes. */
static uint64_t unclaimed(const struct prt_stage *stage, const struct prt_stage_input *input)
{
    uint64_t held = prt_fifo_held(&input->buffer->fifo, input->reader);
    if (!stage->in_flight || input->in_order) return held;
    return held - prt_ready_frees(input, stage->firings - stage->batch, stage->batch);
}

/* Can the host bring what is missing? If not, what is in flight has to make room first. */
static bool admits(const struct prt_stage *stage, const struct prt_stage_input *input,
                   uint32_t packets)
{
    uint64_t held = unclaimed(stage, input);
    return held < packets && prt_ready_is_filled(input) &&
           prt_fifo_room(&input->buffer->fifo) >= packets - held;
}

enum prt_status prt_static_has_packets(struct prt_sched *s, uint32_t index, uint32_t end,
                                       uint32_t packets, bool *holds, struct prt_error *error)
{
    const struct prt_stage *stage = &s->stages[index];
    const struct prt_stage_input *input = &stage->inputs[end];
    enum prt_status status = PRT_OK;
    *holds = false;
    if (s->step != NULL || stage->life != PRT_STAGE_RUNNING) return PRT_OK;
    if (unclaimed(stage, input) < packets) status = prt_live_take(s, error);
    if (status == PRT_OK && admits(stage, input, packets))
        status = prt_inport_fill(s, input->buffer, error);
    *holds = status == PRT_OK && unclaimed(stage, input) >= packets;
    return status;
}

bool prt_static_has_room(const struct prt_sched *s, uint32_t index, uint32_t output,
                         uint32_t packets)
{
    const struct prt_stage *stage = &s->stages[index];
    return s->step == NULL && stage->life == PRT_STAGE_RUNNING &&
           prt_ready_room(&stage->outputs[output]) >= packets;
}

bool prt_static_goes_on(struct prt_sched *s, uint32_t index, uint32_t firings)
{
    struct prt_stage *stage = &s->stages[index];
    if (s->step != NULL || stage->life != PRT_STAGE_RUNNING) return false;
    if (prt_select_stops_by_interrupt(s, stage) || prt_circle_unwanted(s, stage)) return false;
    return !stage->stopped && prt_select_source_left(s, stage) >= firings;
}

/* ---- run ---- */

static bool input_holds(const struct prt_stage *stage, const struct prt_stage_input *input,
                        uint64_t firings)
{
    const struct prt_take *take = &input->take;
    assert(input->window.width == 0); /* the verifier: no run of a stage with a 2-D window */
    if (take->pop.phases > 1) return prt_ready_input(stage, input, false, firings) == firings;
    uint64_t sees = take->pop.cycle * (firings - 1) + take->peek;
    return prt_fifo_held(&input->buffer->fifo, input->reader) >= sees;
}

/* Do the ends of the stage, as they are now, admit so many firings, at most its largest batch? */
static bool can_run(const struct prt_stage *stage, uint64_t firings)
{
    const struct prt_stage_input *inputs = stage->inputs;
    const struct prt_stage_output *outputs = stage->outputs;
    for (uint32_t i = 0; i < stage->node->input_count; i++)
        if (!input_holds(stage, &inputs[i], firings)) return false;
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        uint64_t packets = prt_flow_total(&outputs[i].most, stage->firings, firings);
        if (prt_fifo_room(&outputs[i].buffer->fifo) < packets) return false;
    }
    return true;
}

/* Is it a stage of which so many firings can be possible at all? */
static bool may_run(const struct prt_sched *s, const struct prt_stage *stage, uint64_t firings)
{
    return stage->life == PRT_STAGE_RUNNING && !stage->stopped && firings > 0 &&
           firings <= stage->batch_max && prt_select_source_left(s, stage) >= firings;
}

static enum prt_status refuse_run(const struct prt_sched *s, const struct prt_stage *stage,
                                  uint64_t firings, struct prt_error *error)
{
    const char *why = stage->life != PRT_STAGE_RUNNING || stage->stopped
                          ? "which has ended"
                          : "for which there are too few packets or too little room";
    return prt_error_set(error, PRT_E_VERIFY,
                         "container: the scheduler program runs %" PRIu64 " firing%s of '%s', %s",
                         firings, firings == 1 ? "" : "s",
                         prt_container_text(s->container, stage->node->name), why);
}

/* One after the other, each of them seen to its end. */
static enum prt_status step_run(struct prt_sched *s, uint32_t index, uint32_t firings,
                                struct prt_error *error)
{
    const struct prt_stage *stage = &s->stages[index];
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < firings && status == PRT_OK; i++) {
        if (!may_run(s, stage, 1) || !can_run(stage, 1))
            return refuse_run(s, stage, firings - i, error);
        s->selected = index;
        s->selected_firings = 1;
        status = prt_sched_dispatch(s, error);
    }
    return status;
}

enum prt_status prt_static_run(struct prt_sched *s, uint32_t index, uint32_t firings,
                               struct prt_error *error)
{
    const struct prt_stage *stage = &s->stages[index];
    if (s->step != NULL) return step_run(s, index, firings, error);
    for (;;) {
        if (!may_run(s, stage, firings)) return refuse_run(s, stage, firings, error);
        if (!stage->in_flight && can_run(stage, firings))
            return prt_sched_launch(s, index, firings, error);
        if (s->in_flight == 0) return refuse_run(s, stage, firings, error);
        enum prt_status status = prt_sched_await(s, error);
        if (status != PRT_OK || s->faulted) return status;
    }
}

enum prt_status prt_static_fence(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = prt_packets_flush(s, error);
    while (status == PRT_OK && s->in_flight > 0)
        status = prt_sched_reap(s, error);
    return status;
}
