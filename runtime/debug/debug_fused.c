/* SPDX-License-Identifier: MIT */
#include "runtime/debug/debug_fused.h"

#include <string.h>

/* Several nodes of one name and numbers: "eq[0..9]", "affine#1..8", "band(16)". */
static bool is_family_name(const char *part, size_t length)
{
    return memmem(part, length, "..", 2) != NULL || memchr(part, '(', length) != NULL;
}

/* Bytes in front of the numbers. */
static size_t stem_length(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr("[#(", name[i]) != NULL) return i;
    return length;
}

static bool is_part(const char *part, size_t length, const char *node)
{
    size_t node_length = strlen(node);
    if (is_family_name(part, length)) {
        length = stem_length(part, length);
        node_length = stem_length(node, node_length);
    }
    return length == node_length && memcmp(part, node, length) == 0;
}

const char *prt_debugger_fused_into(const struct prt_debugger *d, const char *node)
{
    for (uint32_t i = 0; i < d->container->stage_count; i++) {
        const char *name = debug_stage_name(d, i), *part = name;
        while (*part != '\0') {
            size_t length = strcspn(part, "+");
            if (is_part(part, length, node)) return name;
            part += length;
            part += *part == '+';
        }
    }
    return NULL;
}

const char *prt_debugger_any_fused(const struct prt_debugger *d)
{
    for (uint32_t i = 0; i < d->container->stage_count; i++) {
        const char *name = debug_stage_name(d, i);
        if (strchr(name, '+') != NULL || is_family_name(name, strlen(name))) return name;
    }
    return NULL;
}
