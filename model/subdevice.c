/* SPDX-License-Identifier: MIT */
#include "model/tree_device.h"

#include "base/arithmetic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Every partition cuts its device into runs of neighbouring CUs and the root is CUs 0..n-1, so
 * each CU set is a run [first_cu, first_cu + cu_count).  It is stored as a run and returned as a
 * bitset. */

#define ROOT_SLOT 0u
#define NO_SLOT UINT32_MAX
#define LIVE_DEVICES_DEFAULT 65536u

/* The properties a partition was made with, shared by its sub-devices. */
struct property_list {
    uint32_t users;
    size_t length;
    int64_t values[];
};

/* A slot is free (generation of its next device, on the free list), or holds a device.  A device
 * is alive while reference_count, child_count or attachment_count is not 0. */
struct device_slot {
    uint32_t generation;
    bool occupied;
    uint32_t reference_count;
    uint32_t child_count;
    uint32_t attachment_count;
    uint32_t parent_slot; /* NO_SLOT for the root */
    uint32_t depth;
    uint32_t index; /* among those of its partition */
    uint32_t first_cu;
    uint32_t cu_count;
    uint32_t next_free; /* free slots: next one, NO_SLOT at the end */
    struct property_list *made_with;
};

struct prt_device_tree {
    atomic_uint users;
    struct devdesc *device; /* the one that is divided; owned, or NULL */
    pthread_mutex_t mutex;  /* guards all below but description, domains and root */
    struct prt_device_description description;
    uint32_t *domains[PRT_LEVEL_COUNT]; /* by CU; NULL: all are of one size */
    struct prt_device_handle root;
    struct device_slot *slots;
    uint32_t slot_count;    /* slots ever used */
    uint32_t slot_capacity; /* slots allocated */
    uint32_t first_free;
    uint32_t free_count;
    uint32_t live_count;
    uint32_t first_generation;
};

/* A property list after reading. */
struct partition {
    uint32_t scheme;       /* PRT_SCHEME_* */
    uint32_t count;        /* sub-devices to make */
    uint32_t cus_each;     /* EQUALLY: of each */
    int level;             /* BY_AFFINITY_DOMAIN: the one taken */
    const int64_t *counts; /* BY_COUNTS */
    size_t properties_length;
};

static uint32_t subdevices_max(const struct prt_device_tree *tree, const struct device_slot *device)
{
    return min32(tree->description.subdevices_max, device->cu_count);
}

/* --- tree --- */

/* A start that differs from tree to tree, so that a handle used with the wrong tree is nearly always
 * refused; below 2^31, so that each slot has 2^31 further generations. */
static uint32_t choose_first_generation(const struct prt_device_tree *tree)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t mixed =
        /* equivalent: any number will do */
        (uint64_t)(uintptr_t)tree ^ ((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec;
    mixed *= UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 33) | 1u;
}

static bool domains_are_valid(const struct prt_device_description *description)
{
    for (int level = 0; level < PRT_LEVEL_COUNT; level++) {
        const uint32_t *domains = description->domain_of_cu[level];
        if (domains == NULL) continue;
        if (domains[0] != 0) return false;
        for (uint32_t cu = 1; cu < description->cu_count; cu++)
            if (domains[cu] != domains[cu - 1] && domains[cu] != domains[cu - 1] + 1) return false;
    }
    return true;
}

static bool description_is_valid(const struct prt_device_description *description)
{
    const uint32_t known =
        PRT_SCHEME_EQUALLY | PRT_SCHEME_BY_COUNTS | PRT_SCHEME_BY_AFFINITY_DOMAIN;
    return description != NULL && description->cu_count >= 1 &&
           description->cu_count <= PRT_DEVICE_CUS_MAX && (description->schemes & ~known) == 0 &&
           domains_are_valid(description);
}

