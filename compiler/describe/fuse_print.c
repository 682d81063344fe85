#include "compiler/describe/fuse_print.h"

#include <inttypes.h>

static const char *form_name(enum compose_form form)
{
    static const char *const names[] = {[COMPOSE_SCALARS] = "variables",
                                        [COMPOSE_ARRAY] = "array",
                                        [COMPOSE_STATE] = "state",
                                        [COMPOSE_INLINED] = "inlined"};
    return names[form];
}

/* ---- text ---- */

static void print_members(FILE *to, const struct graph *written, const struct composite *composite)
{
    for (size_t i = 0; i < composite->members.count; i++) {
        const struct compose_member *member = &composite->members.items[i];
        fprintf(to, "%s%s", i > 0 ? ", " : "", written->nodes.items[member->node].name);
        if (member->inlined)
            fprintf(to, " where its packets are written");
        else if (member->firings > 1)
            fprintf(to, " x %" PRIu64, member->firings);
        if (member->ahead > 0) fprintf(to, " (%" PRIu64 " again)", member->ahead);
    }
}

static void print_inside(FILE *to, const struct graph *written, const struct composite *composite)
{
    for (size_t i = 0; i < composite->inside.count; i++) {
        const struct compose_inside *inside = &composite->inside.items[i];
        fprintf(to, "%s'%s'", i > 0 ? ", " : "", written->buffers.items[inside->buffer].name);
        if (inside->form == COMPOSE_INLINED) continue;
        fprintf(to, " (%" PRIu64 " packet%s, %s)", inside->packets, inside->packets == 1 ? "" : "s",
                form_name(inside->form));
    }
}

void fuse_print(FILE *to, const struct fusion *fusion)
{
    const struct graph *written = fusion->written;
    bool headed = false;
    for (size_t i = 0; i < fusion->composites.count; i++) {
        const struct composite *composite = &fusion->composites.items[i];
        fprintf(to, "\nfused    %s: ", composite->node.name);
        print_members(to, written, composite);
        if (composite->inside.count > 0) fputs("\n         inside: ", to);
        print_inside(to, written, composite);
        fputc('\n', to);
    }
    for (size_t i = 0; i < written->buffers.count; i++) {
        if (fusion->obstacles[i] == NULL) continue;
        if (!headed) fputs("\nnot fused\n", to);
        headed = true;
        fprintf(to, "  '%s': %s\n", written->buffers.items[i].name, fusion->obstacles[i]);
    }
    if (fusion->off != NULL && fusion->off_matters) fprintf(to, "\nnot fused: %s\n", fusion->off);
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
