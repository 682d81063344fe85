/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/sdf3_import.h"

#include "compiler/syntax/sdf3_graph.h"
#include "base/words.h"

bool sdf3_begins(const struct source *source)
{
    uint32_t at = 0;
    while (at < source->size_bytes && byte_is_blank(source->bytes[at]))
        at++;
    return at < source->size_bytes && source->bytes[at] == '<';
}

uint32_t sdf3_import(struct compile *cx, uint32_t id)
{
    struct sdf3_graph graph = {.name = "main"};
    if (!sdf3_read(cx, id, &graph) || !sdf3_link(cx, &graph)) return 0;
    return sdf3_list(cx, id, &graph);
}
