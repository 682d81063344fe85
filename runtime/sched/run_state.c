/* SPDX-License-Identifier: MIT */
#include "runtime/sched/run_state.h"

#include "core/ready.h"
#include "core/select.h"

#include <assert.h>
#include <string.h>

/* ---- requests ---- */

/* The scheduler answers before its next instruction, or rests, and is answered for here. */
static void demand_answer(struct prt_sched *s)
{
    atomic_store(&s->core->asked, true);
    if (atomic_load(&s->doing) != PRT_DOING_WORK) prt_run_state_answer(s);
}

void prt_run_state_ask(struct prt_sched *s, prt_run_state_write write, void *context)
{
    s->ask_context = context;
    atomic_store(&s->ask_write, write);
    demand_answer(s);
}

void prt_run_state_visit(struct prt_sched *s, prt_visit_callback visit, void *context,
                         const struct prt_run *run)
{
    s->visit_context = context;
    s->visit_run = run;
    atomic_store(&s->visit, visit);
    demand_answer(s);
}

/* ---- text ---- */

enum { NAME_WIDTH_MAX = 32 };

struct text {
    prt_run_state_write write;
    void *context;
    size_t used;
    char bytes[256];
};

static void flush_text(struct text *t)
{
    /* put_byte flushes only before it adds a byte, so the text never ends empty */
    assert(t->used > 0);
    t->write(t->context, t->bytes, t->used);
    t->used = 0;
}

static void put_byte(struct text *t, char byte)
{
    if (t->used == sizeof t->bytes) flush_text(t);
    t->bytes[t->used++] = byte;
}

static void put_string(struct text *t, const char *text)
{
    for (; *text != '\0'; text++)
        put_byte(t, *text);
}

/* Replaces control characters: a name from a file must not control a terminal. */
static void put_name(struct text *t, const char *name)
{
    for (; *name != '\0'; name++) {
        unsigned char byte = (unsigned char)*name;
        put_byte(t, byte < 0x20 || byte == 0x7f ? '?' : *name);
    }
}

static void put_spaces(struct text *t, size_t width, size_t used)
{
    for (; used < width; used++)
        put_byte(t, ' ');
}

static void put_cell(struct text *t, const char *name, size_t width)
{
    put_name(t, name);
    put_spaces(t, width, strlen(name));
    put_byte(t, ' ');
}

