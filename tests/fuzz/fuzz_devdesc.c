/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a device description.  Every place that a finding names lies in the text; reading is
 * repeatable; what is accepted has a canonical text, whatever the room for it, and could be planned
 * for: a tree of sub-devices can be made of it.
 */
#include "tests/fuzz/fuzz.h"

#include "lang/devdesc.h"
#include "model/queue.h"

#include <stdlib.h>
#include <string.h>

enum { CANONICAL_BYTES = 8192 };

static void expect(bool holds)
{
    if (!holds) abort();
}

static void check_place(const struct devdesc_place *place, size_t size)
{
    if (place->line == 0) return;
    expect(place->column > 0 && place->begin <= place->end && place->end <= size);
}

static void check_findings(const struct devdesc_findings *findings, size_t size)
{
    expect(findings->count <= DEVDESC_FINDINGS_MAX);
    for (size_t i = 0; i < findings->count; i++) {
        check_place(&findings->items[i].place, size);
        check_place(&findings->items[i].other, size);
        expect(findings->items[i].message[0] != '\0');
    }
}

static void check_accepted(const struct devdesc *accepted)
{
    char text[CANONICAL_BYTES], part[16];
    size_t length = devdesc_text(accepted, text, sizeof text);
    expect(length < sizeof text && length == strlen(text));
    expect(devdesc_text(accepted, part, sizeof part) == length);
    expect(memcmp(text, part, sizeof part - 1) == 0);
    struct prt_device_tree *tree;
    if (prt_queue_tree_create(accepted, &tree) == PRT_OK) prt_device_tree_destroy(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct devdesc_findings findings;
    struct devdesc description, again;
    bool accepted = devdesc_parse((const char *)data, size, &description, &findings);
    expect(accepted == !findings.failed);
    check_findings(&findings, size);
    expect(devdesc_parse((const char *)data, size, &again, &findings) == accepted);
    if (!accepted) return 0;
    expect(devdesc_hash(&description) == devdesc_hash(&again));
    check_accepted(&description);
    return 0;
}
