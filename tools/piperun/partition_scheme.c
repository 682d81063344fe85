/* SPDX-License-Identifier: MIT */
#include "tools/piperun/partition_scheme.h"

#include "tools/piperun/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct prt_scheme_word prt_scheme_words[] = {
    {"equally", PRT_PARTITION_EQUALLY, PRT_SCHEME_EQUALLY},
    {"by-counts", PRT_PARTITION_BY_COUNTS, PRT_SCHEME_BY_COUNTS},
    {"by-affinity", PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_SCHEME_BY_AFFINITY_DOMAIN},
    {NULL, 0, 0},
};

const struct prt_level_word prt_level_words[] = {
    {"numa", "NUMA", PRT_AFFINITY_NUMA},
    {"l4", "L4", PRT_AFFINITY_L4},
    {"l3", "L3", PRT_AFFINITY_L3},
    {"l2", "L2", PRT_AFFINITY_L2},
    {"l1", "L1", PRT_AFFINITY_L1},
    {"next", "next partitionable", PRT_AFFINITY_NEXT_PARTITIONABLE},
    {NULL, NULL, 0},
};

/* ---- reading ---- */

static bool read_cache_level(const char *word, int64_t *domain)
{
    for (const struct prt_level_word *l = prt_level_words; l->word != NULL; l++) {
        if (strcmp(l->word, word) != 0) continue;
        *domain = l->domain;
        return true;
    }
    return false;
}

static const char *scheme_example(const struct prt_scheme_word *scheme)
{
    if (scheme->set == PRT_SCHEME_BY_AFFINITY_DOMAIN) return "by-affinity l2";
    return scheme->set == PRT_SCHEME_BY_COUNTS ? "by-counts 2 1 1" : "equally 2";
}

static int read_scheme_value(const struct prt_scheme_word *scheme, const char *word, int64_t *value)
{
    if (scheme->set == PRT_SCHEME_BY_AFFINITY_DOMAIN) {
        if (read_cache_level(word, value)) return EXIT_DONE;
        return PRT_COMPLAIN(EXIT_USAGE, "'%s' is no level: numa, l4, l3, l2, l1, or next", word);
    }
    char *end;
    errno = 0;
    long long read = strtoll(word, &end, 10);
    *value = read;
    if (errno == 0 && end != word && *end == '\0') return EXIT_DONE;
    return PRT_COMPLAIN(EXIT_USAGE, "%s: '%s' is no whole number of 64 bits; for example: %s",
                        scheme->word, word, scheme_example(scheme));
}

static int find_scheme(const char *word, const struct prt_scheme_word **scheme)
{
    for (*scheme = prt_scheme_words; (*scheme)->word != NULL; ++*scheme)
        if (strcmp((*scheme)->word, word) == 0) return EXIT_DONE;
    return PRT_COMPLAIN(EXIT_USAGE,
                        "'%s' is no scheme: 'equally N', 'by-counts N...', or 'by-affinity LEVEL'",
                        word);
}

/* `count` words: the scheme's, and its values. */
static int read_scheme_words(int count, char **words, struct prt_scheme *scheme)
{
    if (count == 0) return PRT_COMPLAIN(EXIT_USAGE, "a scheme is missing beside '/'");
    int exit_code = find_scheme(words[0], &scheme->word);
    if (exit_code != EXIT_DONE) return exit_code;
    bool many = scheme->word->set == PRT_SCHEME_BY_COUNTS;
    if (count == 1)
        return PRT_COMPLAIN(EXIT_USAGE, "%s: a value is missing; for example: %s", words[0],
                            scheme_example(scheme->word));
    if (count > 2 && !many)
        return PRT_COMPLAIN(EXIT_USAGE, "%s takes one value: '%s' is too many", words[0], words[2]);
    scheme->properties = calloc((size_t)count + 2, sizeof *scheme->properties);
    if (scheme->properties == NULL) return prt_complain_memory();
    scheme->properties[0] = scheme->word->property;
    for (int i = 1; i < count; i++) {
        exit_code = read_scheme_value(scheme->word, words[i], &scheme->properties[i]);
        if (exit_code != EXIT_DONE) return exit_code;
        if (many && scheme->properties[i] == PRT_PARTITION_BY_COUNTS_LIST_END)
            return PRT_COMPLAIN(EXIT_USAGE, "by-counts: 0 ends a list of counts in OpenCL, and is "
                                            "no count");
    }
    scheme->value_count = (size_t)count - 1;
    return EXIT_DONE;
}

