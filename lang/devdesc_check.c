/* SPDX-License-Identifier: MIT */
/*
 * devdesc_check: whether the values of a description fit together.  Only accepted values of the text are judged: defaults
 * fit, and refused values have been reported.
 */
#include "lang/devdesc_internal.h"

#include <inttypes.h>
#include <stdio.h>

struct level {
    const char *name, *cus_key, *cache_key; /* no cache: NULL */
};

static const struct level LEVELS[DEVDESC_LEVELS] = {
    [DEVDESC_NUMA] = {"NUMA", "cus_per_numa", NULL},
    [DEVDESC_L4] = {"L4", "cus_per_l4", "cache_l4"},
    [DEVDESC_L3] = {"L3", "cus_per_l3", "cache_l3"},
    [DEVDESC_L2] = {"L2", "cus_per_l2", "cache_l2"},
    [DEVDESC_L1] = {"L1", "cus_per_l1", "cache_l1"},
};

struct check {
    const struct devdesc_reader *reader;
    const struct devdesc *description;
    struct devdesc_findings *findings;
};

static bool field_is_given(const struct check *check, const char *key)
{
    return devdesc_given(check->reader, key)->valid;
}

static struct devdesc_place value_of(const struct check *check, const char *key)
{
    return devdesc_given(check->reader, key)->value;
}

static struct devdesc_finding *report_doubt(const struct check *check, const char *key,
                                            const char *message)
{
    return devdesc_report(check->findings, DEVDESC_WARNING, value_of(check, key), "%s", message);
}

/* A domain of CUs lies within the device and within those of the wider level. */
static void check_nesting(const struct check *check)
{
    const char *wider_key = field_is_given(check, "cu_count") ? "cu_count" : NULL;
    uint32_t wider = check->description->cu_count;
    for (int level = 0; level < DEVDESC_LEVELS; level++) {
        uint32_t cus = check->description->cus_per_domain[level];
        const char *key = LEVELS[level].cus_key;
        if (cus == 0 || !field_is_given(check, key)) continue;
        if (wider_key && wider % cus) {
            struct devdesc_finding *finding = devdesc_report(
                check->findings, DEVDESC_ERROR, value_of(check, key),
                "'%s' must divide the %" PRIu32 " CUs of '%s'", key, wider, wider_key);
            devdesc_other(finding, value_of(check, wider_key), "'%s' is %" PRIu32, wider_key,
                          wider);
            devdesc_note(finding, "each set of CUs that share a cache or a memory lies within one "
                                  "set of the next wider level");
            continue; /* only this level is reported: the next one is compared with the wider level */
        }
        wider = cus;
        wider_key = key;
    }
}

/* The nearest narrower level with a cache. */
static int cache_within(const struct check *check, int level)
{
    for (int inner = level + 1; inner < DEVDESC_LEVELS; inner++)
        if (check->description->cache_bytes[inner]) return inner;
    return DEVDESC_LEVELS;
}

static void check_caches(const struct check *check)
{
    const struct devdesc *d = check->description;
    for (int level = DEVDESC_L4; level < DEVDESC_LEVELS; level++) {
        const struct level *at = &LEVELS[level];
        if (!d->cache_bytes[level] || !field_is_given(check, at->cache_key)) continue;
        if (d->cus_per_domain[level] == 0) {
            struct devdesc_finding *finding =
                devdesc_report(check->findings, DEVDESC_WARNING, value_of(check, at->cache_key),
                               "no CU has this cache: '%s' is %s", at->cus_key,
                               field_is_given(check, at->cus_key) ? "0" : "not given");
            devdesc_help(finding, "say how many CUs share one: `%s = N`", at->cus_key);
        }
        int inner = cache_within(check, level);
        if (inner == DEVDESC_LEVELS || d->cache_bytes[inner] <= d->cache_bytes[level]) continue;
        struct devdesc_finding *finding = devdesc_report(
            check->findings, DEVDESC_WARNING, value_of(check, at->cache_key),
            "an %s cache that is smaller than an %s cache within it", at->name, LEVELS[inner].name);
        devdesc_other(finding, value_of(check, LEVELS[inner].cache_key), "the %s cache",
                      LEVELS[inner].name);
    }
}

static bool has_domains(const struct devdesc *d)
{
    for (int level = 0; level < DEVDESC_LEVELS; level++)
        if (d->cus_per_domain[level] && d->cus_per_domain[level] < d->cu_count) return true;
    return false;
}

static void check_schemes(const struct check *check)
{
    const struct devdesc *d = check->description;
    bool given = field_is_given(check, "schemes"), counted = field_is_given(check, "cu_count");
    if (given && counted && (d->schemes & DEVDESC_BY_AFFINITY) && !has_domains(d))
        devdesc_help(
            report_doubt(check, "schemes",
                         "by_affinity has nothing to go by: no level has two domains or more"),
            "leave by_affinity out, or give `cus_per_l2 = N` or another level");
    if (!field_is_given(check, "max_sub_devices")) return;
    if (given && d->schemes && counted && d->cu_count > 1 && d->max_sub_devices < 2)
        devdesc_help(
            report_doubt(check, "max_sub_devices",
                         "no partition makes fewer than two sub-devices: no scheme can be used"),
            "`schemes = none` says so, or let max_sub_devices be 2 or more");
    if (!counted || d->max_sub_devices <= d->cu_count) return;
    struct devdesc_finding *finding =
        devdesc_report(check->findings, DEVDESC_WARNING, value_of(check, "max_sub_devices"),
                       "more sub-devices than the %" PRIu32 " CUs", d->cu_count);
    devdesc_other(finding, value_of(check, "cu_count"), "the CUs");
    devdesc_note(finding, "every sub-device has a CU at least");
}