static bool copy_domains(struct prt_device_tree *tree)
{
    size_t count = tree->description.cu_count;
    for (int level = 0; level < PRT_LEVEL_COUNT; level++) {
        const uint32_t *given = tree->description.domain_of_cu[level];
        if (given == NULL) continue;
        tree->domains[level] = calloc(count, sizeof *given);
        if (tree->domains[level] == NULL) return false;
        memcpy(tree->domains[level], given, count * sizeof *given);
        tree->description.domain_of_cu[level] = tree->domains[level];
    }
    return true;
}

static void free_domains(struct prt_device_tree *tree)
{
    for (int level = 0; level < PRT_LEVEL_COUNT; level++)
        free(tree->domains[level]);
}

enum prt_status prt_device_tree_create(const struct prt_device_description *description,
                                       struct prt_device_tree **tree)
{
    if (!description_is_valid(description) || tree == NULL) return PRT_E_INVALID_VALUE;
    struct prt_device_tree *made = calloc(1, sizeof *made);
    struct device_slot *slots = calloc(1, sizeof *slots);
    if (made == NULL || slots == NULL || pthread_mutex_init(&made->mutex, NULL) != 0) {
        free(slots);
        free(made);
        return PRT_E_OUT_OF_HOST_MEMORY;
    }
    atomic_init(&made->users, 1);
    made->description = *description;
    if (!copy_domains(made)) {
        free_domains(made);
        pthread_mutex_destroy(&made->mutex);
        free(slots);
        free(made);
        return PRT_E_OUT_OF_HOST_MEMORY;
    }
    if (made->description.live_devices_max == 0)
        made->description.live_devices_max = LIVE_DEVICES_DEFAULT;
    made->first_generation = choose_first_generation(made);
    made->root = (struct prt_device_handle){ROOT_SLOT, made->first_generation};
    slots[ROOT_SLOT] = (struct device_slot){.generation = made->first_generation,
                                            .occupied = true,
                                            .reference_count = 1,
                                            .parent_slot = NO_SLOT,
                                            .cu_count = description->cu_count,
                                            .next_free = NO_SLOT};
    made->slots = slots;
    made->slot_count = 1;
    made->slot_capacity = 1;
    made->first_free = NO_SLOT;
    made->live_count = 1;
    *tree = made;
    return PRT_OK;
}

static void property_list_drop(struct property_list *list)
{
    if (list != NULL && --list->users == 0) free(list);
}

void prt_device_tree_destroy(struct prt_device_tree *tree)
{
    if (tree == NULL || atomic_fetch_sub(&tree->users, 1) > 1) return;
    for (uint32_t i = 0; i < tree->slot_count; i++)
        if (tree->slots[i].occupied) property_list_drop(tree->slots[i].made_with);
    pthread_mutex_destroy(&tree->mutex);
    free_domains(tree);
    free(tree->device);
    free(tree->slots);
    free(tree);
}

struct prt_device_tree *prt_device_tree_share(struct prt_device_tree *tree)
{
    atomic_fetch_add(&tree->users, 1);
    return tree;
}

enum prt_status prt_device_tree_describe(struct prt_device_tree *tree,
                                         const struct devdesc *description)
{
    tree->device = malloc(sizeof *tree->device);
    if (tree->device == NULL) return PRT_E_NOMEM;
    *tree->device = *description;
    return PRT_OK;
}

const struct devdesc *prt_device_tree_description(const struct prt_device_tree *tree)
{
    return tree->device;
}

struct prt_device_handle prt_device_tree_root(const struct prt_device_tree *tree)
{
    return tree->root;
}

size_t prt_device_tree_live(struct prt_device_tree *tree)
{
    pthread_mutex_lock(&tree->mutex);
    size_t live = tree->live_count;
    pthread_mutex_unlock(&tree->mutex);
    return live;
}

bool prt_device_equal(struct prt_device_handle a, struct prt_device_handle b)
{
    return a.slot == b.slot && a.generation == b.generation;
}

/* --- slots: all with the mutex held --- */

