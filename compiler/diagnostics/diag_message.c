/* SPDX-License-Identifier: MIT */
/* Diagnostics that one process of a compilation sends to another. */
#include "compiler/diagnostics/diag_internal.h"
#include "compiler/support/child_message.h"

/* The minimum size of a label, a remark, an edit or a diagnostic. */
enum { ITEM_BYTES = 16 };

static void pack_diag(struct parcel *parcel, const struct diag *diag)
{
    pack_number(parcel, diag->rule);
    pack_span(parcel, diag->primary.span);
    pack_text(parcel, diag->message);
    pack_text(parcel, diag->primary.text);
    pack_number(parcel, diag->labels.count);
    for (size_t i = 0; i < diag->labels.count; i++) {
        pack_span(parcel, diag->labels.items[i].span);
        pack_text(parcel, diag->labels.items[i].text);
    }
    pack_number(parcel, diag->remarks.count);
    for (size_t i = 0; i < diag->remarks.count; i++) {
        pack_number(parcel, diag->remarks.items[i].is_help);
        pack_text(parcel, diag->remarks.items[i].text);
    }
    pack_number(parcel, diag->edits.count);
    for (size_t i = 0; i < diag->edits.count; i++) {
        pack_span(parcel, diag->edits.items[i].span);
        pack_text(parcel, diag->edits.items[i].text);
    }
}

void diag_pack(struct parcel *parcel, const struct diags *from)
{
    size_t count = diag_kept_count(from);
    pack_number(parcel, count);
    for (size_t i = 0; i < count; i++)
        pack_diag(parcel, diag_at(from, i));
}

static void unpack_diag(struct diags *to, struct parcel_reader *reader, uint32_t sources)
{
    enum rule rule = (enum rule)unpack_small(reader, RULE_COUNT - 1);
    struct span span = unpack_span(reader, sources);
    const char *message = unpack_text(reader), *primary = unpack_text(reader);
    if (message == NULL) return;
    struct diag *diag = diag_report(to, rule, span, "%s", message);
    if (primary != NULL) diag_primary(diag, "%s", primary);
    for (size_t count = unpack_count(reader, ITEM_BYTES), i = 0; i < count; i++) {
        span = unpack_span(reader, sources);
        const char *text = unpack_text(reader);
        if (text != NULL) diag_label(diag, span, "%s", text);
    }
    for (size_t count = unpack_count(reader, ITEM_BYTES), i = 0; i < count; i++) {
        bool is_help = unpack_small(reader, 1) != 0;
        const char *text = unpack_text(reader);
        if (text != NULL && is_help) diag_help(diag, "%s", text);
        if (text != NULL && !is_help) diag_note(diag, "%s", text);
    }
    for (size_t count = unpack_count(reader, ITEM_BYTES), i = 0; i < count; i++) {
        span = unpack_span(reader, sources);
        const char *text = unpack_text(reader);
        if (text != NULL) diag_fix(diag, span, "%s", text);
    }
}

void diag_unpack(struct diags *to, struct parcel_reader *reader, const struct sources *sources)
{
    for (size_t count = unpack_count(reader, ITEM_BYTES), i = 0; i < count; i++)
        unpack_diag(to, reader, source_count(sources));
}