/* A work-group is executed by one CU. */
static void check_group_limits(const struct check *check)
{
    const struct devdesc *d = check->description;
    if (!field_is_given(check, "max_group_items") || !field_is_given(check, "lanes")) return;
    if (d->max_group_items >= d->lanes) return;
    struct devdesc_finding *finding =
        devdesc_report(check->findings, DEVDESC_WARNING, value_of(check, "max_group_items"),
                       "no work-group can fill the %" PRIu32 " lanes of a CU", d->lanes);
    devdesc_other(finding, value_of(check, "lanes"), "the lanes");
}

static void check_kind(const struct check *check)
{
    const struct devdesc *d = check->description;
    if (d->host == 0 || d->cuda == 0 || !field_is_given(check, "host")) return;
    struct devdesc_finding *finding =
        devdesc_report(check->findings, DEVDESC_ERROR, value_of(check, "cuda"),
                       "a device is the host's cores or a GPU, not both");
    devdesc_other(finding, value_of(check, "host"), "the host's cores");
}

static void check_local_memory(const struct check *check)
{
    const struct devdesc *d = check->description;
    if (!field_is_given(check, "local_memory") || !field_is_given(check, "memory")) return;
    if (d->local_bytes < d->memory_bytes) return;
    struct devdesc_finding *finding =
        devdesc_report(check->findings, DEVDESC_WARNING, value_of(check, "local_memory"),
                       "the local memory of one CU is as large as the memory of the device");
    devdesc_other(finding, value_of(check, "memory"), "the memory of the device");
}

bool devdesc_has_cache(const struct devdesc *d)
{
    for (int level = 0; level < DEVDESC_LEVELS; level++)
        if (d->cus_per_domain[level] > 0 && d->cache_bytes[level] > 0) return true;
    return false;
}

/* Figures of the memory that change no time. */
static void check_memory_time(const struct check *check)
{
    const struct devdesc *d = check->description;
    if (d->memory_in_flight_bytes > 0 && d->memory_latency_cycles == 0 &&
        field_is_given(check, "memory_in_flight")) {
        struct devdesc_finding *finding =
            devdesc_report(check->findings, DEVDESC_WARNING, value_of(check, "memory_in_flight"),
                           "bytes under way limit nothing without a latency");
        devdesc_help(finding, "say how long an access takes: `memory_latency = CYCLES`");
    }
    if (d->cache_bytes_per_cycle > 0 && !devdesc_has_cache(d) &&
        field_is_given(check, "cache_bytes_per_cycle")) {
        struct devdesc_finding *finding = devdesc_report(
            check->findings, DEVDESC_WARNING, value_of(check, "cache_bytes_per_cycle"),
            "the device has no cache with this bandwidth");
        devdesc_help(finding, "say what the CUs share: `cus_per_l2 = N`, `cache_l2 = BYTES`");
    }
}

/* Of two figures that only mean something together, one is missing. */
static void report_half(const struct check *check, const char *key, const char *message,
                        const char *help)
{
    if (!field_is_given(check, key)) return;
    struct devdesc_finding *finding =
        devdesc_report(check->findings, DEVDESC_WARNING, value_of(check, key), "%s", message);
    devdesc_help(finding, "%s", help);
}

static void check_warp_time(const struct check *check)
{
    const struct devdesc *d = check->description;
    if (d->warp_residence_cycles > 0 && d->resident_warps == 0)
        report_half(check, "warp_residence", "warps wait for no places where a CU holds any number",
                    "say how many a CU holds: `resident_warps = N`");
    if (d->registers_per_cu > 0 && d->resident_warps == 0)
        report_half(check, "registers_per_cu",
                    "warps wait for no registers where a CU holds any number",
                    "say how many a CU holds: `resident_warps = N`");
    const char *of_file = "there are registers for any number of warps";
    const char *say = "say how many a CU has: `registers_per_cu = N`";
    if (d->registers_per_item > 0 && d->registers_per_cu == 0)
        report_half(check, "registers_per_item", of_file, say);
    if (d->register_unit > 1 && d->registers_per_cu == 0)
        report_half(check, "register_unit", of_file, say);
    if (d->launches_overlap > 0 && d->processes_ahead == 0)
        report_half(check, "launches_overlap",
                    "launches do not overlap where packets are processed one after the other",
                    "add `processes_ahead = 1`");
}

/* Figures of units that change nothing: the host and GPUs have none, and a unit without a rate is absent. */
static void check_units(const struct check *check)
{
    const struct devdesc *d = check->description;
    for (int i = 0; i < DEVDESC_UNITS; i++) {
        char rate[32], start[40];
        snprintf(rate, sizeof rate, "unit_%s", devdesc_unit_name(i));
        snprintf(start, sizeof start, "unit_%s_start", devdesc_unit_name(i));
        if (d->units[i].bytes_per_cycle > 0 && (d->host > 0 || d->cuda > 0))
            report_half(check, rate, "only simulated devices have fixed-function units",
                        "leave it out: kernels execute what the unit does");
        if (d->units[i].bytes_per_cycle == 0 && d->units[i].start_cycles > 0)
            report_half(check, start, "the device has no such unit",
                        "say how many bytes it takes a cycle: the same key without `_start`");
    }
}

void devdesc_check(const struct devdesc_reader *reader, const struct devdesc *description,
                   struct devdesc_findings *findings)
{
    struct check check = {reader, description, findings};
    check_nesting(&check);
    check_caches(&check);
    check_schemes(&check);
    check_group_limits(&check);
    check_kind(&check);
    check_local_memory(&check);
    check_memory_time(&check);
    check_warp_time(&check);
    check_units(&check);
}
