/* SPDX-License-Identifier: MIT */
#include "runtime/debug/debug_place.h"

#include "base/nearest.h"
#include "runtime/debug/debug_condition.h"
#include "runtime/debug/debug_fused.h"
#include "runtime/load/debug_info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static bool is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '#';
}

/* Bytes of the first word of a text. */
static int word_length(const char *text)
{
    int length = 0;
    while (is_name_byte(text[length]) ||
           (length > 0 && strchr(".[]<>", text[length]) != NULL && text[length] != '\0'))
        length++;
    return length > 0 || text[0] == '\0' ? length : 1;
}

/* Bytes of `name` if the text begins with it and it ends there, else 0. */
static size_t match_name(const char *text, const char *name)
{
    size_t length = strlen(name);
    return length > 0 && strncmp(text, name, length) == 0 && !is_name_byte(text[length]) ? length
                                                                                         : 0;
}

uint32_t prt_debugger_take_buffer(const struct prt_debugger *d, const char **at)
{
    uint32_t found = PRT_NONE;
    size_t longest = 0;
    for (uint32_t i = 0; i < d->container->buffer_count; i++) {
        size_t length = match_name(*at, debug_buffer_name(d, i));
        if (length <= longest) continue;
        longest = length;
        found = i;
    }
    *at += longest;
    return found;
}

uint32_t prt_debugger_take_stage(const struct prt_debugger *d, const char **at)
{
    uint32_t found = PRT_NONE;
    size_t longest = 0;
    for (uint32_t i = 0; i < d->container->stage_count; i++) {
        size_t length = match_name(*at, debug_stage_name(d, i));
        if (length <= longest) continue;
        longest = length;
        found = i;
    }
    *at += longest;
    return found;
}

bool prt_debugger_path_take(const char **at, char path[static DEBUG_PATH_MAX])
{
    size_t length = 0;
    while (is_name_byte((*at)[length]) || (*at)[length] == '.' || (*at)[length] == '[' ||
           (*at)[length] == ']')
        length++;
    if (length >= DEBUG_PATH_MAX) return false;
    memcpy(path, *at, length);
    path[length] = '\0';
    *at += length;
    return true;
}

enum prt_status prt_debugger_refuse_name(const struct prt_debugger *d, unsigned names,
                                         const char *text, struct prt_error *error)
{
    static const char *const kinds[] = {
        [DEBUG_BUFFERS] = "no buffer",
        [DEBUG_NODES | DEBUG_KERNELS] = "no node and no kernel",
        [DEBUG_BUFFERS | DEBUG_NODES] = "no buffer and no node",
    };
    char word[64];
    int length = word_length(text);
    snprintf(word, sizeof word, "%.*s", length, text);
    struct nearest nearest = {.wanted = word};
    for (uint32_t i = 0; (names & DEBUG_BUFFERS) != 0 && i < d->container->buffer_count; i++)
        nearest_consider(&nearest, debug_buffer_name(d, i));
    for (uint32_t i = 0; (names & DEBUG_NODES) != 0 && i < d->container->stage_count; i++)
        nearest_consider(&nearest, debug_stage_name(d, i));
    for (uint32_t i = 0; (names & DEBUG_KERNELS) != 0 && i < d->container->stage_count; i++)
        nearest_consider(
            &nearest, debug_text(d, prt_stage_node(d->sched, &d->sched->stages[i])->kernel_title));
    const char *stage = (names & DEBUG_NODES) != 0 ? prt_debugger_fused_into(d, word) : NULL;
    if (stage != NULL)
        return prt_error_set(
            error, PRT_E_USAGE,
            "there is %s '%s': it is a part of stage '%s'; compiled with --no-fuse or "
            "--debug-mode it is a stage of its own",
            kinds[names], word, stage);
    if (nearest.near)
        return prt_error_set(error, PRT_E_USAGE, "there is %s '%s'; did you mean '%s'?",
                             kinds[names], word, nearest.name);
    stage = prt_debugger_any_fused(d);
    if (stage != NULL)
        return prt_error_set(
            error, PRT_E_USAGE,
            "there is %s '%s'; what is inside a stage of several nodes, as '%s', is "
            "there when compiled with --no-fuse or --debug-mode",
            kinds[names], word, stage);
    return prt_error_set(error, PRT_E_USAGE, "there is %s '%s'", kinds[names], word);
}

