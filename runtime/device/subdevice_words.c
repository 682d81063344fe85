/* SPDX-License-Identifier: MIT */
#include "runtime/device/subdevice_words.h"

#include "lang/sched_code.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct words {
    char *text;
    size_t size, used;
    bool fits;
};

static void words_add(struct words *to, const char *format, ...) PRT_PRINTF(2, 3);

static void words_add(struct words *to, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length =
        to->fits ? vsnprintf(to->text + to->used, to->size - to->used, format, values) : -1;
    va_end(values);
    to->fits = length >= 0 && (size_t)length < to->size - to->used;
    if (to->fits) to->used += (size_t)length;
}

static void words_add_scheme(struct words *to, const int64_t *properties)
{
    if (properties[0] == PRT_PARTITION_EQUALLY) {
        words_add(to, "equally %" PRId64, properties[1]);
    } else if (properties[0] == PRT_PARTITION_BY_COUNTS) {
        words_add(to, "by-counts");
        for (const int64_t *count = properties + 1; *count != PRT_PARTITION_BY_COUNTS_LIST_END;
             count++)
            words_add(to, " %" PRId64, *count);
    } else {
        int level = 0;
        while (level + 1 < PRT_LEVEL_COUNT && PRT_AFFINITY_NUMA << level != properties[1])
            level++;
        words_add(to, "by-affinity %s", sched_levels[level]);
    }
}

/* The partition that made the device, after those that made its parents. */
static void words_add_partitions(struct prt_device_tree *tree, struct prt_device_handle device,
                                 struct words *schemes, struct words *path)
{
    struct prt_device_information information;
    int64_t *properties;
    size_t length = 0;
    if (!schemes->fits || prt_device_query(tree, device, &information) != PRT_OK ||
        information.depth == 0)
        return;
    words_add_partitions(tree, information.parent, schemes, path);
    (void)prt_device_partition_type(tree, device, NULL, 0, &length);
    properties = calloc(length + 1, sizeof *properties);
    if (properties == NULL ||
        prt_device_partition_type(tree, device, properties, length, &length) != PRT_OK) {
        schemes->fits = false;
    } else {
        words_add(schemes, information.depth > 1 ? " / " : " ");
        words_add_scheme(schemes, properties);
        words_add(path, information.depth > 1 ? ".%" PRIu32 : "%" PRIu32, information.index);
    }
    free(properties);
}

bool prt_sub_device_tell(struct prt_device_tree *tree, struct prt_device_handle device,
                         const char *name, char *text, size_t size)
{
    char path_text[64] = "";
    struct words schemes = {text, size, 0, true}, path = {path_text, sizeof path_text, 0, true};
    if (strpbrk(name, " \t\n'\"`$&;|<>()*?[]#~!{}\\") != NULL)
        return false; /* a shell would read it otherwise */
    words_add(&schemes, "piperun partition %s", name);
    words_add_partitions(tree, device, &schemes, &path);
    if (path.used == 0) return false;
    words_add(&schemes, " --describe %s >part.dev; pipec --device part.dev", path_text);
    return schemes.fits && path.fits;
}