/* The device a handle names, released or not; NULL if there is none. */
static struct device_slot *find_existing(struct prt_device_tree *tree,
                                         struct prt_device_handle device)
{
    if (device.generation == 0 || device.slot >= tree->slot_count) return NULL;
    struct device_slot *slot = &tree->slots[device.slot];
    return slot->occupied && slot->generation == device.generation ? slot : NULL;
}

/* The device a handle names, if it has not been released. */
static struct device_slot *find_referenced_slot(struct prt_device_tree *tree,
                                                struct prt_device_handle device)
{
    struct device_slot *slot = find_existing(tree, device);
    return slot != NULL && slot->reference_count != 0 ? slot : NULL;
}

/* Makes room so that `count` take_slot calls succeed.  Moves the slots. */
static enum prt_status reserve_slots(struct prt_device_tree *tree, uint32_t count)
{
    if (count > tree->description.live_devices_max ||
        tree->live_count > tree->description.live_devices_max - count)
        return PRT_E_OUT_OF_RESOURCES;
    if (count <= tree->free_count) return PRT_OK;
    uint32_t wanted;
    /* uncovered: four billion slots do not fit the memory of a test */
    if (__builtin_add_overflow(tree->slot_count, count - tree->free_count, &wanted) ||
        wanted >= NO_SLOT)
        return PRT_E_OUT_OF_RESOURCES;
    if (wanted <= tree->slot_capacity) return PRT_OK;
    /* uncovered: as above */
    uint32_t capacity = wanted < NO_SLOT / 2 ? wanted * 2 : wanted;
    size_t bytes;
    /* uncovered: as above */
    if (__builtin_mul_overflow((size_t)capacity, sizeof *tree->slots, &bytes))
        return PRT_E_OUT_OF_HOST_MEMORY;
    struct device_slot *slots = realloc(tree->slots, bytes);
    if (slots == NULL) return PRT_E_OUT_OF_HOST_MEMORY;
    tree->slots = slots;
    tree->slot_capacity = capacity;
    return PRT_OK;
}

static uint32_t take_slot(struct prt_device_tree *tree)
{
    uint32_t index = tree->first_free;
    if (index != NO_SLOT) {
        tree->first_free = tree->slots[index].next_free;
        tree->free_count--;
    } else {
        index = tree->slot_count++;
        tree->slots[index].generation = tree->first_generation;
    }
    tree->live_count++;
    return index;
}

/* A slot whose generations are used up is never used again. */
static void free_slot(struct prt_device_tree *tree, uint32_t index)
{
    struct device_slot *slot = &tree->slots[index];
    property_list_drop(slot->made_with);
    slot->made_with = NULL;
    slot->occupied = false;
    tree->live_count--;
    /* uncovered: after four billion uses of one slot */
    if (slot->generation == UINT32_MAX) return;
    slot->generation++;
    slot->next_free = tree->first_free;
    tree->first_free = index;
    tree->free_count++;
}

/* Frees the device if nothing holds it any more, and then its parents likewise. */
static void free_unused_slots(struct prt_device_tree *tree, uint32_t index)
{
    while (index != ROOT_SLOT) {
        struct device_slot *slot = &tree->slots[index];
        if (slot->reference_count != 0 || slot->child_count != 0 || slot->attachment_count != 0)
            return;
        uint32_t parent = slot->parent_slot;
        free_slot(tree, index);
        tree->slots[parent].child_count--;
        index = parent;
    }
}

/* --- partition: reading the properties --- */

static int64_t level_domain(int level)
{
    return INT64_C(1) << level;
}

static bool has_level(const struct prt_device_tree *tree, int level)
{
    return tree->domains[level] != NULL || tree->description.cus_per_domain[level] > 0;
}

/* Requires: there is such a level. */
static uint32_t domain_at(const struct prt_device_tree *tree, int level, uint32_t cu)
{
    const uint32_t *domains = tree->domains[level];
    return domains != NULL ? domains[cu] : cu / tree->description.cus_per_domain[level];
}