/* ---- packets ---- */

/* The firings of a stage claim room that they may leave unwritten; the host claims all there is. */
static uint64_t claimed_to(const struct prt_debugger *d, uint32_t buffer)
{
    const struct core_fifo *fifo = d->sched->buffers[buffer].fifo;
    if (d->container->buffers[buffer].outer == CONTAINER_OUTER_IN)
        return fifo->oldest_packets + fifo->depth_packets;
    return d->claimed_to[buffer] > fifo->written_packets ? d->claimed_to[buffer]
                                                         : fifo->written_packets;
}

const uint8_t *prt_debugger_packet_bytes(const struct prt_debugger *d, uint32_t buffer,
                                         uint64_t packet)
{
    const struct core_fifo *fifo = d->sched->buffers[buffer].fifo;
    const struct prt_ring *ring = &d->sched->buffers[buffer].ring;
    uint64_t capacity = fifo->ring_bytes / fifo->width_bytes, end = claimed_to(d, buffer);
    if (packet >= fifo->written_packets || packet < ring->from_packets) return NULL;
    if (!prt_ring_is_placed(ring) && end > capacity && packet < end - capacity) return NULL;
    unsigned __int128 offset = (unsigned __int128)packet * fifo->width_bytes % fifo->ring_bytes;
    return ring->memory + (uint64_t)offset;
}

enum prt_status prt_debugger_packet_part(const struct prt_debugger *d, uint32_t buffer,
                                         const char *path, enum scalar_type *scalar,
                                         uint64_t *offset_bytes, struct prt_error *error)
{
    const struct prt_container *c = d->container;
    const struct container_buffer *record = &c->buffers[buffer];
    struct prt_debug_part part = {.type = record->type};
    *scalar = (enum scalar_type)record->scalar;
    *offset_bytes = 0;
    if (record->type == CONTAINER_NONE && path[0] == '\0' &&
        record->width_bytes == scalar_width_bytes(*scalar))
        return PRT_OK;
    enum prt_status status = prt_debug_follow(c, record->type, path, &part, error);
    if (status != PRT_OK) return PRT_E_USAGE;
    const struct container_type *type = prt_debug_type(c, part.type);
    if (type->kind != CONTAINER_TYPE_SCALAR) {
        char name[2 * DEBUG_PATH_MAX];
        snprintf(name, sizeof name, "%s%s", debug_buffer_name(d, buffer), path);
        return prt_debugger_refuse_parts(d, part.type, name, error);
    }
    *scalar = (enum scalar_type)type->scalar;
    *offset_bytes = part.offset_bytes;
    return PRT_OK;
}

/* ---- a value and its parts ---- */

static enum prt_status follow_path(const struct prt_debugger *d, const char *path,
                                   struct debug_place *place, struct prt_error *error)
{
    struct prt_debug_part part;
    if (path[0] == '\0') return PRT_OK;
    if (prt_debug_follow(d->container, place->type, path, &part, error) != PRT_OK)
        return error->status = PRT_E_USAGE;
    const struct container_type *type = prt_debug_type(d->container, part.type);
    place->type = part.type;
    place->size_bytes = type->width_bytes;
    if (place->bytes != NULL) place->bytes += part.offset_bytes;
    return PRT_OK;
}

static bool read_place_number(const char **at, int64_t *number)
{
    char *end;
    bool digits =
        (**at >= '0' && **at <= '9') || (**at == '-' && (*at)[1] >= '0' && (*at)[1] <= '9');
    if (!digits) return false;
    *number = strtoll(*at, &end, 10);
    *at = end;
    return true;
}

/* Converts an index, counted from the oldest packet in the buffer, to a packet number.  Returns
 * false if the number is out of range. */
static bool absolute_packet(const struct core_fifo *fifo, int64_t index, uint64_t *packet)
{
    *packet = fifo->oldest_packets + (uint64_t)index;
    return index >= 0 ? *packet >= fifo->oldest_packets
                      : (uint64_t)0 - (uint64_t)index <= fifo->oldest_packets;
}

