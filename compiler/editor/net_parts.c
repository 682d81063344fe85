/* SPDX-License-Identifier: MIT */
#include "compiler/editor/net_parts.h"

static void add_statements(struct net_parts *parts, const struct ast_item *item,
                           const struct ast_net *block, const struct ast_net *net)
{
    for (; net != NULL; net = net->next) {
        struct net_part part = {.item = item, .block = block, .statement = net};
        for (part.buffer = net->buffers; part.buffer != NULL; part.buffer = part.buffer->next) {
            part.at = part.buffer->name.span.begin;
            vec_push(parts->arena, &parts->items, part);
        }
        for (part.element = net->chain; part.element != NULL; part.element = part.element->next) {
            part.at = part.element->span.begin;
            vec_push(parts->arena, &parts->items, part);
        }
        const struct ast_net *own = net->kind == AST_NET_BLOCK ? net : NULL;
        add_statements(parts, item, own, net->body);
        add_statements(parts, item, NULL, net->otherwise);
    }
}

struct net_parts net_parts_of_file(struct arena *arena, const struct ast_file *file)
{
    struct net_parts parts = {.arena = arena};
    for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
        if (item->kind != AST_ITEM_PIPELINE) continue;
        struct net_part part = {.item = item};
        for (part.port = item->signature.ports; part.port != NULL; part.port = part.port->next) {
            part.at = part.port->name.span.begin;
            vec_push(arena, &parts.items, part);
        }
        if (item->net != NULL) add_statements(&parts, item, item->net, item->net->body);
    }
    return parts;
}

const struct net_part *net_part_at(const struct net_parts *parts, uint64_t at)
{
    size_t low = 0, high = parts->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (parts->items.items[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < parts->items.count && parts->items.items[low].at == at)
        return &parts->items.items[low];
    return NULL;
}

bool net_part_is_use(const struct net_parts *parts, const struct ast_item *item,
                     const struct ast_node *element)
{
    if (element->subscripts != NULL) return true;
    if (element->has_call || element->has_type_arguments || element->label.text != NULL)
        return false;
    for (size_t i = 0; i < parts->items.count; i++) {
        const struct net_part *part = &parts->items.items[i];
        if (part->item != item) continue;
        if (part->buffer != NULL && part->buffer->name.text == element->name.text) return true;
        if (part->port != NULL && part->port->name.text == element->name.text) return true;
    }
    return false;
}