/* How many domains of `level` the device has CUs in; 0 if the level is absent. */
static uint32_t count_domains(const struct prt_device_tree *tree, const struct device_slot *device,
                              int level)
{
    if (!has_level(tree, level)) return 0;
    uint32_t last_cu = device->first_cu + device->cu_count - 1;
    return domain_at(tree, level, last_cu) - domain_at(tree, level, device->first_cu) + 1;
}

static bool level_splits(const struct prt_device_tree *tree, const struct device_slot *device,
                         int level)
{
    uint32_t domains = count_domains(tree, device, level);
    return domains >= 2 && domains <= subdevices_max(tree, device);
}

/* create_locked checks that they are not too many. */
static enum prt_status read_equally(const struct device_slot *device, const int64_t *properties,
                                    struct partition *partition)
{
    int64_t each = properties[1];
    if (each < 1 || properties[2] != 0) return PRT_E_INVALID_VALUE;
    if (each > device->cu_count) return PRT_E_INVALID_DEVICE_PARTITION_COUNT;
    partition->cus_each = (uint32_t)each;
    partition->count = device->cu_count / partition->cus_each;
    partition->properties_length = 3;
    return partition->count >= 2 ? PRT_OK : PRT_E_DEVICE_PARTITION_FAILED;
}

static enum prt_status read_counts(const struct prt_device_tree *tree,
                                   const struct device_slot *device, const int64_t *properties,
                                   struct partition *partition)
{
    uint32_t count = 0, sum = 0;
    const int64_t *counts = properties + 1;
    for (; counts[count] != PRT_PARTITION_BY_COUNTS_LIST_END; count++) {
        if (counts[count] < 0 || counts[count] > device->cu_count - sum ||
            count >= subdevices_max(tree, device))
            return PRT_E_INVALID_DEVICE_PARTITION_COUNT;
        sum += (uint32_t)counts[count];
    }
    if (count == 0 || counts[count + 1] != 0) return PRT_E_INVALID_VALUE;
    if (subdevices_max(tree, device) < 2) return PRT_E_DEVICE_PARTITION_FAILED;
    partition->counts = counts;
    partition->count = count;
    partition->properties_length = (size_t)count + 3;
    return PRT_OK;
}

static enum prt_status read_affinity(const struct prt_device_tree *tree,
                                     const struct device_slot *device, const int64_t *properties,
                                     struct partition *partition)
{
    bool next = properties[1] == PRT_AFFINITY_NEXT_PARTITIONABLE;
    bool supported = false;
    int taken = PRT_LEVEL_COUNT;
    for (int level = 0; level < PRT_LEVEL_COUNT; level++) {
        if ((!next && properties[1] != level_domain(level)) || !has_level(tree, level)) continue;
        supported = true;
        if (taken == PRT_LEVEL_COUNT && level_splits(tree, device, level)) taken = level;
    }
    if (!supported || properties[2] != 0) return PRT_E_INVALID_VALUE;
    if (taken == PRT_LEVEL_COUNT) return PRT_E_DEVICE_PARTITION_FAILED;
    partition->level = taken;
    partition->count = count_domains(tree, device, taken);
    partition->properties_length = 3;
    return PRT_OK;
}

static enum prt_status read_properties(const struct prt_device_tree *tree,
                                       const struct device_slot *device, const int64_t *properties,
                                       struct partition *partition)
{
    if (properties == NULL) return PRT_E_INVALID_VALUE;
    *partition = (struct partition){0};
    switch (properties[0]) {
    case PRT_PARTITION_EQUALLY: partition->scheme = PRT_SCHEME_EQUALLY; break;
    case PRT_PARTITION_BY_COUNTS: partition->scheme = PRT_SCHEME_BY_COUNTS; break;
    case PRT_PARTITION_BY_AFFINITY_DOMAIN: partition->scheme = PRT_SCHEME_BY_AFFINITY_DOMAIN; break;
    default: return PRT_E_INVALID_VALUE;
    }
    if ((tree->description.schemes & partition->scheme) == 0) return PRT_E_INVALID_VALUE;
    if (partition->scheme == PRT_SCHEME_EQUALLY) return read_equally(device, properties, partition);
    if (partition->scheme == PRT_SCHEME_BY_COUNTS)
        return read_counts(tree, device, properties, partition);
    return read_affinity(tree, device, properties, partition);
}