static void say_missing(const struct prt_debugger *d, struct debug_place *place, bool counted)
{
    const struct core_fifo *fifo = d->sched->buffers[place->buffer].fifo;
    const char *name = debug_buffer_name(d, place->buffer);
    uint64_t held = fifo->written_packets - fifo->oldest_packets;
    if (counted && place->packet < fifo->written_packets)
        snprintf(place->missing, sizeof place->missing,
                 "packet %" PRIu64 " of '%s' is not in memory any more", place->packet, name);
    else
        snprintf(place->missing, sizeof place->missing,
                 "'%s' holds %" PRIu64 " packet%s, and %" PRIu64 " ha%s been written to it", name,
                 held, held == 1 ? "" : "s", fifo->written_packets,
                 fifo->written_packets == 1 ? "s" : "ve");
}

static void place_packet(const struct prt_debugger *d, struct debug_place *place, bool counted)
{
    const struct container_buffer *record = &d->container->buffers[place->buffer];
    place->kind = DEBUG_VALUE;
    place->type = record->type;
    place->scalar = (enum scalar_type)record->scalar;
    place->size_bytes = record->width_bytes;
    if (counted) place->bytes = prt_debugger_packet_bytes(d, place->buffer, place->packet);
    if (place->bytes == NULL) say_missing(d, place, counted);
}

/* `[i..j]`, of which `[i` has been read: as far as the packets are there. */
static enum prt_status read_range(const struct prt_debugger *d, int64_t from, const char **at,
                                  struct debug_place *place, struct prt_error *error)
{
    const struct core_fifo *fifo = d->sched->buffers[place->buffer].fifo;
    int64_t to;
    uint64_t last;
    *at += 2;
    if (!read_place_number(at, &to) || **at != ']' || to < from)
        return prt_error_set(error, PRT_E_USAGE, "a range is [FIRST..LAST]");
    ++*at;
    if (!absolute_packet(fifo, from, &place->first)) place->first = 0;
    if (!absolute_packet(fifo, to, &last)) return PRT_OK;
    if (last >= fifo->written_packets) last = fifo->written_packets - 1;
    if (fifo->written_packets > 0 && last >= place->first) place->count = last - place->first + 1;
    return PRT_OK;
}

/* Reads the part of a place after the name of a buffer. */
static enum prt_status read_packets(const struct prt_debugger *d, const char **at,
                                    struct debug_place *place, struct prt_error *error)
{
    const struct core_fifo *fifo = d->sched->buffers[place->buffer].fifo;
    char path[DEBUG_PATH_MAX];
    int64_t number;
    bool counted = true;
    char open = **at;
    if (open != '[' && open != '@') {
        place->kind = DEBUG_PACKETS;
        place->first = fifo->oldest_packets;
        place->count = fifo->written_packets - fifo->oldest_packets;
        if (open != '.') return PRT_OK;
        return prt_error_set(error, PRT_E_USAGE, "'%s' holds packets: of which one? '%s[0]...'",
                             debug_buffer_name(d, place->buffer),
                             debug_buffer_name(d, place->buffer));
    }
    ++*at;
    if (!read_place_number(at, &number) || (open == '@' && number < 0))
        return prt_error_set(error, PRT_E_USAGE, "the number of a packet is missing after '%c'",
                             open);
    if (open == '[' && strncmp(*at, "..", 2) == 0) return read_range(d, number, at, place, error);
    if (open == '[' && **at != ']') return prt_error_set(error, PRT_E_USAGE, "']' is missing");
    if (open == '[') ++*at;
    place->packet = (uint64_t)number;
    if (open == '[') counted = absolute_packet(fifo, number, &place->packet);
    if (!prt_debugger_path_take(at, path)) return prt_error_set(error, PRT_E_USAGE, "too long");
    place_packet(d, place, counted);
    return follow_path(d, path, place, error);
}

/* ---- variables ---- */

const uint8_t *prt_debugger_variable_bytes(const struct prt_debugger *d, uint32_t stage,
                                           const struct container_variable *variable)
{
    const struct prt_kernel_object *object = &d->sched->objects[stage];
    const uint8_t *block = object->state;
    if (variable->kind == CONTAINER_VARIABLE_TABLE) block = object->tables;
    if (variable->kind == CONTAINER_VARIABLE_ARGUMENT) block = object->arguments;
    return block + variable->offset_bytes;
}