static size_t digits_of(uint64_t number, char *digits)
{
    char reversed[20];
    size_t count = 0;
    do {
        reversed[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < count; i++)
        digits[i] = reversed[count - 1 - i];
    digits[count] = '\0';
    return count;
}

static void put_number(struct text *t, uint64_t number)
{
    char digits[24];
    (void)digits_of(number, digits);
    put_string(t, digits);
}

static void put_column(struct text *t, uint64_t number, size_t width)
{
    char digits[24];
    put_spaces(t, width, digits_of(number, digits));
    put_string(t, digits);
    put_byte(t, ' ');
}

static void put_title(struct text *t, const char *title, size_t width)
{
    put_spaces(t, width, strlen(title));
    put_string(t, title);
    put_byte(t, ' ');
}

static void put_quoted(struct text *t, const char *before, const char *name, const char *after)
{
    put_string(t, before);
    put_byte(t, '\'');
    put_name(t, name);
    put_byte(t, '\'');
    put_string(t, after);
}

/* ---- a stage ---- */

static const char *buffer_name(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    return prt_container_text(s->container, buffer->record->name);
}

/* Is the host filling this in-port now? */
static bool is_filled_now(const struct prt_sched *s, const struct core_input *input)
{
    return atomic_load(&s->doing) == PRT_DOING_READ &&
           s->doing_buffer == prt_input_buffer(s, input);
}

static void put_packets_wait(struct text *t, const struct prt_sched *s,
                             const struct core_stage *stage, const struct core_input *input)
{
    bool port = core_ready_is_open(s->core, input), filled = is_filled_now(s, input);
    put_quoted(t, port ? "waits for input " : "waits for packets in ",
               buffer_name(s, prt_input_buffer(s, input)), " (holds ");
    put_number(t, core_fifo_held(prt_input_buffer(s, input)->fifo, input->reader));
    put_string(t, filled ? ", to be filled up to " : ", needs ");
    put_number(t, filled ? prt_input_buffer(s, input)->fifo->depth_packets
                         : core_ready_needs(s->core, stage, input));
    put_string(t, ")");
}

static void put_room_wait(struct text *t, const struct prt_sched *s, const struct core_stage *stage,
                          const struct core_output *output)
{
    const struct core_fifo *fifo = prt_output_buffer(s, output)->fifo;
    put_quoted(t, "waits for room in ", buffer_name(s, prt_output_buffer(s, output)), " (holds ");
    put_number(t, fifo->written_packets - fifo->oldest_packets);
    put_string(t, " of ");
    put_number(t, fifo->depth_packets);
    put_string(t, ", needs ");
    put_number(t, core_ready_wanted_room(s->core, stage, output));
    put_string(t, ")");
}

/* The first reason why a stage cannot fire or run its finish: one of the two. */
struct lack {
    const struct core_input *input;   /* that holds too few packets, or NULL */
    const struct core_output *output; /* that has too little room, or NULL */
};

static struct lack find_lack(const struct prt_sched *s, const struct core_stage *stage)
{
    bool runs = stage->life == CORE_RUNNING;
    for (uint32_t i = 0; runs && i < stage->input_count; i++) {
        const struct core_input *input = core_input(s->core, stage, i);
        if (core_ready_input(s->core, stage, input, false, 1) == 0 || is_filled_now(s, input))
            return (struct lack){.input = input};
    }
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(s->core, stage, i);
        if (core_fifo_room(prt_output_buffer(s, output)->fifo) <
            core_ready_wanted_room(s->core, stage, output))
            return (struct lack){.output = output};
    }
    return (struct lack){.input = NULL};
}

static enum prt_stage_doing stage_doing(const struct prt_sched *s, const struct core_stage *stage,
                                        struct lack *lack)
{
    *lack = (struct lack){.input = NULL};
    if (stage->in_flight) return PRT_STAGE_IN_FLIGHT;
    if (stage->life == CORE_ENDED) return PRT_STAGE_ENDED;
    if (stage->life == CORE_FAULTED) return PRT_STAGE_FAULTED;
    if (stage->stopped) return PRT_STAGE_STOPPED;
    *lack = find_lack(s, stage);
    if (lack->input != NULL) return PRT_STAGE_LACKS_PACKETS;
    return lack->output != NULL ? PRT_STAGE_LACKS_ROOM : PRT_STAGE_READY;
}

static void put_ready(struct text *t, const struct prt_sched *s, struct core_stage *stage)
{
    uint64_t inputs = core_ready_inputs(s->core, stage),
             firings = core_ready_outputs(s->core, stage);
    uint64_t left = core_ready_source_left(stage);
    if (inputs < firings) firings = inputs;
    if (left < firings) firings = left;
    put_string(t, "ready: ");
    put_number(t, firings);
    put_string(t, firings == 1 ? " firing" : " firings");
    if (!core_is_below_threshold(stage, firings)) return;
    put_string(t, " of the ");
    put_number(t, stage->threshold);
    put_string(t, " that it is to wait for");
}

static void put_flight(struct text *t, const struct core_stage *stage)
{
    if (stage->life == CORE_FINISHING) {
        put_string(t, "in flight: its finish");
        return;
    }
    put_string(t, "in flight: ");
    put_number(t, stage->batch);
    put_string(t, stage->batch == 1 ? " firing" : " firings");
}