/* --- partition: making the sub-devices --- */

/* The maker is its one user. */
static struct property_list *property_list_make(const struct partition *partition,
                                                const int64_t *properties)
{
    size_t bytes;
    /* uncovered: a list is hardly longer than there are CUs */
    if (__builtin_mul_overflow(partition->properties_length, sizeof(int64_t), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct property_list), &bytes))
        return NULL;
    struct property_list *list = malloc(bytes);
    if (list == NULL) return NULL;
    list->users = 1;
    list->length = partition->properties_length;
    memcpy(list->values, properties, list->length * sizeof list->values[0]);
    if (partition->scheme == PRT_SCHEME_BY_AFFINITY_DOMAIN)
        list->values[1] = level_domain(partition->level);
    return list;
}

/* CUs of sub-device `i`, which begins at `first_cu` of a device that ends before `end_cu`. */
static uint32_t subdevice_cus(const struct prt_device_tree *tree, const struct partition *partition,
                              uint32_t i, uint32_t first_cu, uint32_t end_cu)
{
    switch (partition->scheme) {
    case PRT_SCHEME_EQUALLY: return partition->cus_each;
    case PRT_SCHEME_BY_COUNTS: return (uint32_t)partition->counts[i];
    default: break;
    }
    uint32_t domain = domain_at(tree, partition->level, first_cu), cu = first_cu;
    while (cu < end_cu && domain_at(tree, partition->level, cu) == domain)
        cu++;
    return cu - first_cu;
}

static enum prt_status make_subdevices(struct prt_device_tree *tree, uint32_t parent,
                                       const struct partition *partition, const int64_t *properties,
                                       struct prt_device_handle *out_devices)
{
    enum prt_status status = reserve_slots(tree, partition->count);
    if (status != PRT_OK) return status;
    struct property_list *list = property_list_make(partition, properties);
    if (list == NULL) return PRT_E_OUT_OF_HOST_MEMORY;
    struct device_slot *device = &tree->slots[parent];
    uint32_t end_cu = device->first_cu + device->cu_count;
    uint32_t first_cu = device->first_cu;
    for (uint32_t i = 0; i < partition->count; i++) {
        uint32_t index = take_slot(tree);
        uint32_t cus = subdevice_cus(tree, partition, i, first_cu, end_cu);
        tree->slots[index] = (struct device_slot){.generation = tree->slots[index].generation,
                                                  .occupied = true,
                                                  .reference_count = 1,
                                                  .parent_slot = parent,
                                                  .depth = device->depth + 1,
                                                  .index = i,
                                                  .first_cu = first_cu,
                                                  .cu_count = cus,
                                                  .next_free = NO_SLOT,
                                                  .made_with = list};
        out_devices[i] = (struct prt_device_handle){index, tree->slots[index].generation};
        list->users++;
        first_cu += cus;
    }
    device->child_count += partition->count;
    property_list_drop(list);
    return PRT_OK;
}

static enum prt_status create_locked(struct prt_device_tree *tree, struct prt_device_handle device,
                                     const int64_t *properties, uint32_t num_devices,
                                     struct prt_device_handle *out_devices,
                                     uint32_t *num_devices_ret)
{
    const struct device_slot *slot = find_referenced_slot(tree, device);
    if (slot == NULL) return PRT_E_INVALID_DEVICE;
    struct partition partition;
    enum prt_status status = read_properties(tree, slot, properties, &partition);
    if (status != PRT_OK) return status;
    if (out_devices != NULL && num_devices < partition.count) return PRT_E_INVALID_VALUE;
    if (partition.count > subdevices_max(tree, slot)) return PRT_E_DEVICE_PARTITION_FAILED;
    if (out_devices != NULL) {
        status = make_subdevices(tree, device.slot, &partition, properties, out_devices);
        if (status != PRT_OK) return status;
    }
    if (num_devices_ret != NULL) *num_devices_ret = partition.count;
    return PRT_OK;
}

