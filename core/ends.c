/* SPDX-License-Identifier: MIT */
#include "core/ends.h"

#include "core/launch.h"
#include "core/ready.h"

/* ---- takers ---- */

/* `reader` (NULL: the host) takes no more packets from the buffer.  Called at most once for each of them.  If the
 * component of the writer has no takers any more, marks its stages for `ends`. */
static void leave_buffer(struct core *c, const struct core_buffer *buffer,
                         const struct core_stage *reader)
{
    if (buffer->writer == CORE_NONE) return;
    const struct core_stage *writer = core_stage(c, buffer->writer), *member = writer;
    if (writer->fed) return;
    if (reader != NULL && !reader->fed && reader->component == writer->component) return;
    if (--core_takers(c)[writer->component] > 0) return;
    do {
        core_stage_may_end(c, member);
        member = core_stage(c, member->component_next);
    } while (member != writer);
}

void core_leave_port(struct core *c, struct core_buffer *buffer)
{
    buffer->gone = true;
    c->fewer_takers = true;
    core_sink_leaves(c);
    leave_buffer(c, buffer, NULL);
}

/* ---- endless in-ports ---- */

/* Does a reader of the buffer, which is no out-port, want its packets, and has not detached? */
static bool is_read(const struct core *c, const struct core_buffer *buffer)
{
    const struct core_reader *readers = core_fifo_reader(&buffer->fifo, 0);
    for (uint32_t r = 0; r < buffer->fifo.reader_count; r++)
        if (readers[r].attached && core_stage(c, readers[r].stage)->wanted) return true;
    return false;
}

static bool stage_is_wanted(const struct core *c, const struct core_stage *stage)
{
    if (stage->life != CORE_RUNNING) return false;
    if (stage->output_count == 0) return true;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_buffer *buffer = core_written_buffer(c, core_output(c, stage, i));
        if (buffer->port == CORE_OUT_PORT ? !buffer->gone : is_read(c, buffer)) return true;
    }
    return false;
}

/* Backwards, because most stages come before their readers. */
static void mark_wanted_stages(struct core *c)
{
    for (uint32_t i = 0; i < c->stage_count; i++)
        core_stage(c, i)->wanted = false;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = c->stage_count; i-- > 0;) {
            struct core_stage *stage = core_stage(c, i);
            if (stage->wanted || !stage_is_wanted(c, stage)) continue;
            stage->wanted = more = true;
        }
    }
}

static bool stage_is_cut_off(const struct core *c, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_buffer *buffer = core_read_buffer(c, core_input(c, stage, i));
        if (buffer->writer == CORE_NONE ? buffer->endless && buffer->fifo.closed
                                        : core_stage(c, buffer->writer)->cut_off)
            return true;
    }
    return false;
}

static void mark_cut_off(struct core *c)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < c->stage_count; i++) {
            struct core_stage *stage = core_stage(c, i);
            if (stage->cut_off || !stage_is_cut_off(c, stage)) continue;
            stage->cut_off = more = true;
        }
    }
}

/* Not after a fault: until it is known which fault counts, stages may need packets that nothing takes. */
void core_cut_off_ports(struct core *c)
{
    /* uncovered: a fault that is noted while an instruction waits for packets of an in-port */
    if (!c->endless || !c->fewer_takers || core_attends(c, CORE_HAS_FAULTED)) return;
    c->fewer_takers = false;
    mark_wanted_stages(c);
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        struct core_buffer *buffer = &core_buffers(c)[i];
        if (!buffer->endless || buffer->fifo.closed || is_read(c, buffer)) continue;
        core_close(c, buffer);
        mark_cut_off(c);
    }
}

/* ---- leftovers ---- */

/* Would the writer, which no in-port feeds, have appended more packets?  A source would; so would a cycle without
 * sources, unless an interrupt has stopped it. */
static bool would_continue(const struct core *c, const struct core_buffer *buffer)
{
    if (buffer->writer == CORE_NONE || buffer->fifo.closed) return false;
    const struct core_stage *stage = core_stage(c, buffer->writer);
    return !stage->fed && (stage->driven || !c->interrupt_seen);
}

/* May another buffer have ended the stage before all packets of an eager in-port have arrived?  The moment of their
 * arrival must not change the report. */
static bool may_still_come(const struct core *c, const struct core_stage *stage,
                           const struct core_input *input)
{
    const struct core_buffer *buffer = core_read_buffer(c, input);
    if (buffer->port == CORE_INNER || !buffer->eager) return false;
    for (uint32_t i = 0; i < stage->input_count; i++)
        if (core_input(c, stage, i)->buffer != input->buffer) return true;
    return false;
}

void core_note_leftovers(const struct core *c, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->input_count && !stage->cut_off; i++) {
        struct core_input *input = core_input(c, stage, i);
        const struct core_buffer *buffer = core_read_buffer(c, input);
        const struct core_reader *reader = core_input_reader(c, input);
        if (would_continue(c, buffer) || !reader->attached || may_still_come(c, stage, input))
            continue;
        input->left.counts = true;
        input->left.from_packets = reader->position_packets;
        input->left.history_packets = core_ready_history(c, stage, input);
    }
}

/* ---- the end of a stage ---- */