static void put_state(struct text *t, const struct prt_sched *s, struct core_stage *stage)
{
    struct lack lack;
    switch (stage_doing(s, stage, &lack)) {
    case PRT_STAGE_IN_FLIGHT: put_flight(t, stage); return;
    case PRT_STAGE_ENDED: put_string(t, "ended"); return;
    case PRT_STAGE_FAULTED:
        put_string(t, core_faults(s->core)[core_stage_number(s->core, stage)].there
                          ? "has faulted"
                          : "needs packets that a fault keeps back");
        return;
    case PRT_STAGE_STOPPED: put_string(t, "has stopped"); return;
    case PRT_STAGE_LACKS_PACKETS: put_packets_wait(t, s, stage, lack.input); return;
    case PRT_STAGE_LACKS_ROOM: put_room_wait(t, s, stage, lack.output); return;
    case PRT_STAGE_READY:
        if (stage->life == CORE_RUNNING)
            put_ready(t, s, stage);
        else
            put_string(t, "ready: its finish");
        return;
    }
}

static void put_stage(struct text *t, const struct prt_sched *s, struct core_stage *stage,
                      size_t width, size_t kernel_width)
{
    const struct prt_container *c = s->container;
    put_cell(t, prt_container_text(c, prt_stage_node(s, stage)->name), width);
    put_cell(t, prt_container_text(c, prt_stage_node(s, stage)->kernel_title), kernel_width);
    put_column(t, stage->firings, 12);
    put_column(t, stage->dispatches, 10);
    put_column(t, stage->in_flight ? 1 : 0, 9);
    put_column(t, stage->execute_cycles + stage->launch_cycles + stage->switch_cycles, 14);
    put_byte(t, ' ');
    put_state(t, s, stage);
    put_byte(t, '\n');
}

static void widen_column(size_t *width, const char *name)
{
    size_t length = strlen(name);
    if (length > NAME_WIDTH_MAX) length = NAME_WIDTH_MAX;
    if (length > *width) *width = length;
}

static void put_stages(struct text *t, const struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    size_t width = strlen("stage"), kernel_width = strlen("kernel");
    for (uint32_t i = 0; i < c->stage_count; i++) {
        widen_column(&width, prt_container_text(c, prt_stage_node(s, &s->stages[i])->name));
        widen_column(&kernel_width,
                     prt_container_text(c, prt_stage_node(s, &s->stages[i])->kernel_title));
    }
    put_cell(t, "stage", width);
    put_cell(t, "kernel", kernel_width);
    put_title(t, "firings", 12);
    put_title(t, "dispatches", 10);
    put_title(t, "in flight", 9);
    put_title(t, "cycles", 14);
    put_string(t, " state\n");
    for (uint32_t i = 0; i < c->stage_count; i++)
        put_stage(t, s, &s->stages[i], width, kernel_width);
}

/* ---- a buffer ---- */

static void put_buffer_state(struct text *t, const struct prt_buffer *buffer)
{
    const struct core_fifo *fifo = buffer->fifo;
    bool out = buffer->record->outer == CONTAINER_OUTER_OUT;
    put_string(t, fifo->closed ? "closed" : "open");
    if (out && buffer->core->gone) put_string(t, ", the host wants no more");
    if (!out && fifo->attached_count == 0) put_string(t, ", no reader is left");
}

static void put_buffer(struct text *t, const struct prt_sched *s, const struct prt_buffer *buffer,
                       size_t width)
{
    const struct core_fifo *fifo = buffer->fifo;
    static const char *const kinds[] = {[CONTAINER_INNER] = "",
                                        [CONTAINER_OUTER_IN] = "in-port, ",
                                        [CONTAINER_OUTER_OUT] = "out-port, "};
    put_cell(t, buffer_name(s, buffer), width);
    put_column(t, fifo->written_packets - fifo->oldest_packets, 10);
    put_column(t, fifo->depth_packets, 10);
    put_column(t, fifo->high_water_packets, 10);
    put_column(t, fifo->written_packets, 14);
    put_byte(t, ' ');
    put_string(t, kinds[buffer->record->outer]);
    put_buffer_state(t, buffer);
    put_byte(t, '\n');
}

