/* SPDX-License-Identifier: MIT */
#include "tests/unit/subdevice_model.h"

#include "model/subdevice.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MOST = 96, VALUES_MOST = 16 };

struct model_device {
    uint32_t references, attached;
    int parent;
    uint64_t cus;
    int64_t made_with[VALUES_MOST];
    size_t made_with_length;
    struct prt_device_handle handle;
};

struct model {
    struct prt_device_description description;
    struct model_device devices[DEVICES_MOST]; /* the root first; never used twice */
    int count;
    struct subdevice_counts *counts;
};

/* Ends the program where they differ. */
static void same(int line, const char *text, long long found, long long wanted)
{
    if (found == wanted) return;
    fprintf(stderr, "subdevice_model: line %d: %s is %lld, in the model %lld\n", line, text, found,
            wanted);
    abort();
}

#define SAME(found, wanted) same(__LINE__, #found, (long long)(found), (long long)(wanted))

static uint32_t below(const struct subdevice_choices *choices, uint32_t end)
{
    return choices->below(choices->context, end);
}

static uint32_t size_of(uint64_t cus)
{
    uint32_t size = 0;
    for (int cu = 0; cu < 64; cu++)
        size += (cus >> cu & 1) != 0;
    return size;
}

/* ---- life ---- */

static bool is_alive(const struct model *m, int device)
{
    const struct model_device *d = &m->devices[device];
    if (device == 0 || d->references > 0 || d->attached > 0) return true;
    for (int child = 1; child < m->count; child++)
        if (m->devices[child].parent == device && is_alive(m, child)) return true;
    return false;
}

static size_t count_alive(const struct model *m)
{
    size_t alive = 0;
    for (int i = 0; i < m->count; i++)
        alive += is_alive(m, i);
    return alive;
}

static bool is_named(const struct model *m, int device)
{
    return device == 0 || m->devices[device].references > 0;
}

/* ---- partitions ---- */

struct parts {
    enum prt_status status;
    uint32_t count; /* also of a partition that fails only because that is too many */
    uint64_t sets[64];
    int64_t level; /* that was taken */
};

static struct parts refused(enum prt_status status)
{
    return (struct parts){.status = status};
}

static uint32_t most_parts(const struct model *m, uint64_t cus)
{
    uint32_t most = m->description.subdevices_max;
    return most < size_of(cus) ? most : size_of(cus);
}

/* The `size` lowest CUs of a set leave it. */
static uint64_t take(uint64_t *cus, uint64_t size)
{
    uint64_t taken = 0;
    for (int cu = 0; cu < 64 && size > 0; cu++) {
        uint64_t one = UINT64_C(1) << cu;
        if (!(*cus & one)) continue;
        taken |= one;
        *cus &= ~one;
        size--;
    }
    return taken;
}

static struct parts part_equally(const struct model *m, uint64_t cus, const int64_t *p)
{
    if (p[1] < 1 || p[2] != 0) return refused(PRT_E_INVALID_VALUE);
    uint32_t all = size_of(cus), most = most_parts(m, cus);
    if (p[1] > all) return refused(PRT_E_INVALID_DEVICE_PARTITION_COUNT);
    if (2 * p[1] > all) return refused(PRT_E_DEVICE_PARTITION_FAILED);
    struct parts parts = {.status = PRT_OK, .count = (uint32_t)(all / p[1])};
    if (parts.count > most) parts.status = PRT_E_DEVICE_PARTITION_FAILED;
    for (uint32_t i = 0; i < parts.count; i++)
        parts.sets[i] = take(&cus, (uint64_t)p[1]);
    return parts;
}