void core_close(struct core *c, struct core_buffer *buffer)
{
    core_fifo_close(&buffer->fifo);
    core_readers_changed(c, buffer);
    const struct core_reader *readers = core_fifo_reader(&buffer->fifo, 0);
    for (uint32_t i = 0; buffer->port != CORE_OUT_PORT && i < buffer->fifo.reader_count; i++) {
        struct core_stage *stage = core_stage(c, readers[i].stage);
        stage->input_closed = true;
        if (core_ready_ends(c, stage, core_inputs(c) + readers[i].input))
            core_stage_may_end(c, stage);
    }
    c->end_propagated = true;
}

static void end_stage(struct core *c, struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++)
        core_close(c, core_written_buffer(c, core_output(c, stage, i)));
    stage->life = CORE_ENDED;
    c->fewer_takers = true;
    core_stage_changed(c, core_stage_number(c, stage));
    if (core_is_observed(c))
        (void)core_send(c, CORE_EVENT_ENDED, core_stage_number(c, stage), false);
    c->end_propagated = true;
}

/* `keeps_history`: history is released, and only packets past it are discarded. */
static void detach_inputs(struct core *c, struct core_stage *stage, bool keeps_history)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(c, stage, i);
        if (!core_input_reader(c, input)->attached) continue;
        core_free_packets(c, input, keeps_history ? core_ready_history(c, stage, input) : 0, true);
        leave_buffer(c, core_read_buffer(c, input), stage);
    }
}

void core_detach_faulted(struct core *c, struct core_stage *stage)
{
    detach_inputs(c, stage, false);
}

void core_end_finished(struct core *c, struct core_stage *stage)
{
    if (stage->reads_tail) {
        const struct core_input *input = core_input(c, stage, 0);
        if ((stage->flags & CONTAINER_NODE_FUSED) != 0) core_note_leftovers(c, stage);
        /* packets that a finish could read do not count as discarded */
        core_free_packets(c, input, core_ready_held(c, input), false);
    }
    detach_inputs(c, stage, true);
    end_stage(c, stage);
}

bool core_can_never_fire(const struct core *c, const struct core_stage *stage)
{
    if (stage->stopped || core_ready_source_left(stage) == 0 || core_is_unwanted(c, stage))
        return true;
    for (uint32_t i = 0; i < stage->input_count; i++)
        if (core_ready_ends(c, stage, core_input(c, stage, i))) return true;
    return false;
}

/* A finish with one input reads the tail of that input, so the input stays attached, and the tail is not left over.
 * The finish of an unwanted or stopped stage reads none: its input may hold any number of packets. */
static void begin_end(struct core *c, struct core_stage *stage)
{
    bool finishes = (stage->flags & CONTAINER_NODE_FINISH) != 0;
    stage->reads_tail =
        finishes && stage->input_count == 1 && !stage->stopped && !core_is_unwanted(c, stage);
    if (!stage->reads_tail) {
        if (!stage->stopped) core_note_leftovers(c, stage);
        detach_inputs(c, stage, true);
    }
    if (finishes) {
        stage->life = CORE_FINISH_WAITING;
        core_stage_changed(c, core_stage_number(c, stage));
        c->end_propagated = true;
    } else {
        end_stage(c, stage);
    }
}

/* Only the stage claims room of its outputs, and it fires no more: an output that had room once still has it. */
bool core_has_finish_room(const struct core *c, struct core_stage *stage)
{
    for (; stage->roomy_outputs < stage->output_count; stage->roomy_outputs++) {
        const struct core_output *output = core_output(c, stage, stage->roomy_outputs);
        if (core_fifo_room(&core_written_buffer(c, output)->fifo) < output->finish_max)
            return false;
    }
    return true;
}

/* *launched: its finish has been launched. */
static bool end_stage_if_due(struct core *c, uint32_t index, bool *launched)
{
    struct core_stage *stage = core_stage(c, index);
    *launched = false;
    if (stage->in_flight || stage->life >= CORE_ENDED) return true;
    if (stage->life == CORE_RUNNING && core_can_never_fire(c, stage)) begin_end(c, stage);
    *launched = stage->life == CORE_FINISH_WAITING && core_has_finish_room(c, stage);
    return !*launched || core_launch_finish(c, index);
}

/* In the order of the stages, repeated until no stage is marked: an end may let another stage end.  In a run that is
 * stepped each finish completes before the next end. */
enum core_outcome core_ends(struct core *c)
{
    while (c->ends_due.marked > 0) {
        uint32_t i = core_marks_take(&c->ends_due, c->progress.at);
        bool launched;
        c->progress.at = i == CORE_NONE ? 0 : i + 1;
        if (i == CORE_NONE) continue;
        if (!end_stage_if_due(c, i, &launched)) break;
        if (launched && core_is_stepped(c)) return CORE_REDO;
    }
    c->progress.at = 0;
    return CORE_NEXT;
}

/* ---- interrupts ---- */

bool core_stops_by_interrupt(struct core *c, struct core_stage *stage)
{
    bool source = stage->input_count == 0;
    if ((!source && stage->driven) || !core_is_interrupted(c)) return false;
    c->interrupt_seen = true;
    if (source && !stage->stopped) {
        stage->stopped = true;
        core_stage_may_end(c, stage);
        c->end_propagated = true;
    }
    return true;
}