enum prt_status prt_create_sub_devices(struct prt_device_tree *tree,
                                       struct prt_device_handle device, const int64_t *properties,
                                       uint32_t num_devices, struct prt_device_handle *out_devices,
                                       uint32_t *num_devices_ret)
{
    pthread_mutex_lock(&tree->mutex);
    enum prt_status status =
        create_locked(tree, device, properties, num_devices, out_devices, num_devices_ret);
    pthread_mutex_unlock(&tree->mutex);
    return status;
}

/* --- life --- */

static enum prt_status retain_locked(struct prt_device_tree *tree, struct prt_device_handle device)
{
    struct device_slot *slot = find_referenced_slot(tree, device);
    if (slot == NULL) return PRT_E_INVALID_DEVICE;
    if (device.slot == ROOT_SLOT) return PRT_OK;
    /* uncovered: after four billion calls */
    if (slot->reference_count == UINT32_MAX) return PRT_E_OUT_OF_RESOURCES;
    slot->reference_count++;
    return PRT_OK;
}

static enum prt_status release_locked(struct prt_device_tree *tree, struct prt_device_handle device)
{
    struct device_slot *slot = find_referenced_slot(tree, device);
    if (slot == NULL) return PRT_E_INVALID_DEVICE;
    if (device.slot == ROOT_SLOT) return PRT_OK;
    slot->reference_count--;
    free_unused_slots(tree, device.slot);
    return PRT_OK;
}

static enum prt_status attach_locked(struct prt_device_tree *tree, struct prt_device_handle device)
{
    struct device_slot *slot = find_referenced_slot(tree, device);
    if (slot == NULL) return PRT_E_INVALID_DEVICE;
    /* uncovered: after four billion calls */
    if (slot->attachment_count == UINT32_MAX) return PRT_E_OUT_OF_RESOURCES;
    slot->attachment_count++;
    return PRT_OK;
}

static enum prt_status detach_locked(struct prt_device_tree *tree, struct prt_device_handle device)
{
    struct device_slot *slot = find_existing(tree, device);
    if (slot == NULL || slot->attachment_count == 0) return PRT_E_INVALID_DEVICE;
    slot->attachment_count--;
    free_unused_slots(tree, device.slot);
    return PRT_OK;
}

static enum prt_status with_lock(struct prt_device_tree *tree, struct prt_device_handle device,
                                 enum prt_status (*action)(struct prt_device_tree *,
                                                           struct prt_device_handle))
{
    pthread_mutex_lock(&tree->mutex);
    enum prt_status status = action(tree, device);
    pthread_mutex_unlock(&tree->mutex);
    return status;
}

enum prt_status prt_device_retain(struct prt_device_tree *tree, struct prt_device_handle device)
{
    return with_lock(tree, device, retain_locked);
}

enum prt_status prt_device_release(struct prt_device_tree *tree, struct prt_device_handle device)
{
    return with_lock(tree, device, release_locked);
}

enum prt_status prt_device_attach(struct prt_device_tree *tree, struct prt_device_handle device)
{
    return with_lock(tree, device, attach_locked);
}

enum prt_status prt_device_detach(struct prt_device_tree *tree, struct prt_device_handle device)
{
    return with_lock(tree, device, detach_locked);
}

/* --- queries --- */