static struct parts part_by_counts(const struct model *m, uint64_t cus, const int64_t *p)
{
    struct parts parts = {.status = PRT_OK};
    int64_t sum = 0;
    for (p++; *p != 0; p++) {
        sum += *p;
        if (*p < 0 || sum > (int64_t)size_of(cus))
            return refused(PRT_E_INVALID_DEVICE_PARTITION_COUNT);
        if (++parts.count > most_parts(m, cus))
            return refused(PRT_E_INVALID_DEVICE_PARTITION_COUNT);
    }
    if (parts.count == 0 || p[1] != 0) return refused(PRT_E_INVALID_VALUE);
    if (most_parts(m, cus) < 2) return refused(PRT_E_DEVICE_PARTITION_FAILED);
    p -= parts.count;
    for (uint32_t i = 0; i < parts.count; i++)
        parts.sets[i] = take(&cus, (uint64_t)p[i]);
    return parts;
}

/* Every CU joins the part of its domain. */
static struct parts part_by_level(uint64_t cus, uint32_t cus_per_domain)
{
    struct parts parts = {.status = PRT_OK};
    uint32_t domain_of_part = UINT32_MAX;
    for (uint32_t cu = 0; cu < 64; cu++) {
        if (!(cus >> cu & 1)) continue;
        if (cu / cus_per_domain != domain_of_part) parts.sets[parts.count++] = 0;
        domain_of_part = cu / cus_per_domain;
        parts.sets[parts.count - 1] |= UINT64_C(1) << cu;
    }
    return parts;
}

static struct parts part_by_affinity(const struct model *m, uint64_t cus, const int64_t *p)
{
    static const int64_t domains[PRT_LEVEL_COUNT] = {
        PRT_AFFINITY_NUMA, PRT_AFFINITY_L4, PRT_AFFINITY_L3, PRT_AFFINITY_L2, PRT_AFFINITY_L1};
    bool any = false;
    struct parts found = refused(PRT_E_DEVICE_PARTITION_FAILED);
    for (int i = 0; i < PRT_LEVEL_COUNT; i++) {
        uint32_t size = m->description.cus_per_domain[i];
        if (size == 0 || (p[1] != domains[i] && p[1] != PRT_AFFINITY_NEXT_PARTITIONABLE)) continue;
        any = true;
        struct parts parts = part_by_level(cus, size);
        if (found.status == PRT_OK || parts.count < 2 || parts.count > most_parts(m, cus)) continue;
        found = parts;
        found.level = domains[i];
    }
    return any && p[2] == 0 ? found : refused(PRT_E_INVALID_VALUE);
}

static struct parts part(const struct model *m, uint64_t cus, const int64_t *p)
{
    uint32_t schemes = m->description.schemes;
    if (p[0] == PRT_PARTITION_EQUALLY && (schemes & PRT_SCHEME_EQUALLY))
        return part_equally(m, cus, p);
    if (p[0] == PRT_PARTITION_BY_COUNTS && (schemes & PRT_SCHEME_BY_COUNTS))
        return part_by_counts(m, cus, p);
    if (p[0] == PRT_PARTITION_BY_AFFINITY_DOMAIN && (schemes & PRT_SCHEME_BY_AFFINITY_DOMAIN))
        return part_by_affinity(m, cus, p);
    return refused(PRT_E_INVALID_VALUE);
}

/* ---- both sides ---- */

static void draw_list(const struct subdevice_choices *choices, int64_t list[VALUES_MOST])
{
    size_t length = 0;
    memset(list, 0, VALUES_MOST * sizeof *list);
    switch (below(choices, 7)) {
    case 0:
    case 1:
        list[length++] = PRT_PARTITION_EQUALLY;
        list[length++] = (int64_t)below(choices, 20) - 1;
        break;
    case 2:
    case 3:
        list[length++] = PRT_PARTITION_BY_COUNTS;
        for (uint32_t i = below(choices, 6); i > 0; i--)
            list[length++] = below(choices, 20) == 0 ? -1 : 1 + (int64_t)below(choices, 9);
        length++;
        break;
    case 4:
    case 5:
        list[length++] = PRT_PARTITION_BY_AFFINITY_DOMAIN;
        list[length++] = INT64_C(1) << below(choices, 7);
        break;
    default: list[length++] = 0x1085 + below(choices, 5); break;
    }
    if (below(choices, 12) == 0) list[length] = 1 + below(choices, 3); /* a value past the end */
}