static bool find_variable_group(const char *name, int *kind)
{
    static const char *const names[] = {[CONTAINER_VARIABLE_STATE] = "state",
                                        [CONTAINER_VARIABLE_TABLE] = "tables",
                                        [CONTAINER_VARIABLE_ARGUMENT] = "arguments"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(names[i], name) != 0) continue;
        *kind = i;
        return true;
    }
    return false;
}

static enum prt_status refuse_variables(const struct prt_debugger *d, struct prt_error *error)
{
    (void)d;
    return prt_error_set(error, PRT_E_USAGE,
                         "the program knows no state, tables and arguments: compile it with "
                         "--debug-mode");
}

/* Reads the part of a place after the name of a node. */
static enum prt_status read_variable(const struct prt_debugger *d, const char **at,
                                     struct debug_place *place, struct prt_error *error)
{
    const struct container_node *node = prt_stage_node(d->sched, &d->sched->stages[place->stage]);
    const struct container_kernel *kernel = prt_debug_kernel(d->container, node->kernel);
    char path[DEBUG_PATH_MAX], name[DEBUG_PATH_MAX];
    if (!prt_debug_mode(d->container) || kernel == NULL) return refuse_variables(d, error);
    if (!prt_debugger_path_take(at, path)) return prt_error_set(error, PRT_E_USAGE, "too long");
    place->kind = DEBUG_BLOCK;
    place->block_kind = DEBUG_ALL_VARIABLES;
    if (path[0] != '.') return PRT_OK;
    size_t length = strcspn(path + 1, ".[");
    memcpy(name, path + 1, length);
    name[length] = '\0';
    const struct container_variable *variable = prt_debug_variable(d->container, kernel, name);
    if (variable == NULL && find_variable_group(name, &place->block_kind)) {
        if (path[length + 1] == '\0') return PRT_OK;
        memmove(path, path + length + 1, strlen(path + length + 1) + 1); /* NODE.state.name */
        length = strcspn(path + 1, ".[");
        memcpy(name, path + 1, length);
        name[length] = '\0';
        variable = prt_debug_variable(d->container, kernel, name);
    }
    if (variable == NULL)
        return prt_error_set(error, PRT_E_USAGE, "'%s' has no state, table or argument '%s'",
                             debug_stage_name(d, place->stage), name);
    place->kind = DEBUG_VALUE;
    place->type = variable->type;
    place->bytes = prt_debugger_variable_bytes(d, place->stage, variable);
    const struct container_type *type = prt_debug_type(d->container, variable->type);
    place->size_bytes = type != NULL ? type->width_bytes : 0;
    return follow_path(d, path + length + 1, place, error);
}

/* ---- places ---- */

enum prt_status prt_debugger_place_read(const struct prt_debugger *d, const char **at,
                                        struct debug_place *place, struct prt_error *error)
{
    const char *begin = *at, *buffer_end = *at, *stage_end = *at;
    *place = (struct debug_place){.buffer = PRT_NONE, .stage = PRT_NONE, .type = CONTAINER_NONE};
    uint32_t buffer = prt_debugger_take_buffer(d, &buffer_end);
    uint32_t stage = prt_debugger_take_stage(d, &stage_end);
    enum prt_status status;
    if (buffer == PRT_NONE && stage == PRT_NONE)
        return prt_debugger_refuse_name(d, DEBUG_BUFFERS | DEBUG_NODES, begin, error);
    /* A node and a buffer of one name: before a dot, the name means the node. */
    if (stage == PRT_NONE || buffer_end > stage_end ||
        (buffer_end == stage_end && *stage_end != '.')) {
        place->buffer = buffer;
        *at = buffer_end;
        status = read_packets(d, at, place, error);
    } else {
        place->stage = stage;
        *at = stage_end;
        status = read_variable(d, at, place, error);
    }
    size_t length = (size_t)(*at - begin);
    if (length >= sizeof place->name) length = sizeof place->name - 1;
    memcpy(place->name, begin, length);
    place->name[length] = '\0';
    const struct container_type *type = prt_debug_type(d->container, place->type);
    if (type != NULL && type->kind == CONTAINER_TYPE_SCALAR)
        place->scalar = (enum scalar_type)type->scalar;
    return status;
}
