/* SPDX-License-Identifier: MIT */
/*
 * stage_objects: the kernel objects of a run, as far as they take time, and the bytes that each launch moves.
 *
 * Whoever executes kernels adds entries, windows, arguments and indices.
 *
 * Requires: a verified container; a block that was filled in from it.  Ownership: create, free.
 * Thread-safety: the scheduler's thread.  Allocation: create.  Errors: PRT_E_NOMEM.
 */
#ifndef MODEL_STAGE_OBJECTS_H
#define MODEL_STAGE_OBJECTS_H

#include "base/status.h"
#include "core/core.h"
#include "core/ready.h"
#include "model/container_tables.h"
#include "model/kernel_object.h"

struct prt_stage_objects {
    struct prt_kernel_object *items; /* of every stage, then of the finish of every stage */
    /* Per input or output of the container; the objects point into these. */
    uint64_t *pop_bytes, *push_bytes, *left, *claimed_bytes, *packet_bytes;
    uint64_t *read_bytes; /* per stage: by a firing; 0 if rates have phases */
};

enum prt_status prt_stage_objects_create(const struct prt_container *container, struct core *core,
                                         struct prt_stage_objects *objects);
/* Zeroed ones are allowed. */
void prt_stage_objects_free(struct prt_stage_objects *objects);

/* A firing that launches kernels is a work-group that shares no warp with other firings.  Its cost is known only when
 * it has executed. */
void prt_stage_object_isolate(struct prt_kernel_object *object);

/* The needs of a kernel with work-items on the index generator; without its registers. */
struct prt_index_configuration prt_index_configure(const struct prt_container *container,
                                                   const struct container_index *record);

/* Bytes that the firings of a batch consume whose rates have phases. */
uint64_t prt_stage_objects_count_read(const struct core *core, const struct core_stage *stage);

/* Before the launch of a batch: what it reads. */
static inline void prt_stage_objects_open(struct prt_stage_objects *objects,
                                          const struct core *core, const struct core_stage *stage,
                                          uint32_t index)
{
    objects->items[index].read_bytes =
        stage->phases == 1 ? core_cycles_multiply(stage->batch, objects->read_bytes[index])
                           : prt_stage_objects_count_read(core, stage);
}

/* The same of its finish, whose input of that number is open. */
static inline void prt_stage_objects_open_tail(struct prt_stage_objects *objects,
                                               const struct core *core,
                                               const struct core_stage *stage, uint32_t index,
                                               uint32_t input)
{
    const struct core_input *from = core_input(core, stage, input);
    uint32_t at = stage->first_input + input;
    struct prt_kernel_object *object = &objects->items[core->stage_count + index];
    if (input == 0) object->read_bytes = 0;
    objects->left[at] = stage->reads_tail ? core_ready_held(core, from) : 0;
    object->read_bytes += objects->left[at] * core_read_buffer(core, from)->fifo.width_bytes;
}

/* Before a launch: the room in the window of an output. */
static inline void prt_stage_objects_claim(struct prt_stage_objects *objects,
                                           const struct core_fifo *fifo, uint32_t output)
{
    objects->claimed_bytes[output] = fifo->claimed_packets * fifo->width_bytes;
}

#endif