static void put_buffers(struct text *t, const struct prt_sched *s)
{
    size_t width = strlen("buffer");
    for (uint32_t i = 0; i < s->container->buffer_count; i++)
        widen_column(&width, buffer_name(s, &s->buffers[i]));
    put_cell(t, "buffer", width);
    put_title(t, "holds", 10);
    put_title(t, "depth", 10);
    put_title(t, "most", 10);
    put_title(t, "packets", 14);
    put_string(t, " state\n");
    for (uint32_t i = 0; i < s->container->buffer_count; i++)
        put_buffer(t, s, &s->buffers[i], width);
}

/* ---- all ---- */

static void put_doing(struct text *t, const struct prt_sched *s, enum prt_doing doing)
{
    switch (doing) {
    case PRT_DOING_NOTHING: put_string(t, "the run has not begun"); return;
    case PRT_DOING_WORK: put_string(t, "the scheduler works"); return;
    case PRT_DOING_STEP: put_string(t, "the scheduler waits for the debugger"); return;
    case PRT_DOING_DEVICE: put_string(t, "the scheduler waits for the device"); return;
    case PRT_DOING_READ:
        put_quoted(t, "the scheduler waits for the host to fill ", buffer_name(s, s->doing_buffer),
                   "");
        return;
    case PRT_DOING_WRITE:
        put_quoted(t, "the scheduler waits for the host to take ", buffer_name(s, s->doing_buffer),
                   "");
        return;
    case PRT_DOING_ENDED: put_string(t, "the run has ended"); return;
    }
}

static void write_standing_text(struct prt_sched *s, prt_run_state_write write)
{
    struct text t = {.write = write, .context = s->ask_context};
    put_string(&t, "cycle ");
    /* the device's clock does not have the cycles of the last instructions yet */
    put_number(&t, s->ops->now_cycles(s->device) + s->core->instruction_cycles -
                       s->core->passed_cycles);
    put_string(&t, ": ");
    put_doing(&t, s, (enum prt_doing)atomic_load(&s->doing));
    put_string(&t, "\n");
    put_stages(&t, s);
    put_buffers(&t, s);
    flush_text(&t);
    t.write(t.context, "", 0);
}

void prt_run_state_answer(struct prt_sched *s)
{
    atomic_store(&s->core->asked, false);
    prt_run_state_write write = atomic_exchange(&s->ask_write, NULL);
    if (write != NULL) write_standing_text(s, write);
    prt_visit_callback visit = atomic_exchange(&s->visit, NULL);
    if (visit != NULL) visit(s->visit_context, s->visit_run);
}

/* ---- one stage, one buffer ---- */

void prt_run_state_stage(const struct prt_sched *s, uint32_t index, struct prt_stage_moment *moment)
{
    struct lack lack;
    const struct core_stage *stage = &s->stages[index];
    const struct container_node *node = prt_stage_node(s, stage);
    *moment = (struct prt_stage_moment){
        .name = prt_container_text(s->container, node->name),
        .kernel = prt_container_text(s->container, node->kernel_title),
        .doing = stage_doing(s, stage, &lack),
        .buffer = UINT32_MAX,
        .firings = stage->firings,
        .busy_cycles = stage->execute_cycles + stage->launch_cycles + stage->switch_cycles};
    if (lack.input != NULL) moment->buffer = lack.input->buffer;
    if (lack.output != NULL) moment->buffer = lack.output->buffer;
}

void prt_run_state_buffer(const struct prt_sched *s, uint32_t index,
                          struct prt_buffer_moment *moment)
{
    const struct core_fifo *fifo = s->buffers[index].fifo;
    *moment =
        (struct prt_buffer_moment){.name = buffer_name(s, &s->buffers[index]),
                                   .held_packets = fifo->written_packets - fifo->oldest_packets,
                                   .depth_packets = fifo->depth_packets,
                                   .packets = fifo->written_packets,
                                   .closed = fifo->closed};
}