int prt_schemes_read(int argc, char **argv, struct prt_scheme **schemes, size_t *count)
{
    *count = 0;
    *schemes = calloc((size_t)argc + 1, sizeof **schemes);
    if (*schemes == NULL) return prt_complain_memory();
    for (int begin = 0, end; argc > 0 && begin <= argc; begin = end + 1) {
        for (end = begin; end < argc && strcmp(argv[end], "/") != 0; end++)
            ;
        int exit_code = read_scheme_words(end - begin, argv + begin, &(*schemes)[(*count)++]);
        if (exit_code != EXIT_DONE) return exit_code;
    }
    return EXIT_DONE;
}

void prt_schemes_free(struct prt_scheme *schemes, size_t count)
{
    for (size_t i = 0; schemes != NULL && i < count; i++)
        free(schemes[i].properties);
    free(schemes);
}

/* ---- reasons ---- */

const char *prt_scheme_error_name(enum prt_status status)
{
    switch (status) {
    case PRT_E_INVALID_DEVICE: return "CL_INVALID_DEVICE";
    case PRT_E_INVALID_VALUE: return "CL_INVALID_VALUE";
    case PRT_E_DEVICE_PARTITION_FAILED: return "CL_DEVICE_PARTITION_FAILED";
    case PRT_E_INVALID_DEVICE_PARTITION_COUNT: return "CL_INVALID_DEVICE_PARTITION_COUNT";
    case PRT_E_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
    case PRT_E_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
    default: return prt_status_name(status);
    }
}

static const struct prt_level_word *level_word_of(int64_t domain)
{
    const struct prt_level_word *level = prt_level_words;
    while (level->word != NULL && level->domain != domain)
        level++;
    return level;
}

static void reason_of_value(const struct prt_scheme *scheme,
                            const struct prt_device_figures *figures, char *reason, size_t size)
{
    int64_t value = scheme->properties[1];
    const char *level = level_word_of(value)->name;
    if (!(figures->schemes & scheme->word->set))
        snprintf(reason, size, "the device does not support %s", scheme->word->word);
    else if (scheme->word->set == PRT_SCHEME_EQUALLY)
        snprintf(reason, size, "sub-devices of %" PRId64 " compute units", value);
    else if (value == PRT_AFFINITY_NEXT_PARTITIONABLE)
        snprintf(reason, size, "the device has no levels that CUs share");
    else
        snprintf(reason, size, "the device has no level %s", level);
}

/* The first level of those that `domain` asks for along which the device has two domains or more;
 * PRT_LEVEL_COUNT: there is none. */
static int level_with_domains(const struct prt_device_information *device, int64_t domain)
{
    int level = 0;
    bool any = domain == PRT_AFFINITY_NEXT_PARTITIONABLE;
    while (level < PRT_LEVEL_COUNT &&
           (device->domains[level] < 2 || (!any && (domain >> level & 1) == 0)))
        level++;
    return level;
}

/* All its compute units are in one domain, or they are in too many. */
static void reason_of_domains(int64_t domain, const struct prt_device_information *device,
                              char *reason, size_t size)
{
    int level = level_with_domains(device, domain);
    if (level < PRT_LEVEL_COUNT)
        snprintf(reason, size,
                 "its compute units are in %" PRIu32 " domains of level %s, and a partition makes "
                 "at most %" PRIu32 " sub-devices",
                 device->domains[level], prt_level_words[level].name, device->subdevices_max);
    else if (domain == PRT_AFFINITY_NEXT_PARTITIONABLE)
        snprintf(reason, size, "its compute units share one domain of every level that it has");
    else
        snprintf(reason, size, "its compute units share one domain of level %s",
                 level_word_of(domain)->name);
}