static void fill_information(const struct prt_device_tree *tree, const struct device_slot *device,
                             struct prt_device_information *information)
{
    *information = (struct prt_device_information){.first_cu = device->first_cu,
                                                   .cu_count = device->cu_count,
                                                   .subdevices_max = subdevices_max(tree, device),
                                                   .reference_count = device->reference_count,
                                                   .depth = device->depth,
                                                   .index = device->index};
    if (device->parent_slot != NO_SLOT)
        information->parent = (struct prt_device_handle){
            device->parent_slot, tree->slots[device->parent_slot].generation};
    if (information->subdevices_max >= 2)
        information->schemes =
            tree->description.schemes & (PRT_SCHEME_EQUALLY | PRT_SCHEME_BY_COUNTS);
    if ((tree->description.schemes & PRT_SCHEME_BY_AFFINITY_DOMAIN) == 0) return;
    for (int level = 0; level < PRT_LEVEL_COUNT; level++) {
        information->domains[level] = count_domains(tree, device, level);
        if (level_splits(tree, device, level)) information->affinity_domains |= level_domain(level);
    }
    if (information->affinity_domains != 0) {
        information->affinity_domains |= PRT_AFFINITY_NEXT_PARTITIONABLE;
        information->schemes |= PRT_SCHEME_BY_AFFINITY_DOMAIN;
    }
}

enum prt_status prt_device_query(struct prt_device_tree *tree, struct prt_device_handle device,
                                 struct prt_device_information *information)
{
    pthread_mutex_lock(&tree->mutex);
    const struct device_slot *slot = find_existing(tree, device);
    if (slot != NULL) fill_information(tree, slot, information);
    pthread_mutex_unlock(&tree->mutex);
    return slot != NULL ? PRT_OK : PRT_E_INVALID_DEVICE;
}

static enum prt_status copy_properties(const struct device_slot *slot, int64_t *properties,
                                       size_t capacity, size_t *length)
{
    if (slot == NULL) return PRT_E_INVALID_DEVICE;
    size_t have = slot->made_with != NULL ? slot->made_with->length : 0;
    if (properties != NULL && capacity < have) return PRT_E_INVALID_VALUE;
    if (properties != NULL && have != 0)
        memcpy(properties, slot->made_with->values, have * sizeof *properties);
    *length = have;
    return PRT_OK;
}

enum prt_status prt_device_partition_type(struct prt_device_tree *tree,
                                          struct prt_device_handle device, int64_t *properties,
                                          size_t capacity, size_t *length)
{
    pthread_mutex_lock(&tree->mutex);
    enum prt_status status =
        copy_properties(find_existing(tree, device), properties, capacity, length);
    pthread_mutex_unlock(&tree->mutex);
    return status;
}

enum prt_status prt_device_cu_set(struct prt_device_tree *tree, struct prt_device_handle device,
                                  uint64_t *words, size_t word_count)
{
    pthread_mutex_lock(&tree->mutex);
    const struct device_slot *slot = find_existing(tree, device);
    uint32_t first_cu = slot != NULL ? slot->first_cu : 0;
    uint32_t end_cu = slot != NULL ? first_cu + slot->cu_count : 0; /* equivalent: not used then */
    pthread_mutex_unlock(&tree->mutex);
    if (slot == NULL) return PRT_E_INVALID_DEVICE;
    if (words == NULL || word_count < prt_cu_set_words(tree->description.cu_count))
        return PRT_E_INVALID_VALUE;
    memset(words, 0, word_count * sizeof *words);
    for (uint32_t cu = first_cu; cu < end_cu; cu++)
        words[cu / 64] |= UINT64_C(1) << (cu % 64);
    return PRT_OK;
}

bool prt_device_overlap(struct prt_device_tree *tree, struct prt_device_handle a,
                        struct prt_device_handle b)
{
    pthread_mutex_lock(&tree->mutex);
    const struct device_slot *one = find_existing(tree, a), *other = find_existing(tree, b);
    bool overlap = one != NULL && other != NULL &&
                   one->first_cu < other->first_cu + other->cu_count &&
                   other->first_cu < one->first_cu + one->cu_count;
    pthread_mutex_unlock(&tree->mutex);
    return overlap;
}