static size_t list_length(const int64_t *list)
{
    if (list[0] != PRT_PARTITION_BY_COUNTS) return 3;
    size_t length = 1;
    while (list[length] != 0)
        length++;
    return length + 2;
}

static void step_partition(struct model *m, struct prt_device_tree *tree,
                           const struct subdevice_choices *choices, int from)
{
    int64_t list[VALUES_MOST];
    struct prt_device_handle made[64];
    draw_list(choices, list);
    struct parts parts = part(m, m->devices[from].cus, list);
    if (!is_named(m, from)) parts = refused(PRT_E_INVALID_DEVICE);
    uint32_t count = 99, room = below(choices, 4) == 0 ? below(choices, 4) : 64;
    bool fits = m->count + (int)parts.count <= DEVICES_MOST;
    if (fits && room < parts.count) parts = refused(PRT_E_INVALID_VALUE);
    SAME(prt_create_sub_devices(tree, m->devices[from].handle, list, room, fits ? made : NULL,
                                &count),
         parts.status);
    SAME(count, parts.status == PRT_OK ? parts.count : 99);
    m->counts->refused += parts.status != PRT_OK;
    if (parts.status != PRT_OK || !fits) return;
    m->counts->made++;
    for (uint32_t i = 0; i < count; i++) {
        struct model_device *d = &m->devices[m->count++];
        *d = (struct model_device){1, 0, from, parts.sets[i], {0}, list_length(list), made[i]};
        memcpy(d->made_with, list, sizeof d->made_with);
        if (list[0] == PRT_PARTITION_BY_AFFINITY_DOMAIN) d->made_with[1] = parts.level;
    }
}

static void step_count(struct model *m, struct prt_device_tree *tree, int which, bool release)
{
    struct model_device *d = &m->devices[which];
    enum prt_status wanted = is_named(m, which) ? PRT_OK : PRT_E_INVALID_DEVICE;
    SAME(release ? prt_device_release(tree, d->handle) : prt_device_retain(tree, d->handle),
         wanted);
    if (wanted == PRT_OK && which > 0) d->references += release ? UINT32_MAX : 1;
}

static void step_attachment(struct model *m, struct prt_device_tree *tree, int which, bool detach)
{
    struct model_device *d = &m->devices[which];
    bool good = detach ? d->attached > 0 : is_named(m, which);
    SAME(detach ? prt_device_detach(tree, d->handle) : prt_device_attach(tree, d->handle),
         good ? PRT_OK : PRT_E_INVALID_DEVICE);
    if (good) d->attached += detach ? UINT32_MAX : 1;
}

/* ---- comparing ---- */

static void compare_schemes(const struct model *m, uint64_t cus,
                            const struct prt_device_information *information)
{
    int64_t domains = 0;
    for (int64_t d = PRT_AFFINITY_NUMA; d <= PRT_AFFINITY_L1; d <<= 1) {
        const int64_t list[] = {PRT_PARTITION_BY_AFFINITY_DOMAIN, d, 0};
        if (part(m, cus, list).status == PRT_OK) domains |= d;
    }
    if (domains != 0) domains |= PRT_AFFINITY_NEXT_PARTITIONABLE;
    SAME(information->affinity_domains, domains);
    uint32_t schemes = most_parts(m, cus) >= 2 ? m->description.schemes & 3 : 0;
    if (domains != 0) schemes |= PRT_SCHEME_BY_AFFINITY_DOMAIN;
    SAME(information->schemes, schemes);
}