static void reason_of_failure(const struct prt_scheme *scheme,
                              const struct prt_device_information *device, char *reason,
                              size_t size)
{
    int64_t value = scheme->properties[1];
    bool equally = scheme->word->set == PRT_SCHEME_EQUALLY;
    if (device->cu_count == 1)
        snprintf(reason, size, "one compute unit cannot be split");
    else if (device->subdevices_max < 2)
        snprintf(reason, size, "its max_sub_devices is %" PRIu32, device->subdevices_max);
    else if (scheme->word->set == PRT_SCHEME_BY_AFFINITY_DOMAIN)
        reason_of_domains(value, device, reason, size);
    else if (equally && device->cu_count / value < 2)
        snprintf(reason, size,
                 "one sub-device of %" PRId64 " of its %" PRIu32 " compute units is no partition",
                 value, device->cu_count);
    else
        snprintf(reason, size, "%" PRIu32 " sub-devices would result, the maximum is %" PRIu32,
                 (uint32_t)(device->cu_count / value), device->subdevices_max);
}

static void reason_of_counts(const struct prt_scheme *scheme,
                             const struct prt_device_information *device, char *reason, size_t size)
{
    int64_t left = device->cu_count;
    if (scheme->word->set == PRT_SCHEME_EQUALLY) {
        snprintf(reason, size, "%" PRId64 " compute units are more than its %" PRIu32,
                 scheme->properties[1], device->cu_count);
        return;
    }
    for (size_t i = 0; i < scheme->value_count; i++) {
        int64_t count = scheme->properties[1 + i];
        if (count < 0) {
            snprintf(reason, size, "%" PRId64 " compute units", count);
            return;
        }
        if (count > left) {
            snprintf(reason, size,
                     "the counts up to %" PRId64 " are more than the %" PRIu32 " compute units",
                     count, device->cu_count);
            return;
        }
        left -= count;
    }
    snprintf(reason, size, "%zu counts, the maximum number of sub-devices is %" PRIu32,
             scheme->value_count, device->subdevices_max);
}

void prt_scheme_reason(const struct prt_scheme *scheme, enum prt_status status,
                       const struct prt_device_figures *figures,
                       const struct prt_device_information *device, char *reason, size_t size)
{
    switch (status) {
    case PRT_E_INVALID_VALUE: reason_of_value(scheme, figures, reason, size); break;
    case PRT_E_DEVICE_PARTITION_FAILED: reason_of_failure(scheme, device, reason, size); break;
    case PRT_E_INVALID_DEVICE_PARTITION_COUNT:
        reason_of_counts(scheme, device, reason, size);
        break;
    case PRT_E_OUT_OF_RESOURCES:
        snprintf(reason, size, "more sub-devices than there may be at a time");
        break;
    default: snprintf(reason, size, "%s", prt_status_text(status)); break;
    }
}

void prt_scheme_describe(struct prt_device_tree *tree, struct prt_device_handle device, char *text,
                         size_t size)
{
    size_t length = 0;
    snprintf(text, size, "-");
    if (prt_device_partition_type(tree, device, NULL, 0, &length) != PRT_OK || length == 0) return;
    int64_t *properties = calloc(length, sizeof *properties);
    if (properties == NULL ||
        prt_device_partition_type(tree, device, properties, length, &length) != PRT_OK) {
        free(properties);
        return;
    }
    const struct prt_scheme_word *scheme = prt_scheme_words;
    while (scheme->word != NULL && scheme->property != properties[0])
        scheme++;
    if (scheme->set == PRT_SCHEME_BY_AFFINITY_DOMAIN)
        snprintf(text, size, "%s %s", scheme->word, level_word_of(properties[1])->word);
    else if (scheme->set == PRT_SCHEME_EQUALLY)
        snprintf(text, size, "%s %" PRId64, scheme->word, properties[1]);
    else
        snprintf(text, size, "%s", scheme->word);
    free(properties);
}
