/* SPDX-License-Identifier: MIT */
#include "compiler/describe/fuse_print.h"

#include <inttypes.h>
#include <string.h>

static const char *form_name(enum compose_form form)
{
    static const char *const names[] = {[COMPOSE_SCALARS] = "variables",
                                        [COMPOSE_ARRAY] = "array",
                                        [COMPOSE_STATE] = "state",
                                        [COMPOSE_INLINED] = "inlined"};
    return names[form];
}

/* ---- text ---- */

enum { NAMES_SHOWN = 4 };

/* "x, x#2" or "x, x#2, x#3, x#4 and 60 more": the next name of such a list. */
static void print_stage_name(FILE *to, size_t index, const char *name)
{
    if (index < NAMES_SHOWN) fprintf(to, "%s'%s'", index > 0 ? ", " : "", name);
}

static void print_more(FILE *to, size_t count)
{
    if (count > NAMES_SHOWN) fprintf(to, " and %zu more", count - NAMES_SHOWN);
}

/* Members that fire more than once, that are ahead, or that are inlined; equal ones together. */
static void print_firings(FILE *to, const struct graph *written, const struct composite *composite)
{
    const struct compose_member *members = composite->members.items;
    for (size_t i = 0; i < composite->members.count; i++) {
        size_t count = 0, before = 0;
        for (size_t k = 0; k < composite->members.count; k++) {
            bool alike = members[k].firings == members[i].firings &&
                         members[k].ahead == members[i].ahead &&
                         members[k].inlined == members[i].inlined;
            before += alike && k < i;
        }
        if (before > 0 || (members[i].firings == 1 && members[i].ahead == 0 && !members[i].inlined))
            continue;
        fputs("         ", to);
        for (size_t k = i; k < composite->members.count; k++)
            if (members[k].firings == members[i].firings && members[k].ahead == members[i].ahead &&
                members[k].inlined == members[i].inlined)
                print_stage_name(to, count++, written->nodes.items[members[k].node].name);
        print_more(to, count);
        if (members[i].inlined)
            fputs(": a firing where each packet is written", to);
        else
            fprintf(to, ": %" PRIu64 " firing%s an iteration", members[i].firings,
                    members[i].firings == 1 ? "" : "s");
        if (members[i].ahead > 0)
            fprintf(to, ", %" PRIu64 " more for the windows of others", members[i].ahead);
        fputc('\n', to);
    }
}

static void print_inside(FILE *to, const struct composite *composite)
{
    size_t buffers[COMPOSE_INLINED + 1] = {0};
    uint64_t packets[COMPOSE_INLINED + 1] = {0};
    const char *separator = "         no buffers: ";
    for (size_t i = 0; i < composite->inside.count; i++) {
        const struct compose_inside *inside = &composite->inside.items[i];
        buffers[inside->form]++;
        packets[inside->form] += inside->packets;
    }
    for (int form = 0; form <= COMPOSE_INLINED; form++) {
        if (buffers[form] == 0) continue;
        fprintf(to, "%s%zu", separator, buffers[form]);
        if (form == COMPOSE_INLINED)
            fputs(" without packets at rest", to);
        else
            fprintf(to, " with %" PRIu64 " packet%s in %s", packets[form],
                    packets[form] == 1 ? "" : "s", form_name((enum compose_form)form));
        separator = ", ";
    }
    if (composite->inside.count > 0) fputc('\n', to);
}

void fuse_print(FILE *to, const struct fusion *fusion)
{
    if (fusion->reason != NULL) fprintf(to, "\nfusion   %s\n", fusion->reason);
    for (size_t i = 0; i < fusion->composites.count; i++) {
        const struct composite *composite = &fusion->composites.items[i];
        fprintf(to, "\nfused    %s: %zu node%s\n", composite->node.name, composite->members.count,
                composite->members.count == 1 ? "" : "s");
        print_firings(to, fusion->written, composite);
        print_inside(to, composite);
    }
    /* Buffers with the same obstacle together. */
    const struct graph_buffer *buffers = fusion->written->buffers.items;
    const size_t count = fusion->written->buffers.count;
    bool headed = false;
    for (size_t i = 0; i < count; i++) {
        const char *reason = fusion->obstacles[i];
        size_t before = 0, shown = 0;
        for (size_t k = 0; k < i && reason != NULL; k++)
            before += fusion->obstacles[k] != NULL && strcmp(fusion->obstacles[k], reason) == 0;
        if (reason == NULL || before > 0) continue;
        fputs(headed ? "         " : "\napart    ", to);
        headed = true;
        for (size_t k = i; k < count; k++)
            if (fusion->obstacles[k] != NULL && strcmp(fusion->obstacles[k], reason) == 0)
                print_stage_name(to, shown++, buffers[k].name);
        print_more(to, shown);
        fprintf(to, ": %s\n", reason);
    }
    if (fusion->off != NULL) fprintf(to, "\napart    all: %s\n", fusion->off);
}

/* ---- JSON ---- */

static void put_composite(struct json *json, const struct graph *written,
                          const struct composite *composite)
{
    json_begin(json, NULL, '{');
    json_text(json, "name", composite->node.name);
    json_begin(json, "members", '[');
    for (size_t i = 0; i < composite->members.count; i++) {
        const struct compose_member *member = &composite->members.items[i];
        json_begin(json, NULL, '{');
        json_text(json, "node", written->nodes.items[member->node].name);
        json_number(json, "firings", member->firings);
        json_number(json, "again", member->ahead);
        json_boolean(json, "inlined", member->inlined);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_begin(json, "inside", '[');
    for (size_t i = 0; i < composite->inside.count; i++) {
        const struct compose_inside *inside = &composite->inside.items[i];
        json_begin(json, NULL, '{');
        json_text(json, "buffer", written->buffers.items[inside->buffer].name);
        json_text(json, "form", form_name(inside->form));
        json_number(json, "packets", inside->packets);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

void fuse_put_json(struct json *json, const struct fusion *fusion)
{
    const struct graph *written = fusion->written;
    json_begin(json, "fusion", '{');
    json_text(json, "off", fusion->off);
    json_text(json, "reason", fusion->reason);
    json_begin(json, "fused", '[');
    for (size_t i = 0; i < fusion->composites.count; i++)
        put_composite(json, written, &fusion->composites.items[i]);
    json_end(json, ']');
    json_begin(json, "not_fused", '[');
    for (size_t i = 0; i < written->buffers.count; i++) {
        if (fusion->obstacles[i] == NULL) continue;
        json_begin(json, NULL, '{');
        json_text(json, "buffer", written->buffers.items[i].name);
        json_text(json, "reason", fusion->obstacles[i]);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}