static void compare_device(const struct model *m, struct prt_device_tree *tree, int which)
{
    const struct model_device *d = &m->devices[which];
    struct prt_device_information information;
    enum prt_status wanted = is_alive(m, which) ? PRT_OK : PRT_E_INVALID_DEVICE;
    int64_t list[VALUES_MOST];
    uint64_t words[1];
    size_t length;
    SAME(prt_device_query(tree, d->handle, &information), wanted);
    SAME(prt_device_cu_set(tree, d->handle, words, 1), wanted);
    if (wanted != PRT_OK) return;
    SAME(words[0] == d->cus, true);
    SAME(information.cu_count, size_of(d->cus));
    SAME(information.subdevices_max, most_parts(m, d->cus));
    SAME(information.reference_count, which > 0 ? d->references : 1);
    compare_schemes(m, d->cus, &information);
    SAME(prt_device_partition_type(tree, d->handle, list, VALUES_MOST, &length), PRT_OK);
    SAME(length, d->made_with_length);
    SAME(memcmp(list, d->made_with, length * sizeof *list), 0);
    if (which > 0) SAME(prt_device_equal(information.parent, m->devices[d->parent].handle), true);
}

static void compare_all(const struct model *m, struct prt_device_tree *tree)
{
    SAME(prt_device_tree_live(tree), count_alive(m));
    for (int i = 0; i < m->count; i++)
        compare_device(m, tree, i);
}

static void step(struct model *m, struct prt_device_tree *tree,
                 const struct subdevice_choices *choices)
{
    int which = (int)below(choices, (uint32_t)m->count);
    switch (below(choices, 8)) {
    case 0:
    case 1: step_partition(m, tree, choices, which); break;
    case 2: step_count(m, tree, which, false); break;
    case 3:
    case 4:
    case 5: step_count(m, tree, which, true); break;
    case 6: step_attachment(m, tree, which, false); break;
    default: step_attachment(m, tree, which, true); break;
    }
}

/* The rest is released and detached in some order: only the root stays. */
static void release_all(struct model *m, struct prt_device_tree *tree,
                        const struct subdevice_choices *choices)
{
    while (count_alive(m) > 1) {
        int which = 1 + (int)below(choices, (uint32_t)m->count - 1);
        while (m->devices[which].references == 0 && m->devices[which].attached == 0)
            which = which + 1 < m->count ? which + 1 : 1;
        bool detach = m->devices[which].references == 0 ||
                      (m->devices[which].attached > 0 && below(choices, 2) == 0);
        if (detach)
            step_attachment(m, tree, which, true);
        else
            step_count(m, tree, which, true);
        SAME(prt_device_tree_live(tree), count_alive(m));
    }
}

static void describe(struct prt_device_description *description,
                     const struct subdevice_choices *choices)
{
    *description = (struct prt_device_description){.cu_count = 1 + below(choices, 64),
                                                   .schemes = below(choices, 16),
                                                   .subdevices_max = 1 + below(choices, 24)};
    if (description->schemes >= 8) description->schemes = 7;
    for (int level = 0; level < PRT_LEVEL_COUNT; level++)
        description->cus_per_domain[level] = below(choices, 3) == 0 ? 0 : below(choices, 17);
}

void subdevice_model_run(const struct subdevice_choices *choices, int steps,
                         struct subdevice_counts *counts)
{
    struct prt_device_tree *tree;
    struct model *m = calloc(1, sizeof *m);
    if (m == NULL) abort();
    m->counts = counts;
    describe(&m->description, choices);
    SAME(prt_device_tree_create(&m->description, &tree), PRT_OK);
    uint32_t cus = m->description.cu_count;
    m->count = 1;
    m->devices[0] = (struct model_device){.cus = UINT64_MAX >> (64 - cus),
                                          .handle = prt_device_tree_root(tree)};
    for (int i = 0; i < steps; i++) {
        step(m, tree, choices);
        compare_all(m, tree);
    }
    release_all(m, tree, choices);
    prt_device_tree_destroy(tree);
    free(m);
}
