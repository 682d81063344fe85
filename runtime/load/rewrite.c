/* SPDX-License-Identifier: MIT */
#include "runtime/load/rewrite.h"
#include "base/arithmetic.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION_COUNT = CONTAINER_IMAGE };

/* The sets as the file holds them, or NULL. */
static uint32_t *flatten_sets(const struct sched_program *program, uint64_t *bytes)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < program->set_count; i++)
        words += 1 + (uint64_t)program->sets[i].count;
    *bytes = words * sizeof(uint32_t);
    /* equivalent: where the C library gives memory for nothing */
    uint32_t *flat = malloc(*bytes > 0 ? (size_t)*bytes : 1);
    uint32_t *at = flat;
    for (uint32_t i = 0; flat != NULL && i < program->set_count; i++) {
        *at++ = program->sets[i].count;
        memcpy(at, program->sets[i].stages, program->sets[i].count * sizeof *at);
        at += program->sets[i].count;
    }
    return flat;
}

/* Lays the sections out anew; `contents[i]` are the bytes of table entry i. */
static uint8_t *assemble_sections(const struct prt_container *c, struct container_section *table,
                                  const void *const *contents, size_t *size)
{
    uint64_t at = sizeof(struct container_header) + SECTION_COUNT * sizeof *table;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        at = align_up(at, CONTAINER_ALIGNMENT);
        table[i].offset_bytes = at;
        at += table[i].size_bytes;
    }
    uint8_t *bytes = calloc(1, (size_t)at);
    if (bytes == NULL) return NULL;
    struct container_header header;
    memcpy(&header, c->bytes, sizeof header);
    header.file_bytes = at;
    memcpy(bytes + sizeof header, table, SECTION_COUNT * sizeof *table);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (table[i].size_bytes > 0)
            memcpy(bytes + table[i].offset_bytes, contents[i], (size_t)table[i].size_bytes);
    }
    header.checksum = prt_container_checksum(bytes, (size_t)at);
    memcpy(bytes, &header, sizeof header);
    *size = (size_t)at;
    return bytes;
}

enum prt_status prt_container_with_program(const struct prt_container *container,
                                           const struct sched_program *program, uint8_t **bytes,
                                           size_t *size, struct prt_error *error)
{
    struct container_section table[SECTION_COUNT];
    const void *contents[SECTION_COUNT];
    uint64_t sets_bytes;
    if (program->stage_count != container->stage_count)
        return prt_error_set(error, PRT_E_FORMAT,
                             "the program is for %" PRIu32 " stages, the container has %" PRIu32,
                             program->stage_count, container->stage_count);
    uint32_t *sets = flatten_sets(program, &sets_bytes);
    if (sets == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    memcpy(table, container->bytes + sizeof(struct container_header), sizeof table);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        contents[i] = container->bytes + table[i].offset_bytes;
    table[CONTAINER_SETS - 1].size_bytes = sets_bytes;
    contents[CONTAINER_SETS - 1] = sets;
    table[CONTAINER_PROGRAM - 1].size_bytes = program->code_bytes;
    contents[CONTAINER_PROGRAM - 1] = program->code;
    *bytes = assemble_sections(container, table, contents, size);
    free(sets);
    return *bytes != NULL ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
}
