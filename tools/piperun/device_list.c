/* SPDX-License-Identifier: MIT */
#include "tools/piperun/device_list.h"

#include "runtime/host/pipert_device.h"
#include "tools/piperun/message.h"
#include "tools/piperun/partition_scheme.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] =
    "usage: piperun partition DEVICE [SCHEME [/ SCHEME]...] [--describe PATH]\n"
    "\n"
    "Partitions a device as clCreateSubDevices of OpenCL 1.2 does, and prints the sub-devices.  "
    "DEVICE is a name of\n"
    "--list-devices, or FILE.dev.  After a '/' each sub-device is partitioned again.\n"
    "\n"
    "  equally N                 as many sub-devices of N compute units as fit\n"
    "  by-counts N...            one sub-device for each number\n"
    "  by-affinity LEVEL         one for each set that shares a level: numa, l4, l3, l2, l1, or "
    "next: the first of\n"
    "                            these along which it can be split\n"
    "\n"
    "  --describe PATH           print the description of one sub-device instead, such as 1.0: "
    "pipec --device takes it,\n"
    "                            and 'piperun --partition --sub-device' runs on it\n"
    "\n"
    "examples:\n"
    "  $ piperun partition sim16 equally 8 / by-affinity next\n"
    "  $ piperun partition sim16 by-counts 3 5\n"
    "  $ piperun partition sim16 equally 4 --describe 1 > part.dev\n"
    "\n"
    "Exit status: 0, 1 where the device cannot be partitioned so, 2 usage, 6 no such kind of "
    "device.\n";

/* ---- texts ---- */

struct text {
    char bytes[160];
    size_t length;
};

static void add_text(struct text *text, const char *format, ...) PRT_PRINTF(2, 3);

static void add_text(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof text->bytes - text->length;
    int length = vsnprintf(text->bytes + text->length, room, format, arguments);
    va_end(arguments);
    if (length > 0) text->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* "sim:FILE": the device's description is a file, which errors name. */
static bool open_listed_device(const char *name, struct prt_device_tree **tree,
                               struct prt_device_figures *figures, int *exit_code)
{
    struct prt_error error;
    enum prt_status status = prt_device_open(name, prt_print_report, NULL, tree, figures, &error);
    if (status != PRT_OK) *exit_code = prt_complain_status(&error);
    return status == PRT_OK;
}

/* A count in the largest of its units that does not exceed it: "1.71 GHz", "228 KiB". */
static void add_scaled_text(struct text *text, uint64_t value, uint64_t step,
                            const char *const *units, size_t unit_count)
{
    size_t unit = 0;
    uint64_t factor = 1;
    for (; unit + 1 < unit_count && value / factor >= step; unit++)
        factor *= step;
    uint64_t whole = value / factor, hundredths = value % factor * 100 / factor;
    add_text(text, "%" PRIu64, whole);
    if (hundredths % 10)
        add_text(text, ".%02" PRIu64, hundredths);
    else if (hundredths)
        add_text(text, ".%" PRIu64, hundredths / 10);
    add_text(text, " %s", units[unit]);
}

static const char *const hertz[] = {"Hz", "kHz", "MHz", "GHz"};
static const char *const bytes[] = {"B", "KiB", "MiB", "GiB", "TiB"};
static const char *const decimal_bytes[] = {"B", "kB", "MB", "GB", "TB", "PB"};

/* The schemes by which a device can be partitioned: "equally, by-counts, by-affinity (l3 l2 l1)". */
static void add_schemes(struct text *text, const struct prt_device_information *information)
{
    const char *between = "";
    if (information->schemes == 0) add_text(text, "-");
    for (const struct prt_scheme_word *s = prt_scheme_words; s->word != NULL; s++) {
        if (!(information->schemes & s->set)) continue;
        add_text(text, "%s%s", between, s->word);
        between = ", ";
    }
    if (!(information->schemes & PRT_SCHEME_BY_AFFINITY_DOMAIN)) return;
    between = " (";
    for (const struct prt_level_word *l = prt_level_words; l->word != NULL; l++) {
        if (!(information->affinity_domains & l->domain) ||
            l->domain == PRT_AFFINITY_NEXT_PARTITIONABLE)
            continue;
        add_text(text, "%s%s", between, l->word);
        between = " ";
    }
    add_text(text, ")");
}

/* ---- piperun --list-devices ---- */

/* `remark` ends the row. */
static void print_listed_device(const char *name, int width, const char *remark)
{
    struct prt_device_tree *tree;
    struct prt_device_figures figures;
    struct prt_device_information information;
    struct text clock = {.length = 0}, memory = clock, bandwidth = clock, schemes = clock;
    int exit_code;
    if (!open_listed_device(name, &tree, &figures, &exit_code)) return;
    prt_device_query(tree, prt_device_tree_root(tree), &information);
    add_scaled_text(&clock, figures.clock_hz, 1000, hertz, sizeof hertz / sizeof hertz[0]);
    add_scaled_text(&memory, figures.memory_bytes, 1024, bytes, sizeof bytes / sizeof bytes[0]);
    /* at most 2^20 bytes a cycle at 100 GHz */
    add_scaled_text(&bandwidth, figures.memory_bytes_per_cycle * figures.clock_hz, 1000,
                    decimal_bytes, sizeof decimal_bytes / sizeof decimal_bytes[0]);
    add_text(&bandwidth, "/s");
    if (figures.memory_bytes_per_cycle == 0) bandwidth = (struct text){.bytes = "-", .length = 1};
    add_schemes(&schemes, &information);
    printf("%-*s  %5" PRIu32 "  %5" PRIu32 "  %-8s  %-9s  %11s  %11" PRIu32 "  %s%s\n", width, name,
           figures.cu_count, figures.lanes, clock.bytes, memory.bytes, bandwidth.bytes,
           figures.subdevices_max, schemes.bytes, remark);
    prt_device_tree_destroy(tree);
}

/* The GPUs of this machine, if it has any. */
static void print_gpus(int width)
{
    struct prt_gpu_figures figures;
    struct prt_error unread;
    for (uint32_t i = 0; prt_gpu_describe(i, &figures, &unread) == PRT_OK; i++) {
        struct text name = {.length = 0}, remark = name;
        add_text(&name, "cuda:%" PRIu32, i);
        add_text(&remark, "; %s, compute capability %" PRIu32 ".%" PRIu32, figures.name,
                 figures.capability / 10, figures.capability % 10);
        print_listed_device(name.bytes, width, remark.bytes);
    }
}

int prt_command_list_devices(void)
{
    int width = (int)strlen("device");
    for (size_t i = 0; prt_device_name(i) != NULL; i++)
        if ((int)strlen(prt_device_name(i)) > width) width = (int)strlen(prt_device_name(i));
    printf("%-*s  %5s  %5s  %-8s  %-9s  %11s  %11s  %s\n", width, "device", "CUs", "lanes", "clock",
           "memory", "bandwidth", "sub-devices", "partitioned by");
    for (size_t i = 0; prt_device_name(i) != NULL; i++)
        print_listed_device(prt_device_name(i), width, "");
    print_gpus(width);
    printf("%-*s  executes no kernel: measures the scheduler\n", width, "null");
    return EXIT_DONE;
}

/* ---- piperun partition ---- */

struct row { /* of the table */
    struct prt_device_handle device;
    uint32_t parent; /* row; NO_PARENT */
    uint32_t index;  /* among its sisters */
};

#define NO_PARENT UINT32_MAX

struct table {
    struct prt_device_tree *tree;
    struct prt_device_figures figures;
    struct row *rows; /* the root first, then level by level */
    uint32_t count;
};

/* "1.0.3" */
static void add_path(struct text *path, const struct table *table, uint32_t row)
{
    uint32_t chain[64], depth = 0;
    for (; table->rows[row].parent != NO_PARENT && depth < 64; row = table->rows[row].parent)
        chain[depth++] = table->rows[row].index;
    while (depth-- > 0)
        add_text(path, "%" PRIu32 "%s", chain[depth], depth > 0 ? "." : "");
}

/* A CU set is printed as runs: "0-7, 12". */
static void add_cu_set(struct text *text, const uint64_t *words, uint32_t cu_count)
{
    const char *between = "";
    for (uint32_t cu = 0; cu < cu_count; cu++) {
        if (!prt_cu_set_has(words, cu)) continue;
        uint32_t first = cu;
        while (cu + 1 < cu_count && prt_cu_set_has(words, cu + 1))
            cu++;
        add_text(text, first == cu ? "%s%" PRIu32 : "%s%" PRIu32 "-%" PRIu32, between, first, cu);
        between = ", ";
    }
    if (between[0] == '\0') add_text(text, "-");
}

static int complain_partition(const struct table *table, uint32_t row,
                              const struct prt_scheme *scheme, enum prt_status status)
{
    if (status == PRT_E_OUT_OF_HOST_MEMORY) return prt_complain_memory();
    struct text path = {.length = 0}, reason = path;
    struct prt_device_information information;
    prt_device_query(table->tree, table->rows[row].device, &information);
    prt_scheme_reason(scheme, status, &table->figures, &information, reason.bytes,
                      sizeof reason.bytes);
    add_path(&path, table, row);
    bool root = table->rows[row].parent == NO_PARENT;
    return PRT_COMPLAIN(EXIT_REFUSED, "%s%s of %s: %s: %s", root ? "partition" : "sub-device ",
                        path.bytes, table->figures.name, prt_scheme_error_name(status),
                        reason.bytes);
}

/* Partitions one row; its sub-devices become the last rows. */
static int partition_row(struct table *table, uint32_t row, const struct prt_scheme *scheme)
{
    uint32_t count;
    assert(row < table->count);
    /* The analyser does not see that the rows grow with their count. */
    // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound)
    const struct prt_device_handle device = table->rows[row].device;
    enum prt_status status =
        prt_create_sub_devices(table->tree, device, scheme->properties, 0, NULL, &count);
    if (status != PRT_OK) return complain_partition(table, row, scheme, status);
    struct prt_device_handle *made = calloc(count, sizeof *made);
    struct row *rows = reallocarray(table->rows, (size_t)table->count + count, sizeof *rows);
    if (rows != NULL) table->rows = rows;
    int exit_code = EXIT_DONE;
    if (rows == NULL || made == NULL)
        exit_code = prt_complain_memory();
    else
        status = prt_create_sub_devices(table->tree, device, scheme->properties, count, made, NULL);
    if (status != PRT_OK) exit_code = complain_partition(table, row, scheme, status);
    bool whole = rows != NULL && made != NULL && exit_code == EXIT_DONE;
    for (uint32_t i = 0; whole && i < count; i++)
        table->rows[table->count++] = (struct row){made[i], row, i};
    free(made);
    return exit_code;
}

/* Applies each scheme to every row that the previous one has made. */
static int partition_all(struct table *table, const struct prt_scheme *schemes, size_t count)
{
    uint32_t first = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t end = table->count;
        for (uint32_t row = first; row < end; row++) {
            int exit_code = partition_row(table, row, &schemes[i]);
            if (exit_code != EXIT_DONE) return exit_code;
        }
        first = end;
    }
    return EXIT_DONE;
}

/* The CUs that a partition leaves unused: the parent's CUs after the end of its last sub-device. */
static void print_unused_units(const struct table *table, uint32_t row, const uint64_t *own,
                               uint64_t *words, size_t word_count, int width)
{
    struct text set = {.length = 0};
    uint32_t last = 0, unused = 0;
    uint32_t cus = table->figures.cu_count;
    for (uint32_t cu = 0; cu < cus; cu++)
        if (prt_cu_set_has(own, cu)) last = cu;
    prt_device_cu_set(table->tree, table->rows[table->rows[row].parent].device, words, word_count);
    for (uint32_t cu = 0; cu < cus; cu++) {
        if (cu <= last) words[cu / 64] &= ~(UINT64_C(1) << (cu % 64));
        unused += prt_cu_set_has(words, cu);
    }
    if (unused == 0) return;
    add_cu_set(&set, words, cus);
    printf("%-*s  %5" PRIu32 "  %-9s  unused\n", width, "-", unused, set.bytes);
}

static int print_table(const struct table *table)
{
    size_t word_count = prt_cu_set_words(table->figures.cu_count);
    uint64_t *words = calloc(word_count, sizeof *words), *rest = calloc(word_count, sizeof *rest);
    int width = (int)strlen("sub-device"), exit_code = EXIT_DONE;
    if (words == NULL || rest == NULL) {
        exit_code = prt_complain_memory();
    } else {
        if ((int)strlen(table->figures.name) > width) width = (int)strlen(table->figures.name);
        printf("%-*s  %5s  %-9s  %-18s  %s\n", width, "sub-device", "CUs", "which", "made by",
               "can be partitioned by");
        for (uint32_t row = 0; row < table->count; row++) {
            prt_device_cu_set(table->tree, table->rows[row].device, words, word_count);
            struct text path = {.length = 0}, set = path, made_by = path, schemes = path;
            struct prt_device_information information;
            prt_device_query(table->tree, table->rows[row].device, &information);
            add_path(&path, table, row);
            if (row == 0) add_text(&path, "%s", table->figures.name);
            add_cu_set(&set, words, table->figures.cu_count);
            prt_scheme_describe(table->tree, table->rows[row].device, made_by.bytes,
                                sizeof made_by.bytes);
            add_schemes(&schemes, &information);
            printf("%-*s  %5" PRIu32 "  %-9s  %-18s  %s\n", width, path.bytes, information.cu_count,
                   set.bytes, made_by.bytes, schemes.bytes);
            if (row > 0 &&
                (row + 1 == table->count || table->rows[row + 1].parent != table->rows[row].parent))
                print_unused_units(table, row, words, rest, word_count, width);
        }
    }
    free(words);
    free(rest);
    return exit_code;
}

/* The root's row only; the caller calls close_table in any case. */
static int open_table(const char *name, struct table *table)
{
    int exit_code = EXIT_DONE;
    *table = (struct table){.count = 1};
    if (!open_listed_device(name, &table->tree, &table->figures, &exit_code)) return exit_code;
    table->rows = calloc(1, sizeof *table->rows);
    if (table->rows == NULL) return prt_complain_memory();
    table->rows[0] = (struct row){prt_device_tree_root(table->tree), NO_PARENT, 0};
    return EXIT_DONE;
}

static void close_table(struct table *table)
{
    free(table->rows);
    prt_device_tree_destroy(table->tree);
}

/* "1.0": at most as many numbers as there are schemes. */
static bool read_path(const char *path, struct prt_part *part)
{
    part->steps = calloc(part->scheme_count + 1, sizeof *part->steps);
    for (const char *at = path; part->steps != NULL && part->step_count < part->scheme_count;) {
        char *end;
        errno = 0;
        unsigned long long index = strtoull(at, &end, 10);
        if (at[0] < '0' || at[0] > '9' || errno != 0 || index > UINT32_MAX) return false;
        struct prt_sub_device_step *step = &part->steps[part->step_count];
        *step = (struct prt_sub_device_step){part->schemes[part->step_count].properties,
                                             (uint32_t)index};
        part->step_count++;
        if (*end == '\0') return true;
        if (*end != '.') return false;
        at = end + 1;
    }
    return false;
}

/* The last rows are the sub-devices of `row`. */
static int complain_index(const struct table *table, uint32_t row, const char *option,
                          uint32_t index)
{
    struct text path = {.length = 0};
    uint32_t last = table->rows[table->count - 1].index;
    if (row > 0) add_text(&path, "sub-device ");
    add_path(&path, table, row);
    if (row > 0) add_text(&path, " of ");
    return PRT_COMPLAIN(EXIT_USAGE,
                        "%s: %s%s has no sub-device %" PRIu32 ": the last one is %" PRIu32, option,
                        path.bytes, table->figures.name, index, last);
}

/* Partitions the devices on the path, and finds the row at its end; `option` names it in messages. */
static int walk_path(struct table *table, const struct prt_part *part, const char *option,
                     uint32_t *row)
{
    *row = 0;
    for (uint32_t i = 0; i < part->step_count; i++) {
        uint32_t first = table->count, index = part->steps[i].index;
        int exit_code = partition_row(table, *row, &part->schemes[i]);
        if (exit_code != EXIT_DONE) return exit_code;
        if (index >= table->count - first) return complain_index(table, *row, option, index);
        *row = first + index;
    }
    return EXIT_DONE;
}

/* The steps of `path`, and the row of the sub-device at its end. */
static int find_part(const char *device, const char *option, const char *path,
                     struct prt_part *part, struct table *table, uint32_t *row)
{
    bool valid = read_path(path, part);
    if (part->steps == NULL) return prt_complain_memory();
    if (!valid)
        return PRT_COMPLAIN(EXIT_USAGE,
                            "%s: '%s' is no sub-device: one number for each scheme, with '.' "
                            "between, as 'piperun partition' prints them",
                            option, path);
    int exit_code = open_table(device, table);
    return exit_code == EXIT_DONE ? walk_path(table, part, option, row) : exit_code;
}

/* `piperun partition ... --describe PATH` */
static int describe_named_device(const struct table *table, const char *device, uint32_t row)
{
    char description[4096]; /* more than all keys at their widest */
    struct text name = {.length = 0};
    struct prt_device_information information;
    struct prt_error error;
    size_t length;
    add_text(&name, "%.40s.", table->figures.name);
    add_path(&name, table, row);
    prt_device_query(table->tree, table->rows[row].device, &information);
    if (prt_device_describe(device, &information, name.bytes, description, sizeof description,
                            &length, &error) != PRT_OK)
        return prt_complain_status(&error);
    fputs(description, stdout);
    return EXIT_DONE;
}

static int describe_sub_device(const char *device, struct prt_part *part, const char *path)
{
    struct table table = {.count = 0};
    uint32_t row = 0;
    int exit_code = find_part(device, "--describe", path, part, &table, &row);
    if (exit_code == EXIT_DONE) exit_code = describe_named_device(&table, device, row);
    close_table(&table);
    return exit_code;
}

static int partition_device(const char *name, const struct prt_scheme *schemes, size_t count)
{
    struct table table;
    int exit_code = open_table(name, &table);
    if (exit_code == EXIT_DONE) exit_code = partition_all(&table, schemes, count);
    if (exit_code == EXIT_DONE) exit_code = print_table(&table);
    close_table(&table);
    return exit_code;
}

/* Takes `--describe PATH` out of the words, wherever it stands.  NULL: it is absent or, with *missing,
 * has no path. */
static const char *take_describe(int *argc, char **argv, bool *missing)
{
    const char *path = NULL;
    int kept = 0;
    *missing = false;
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--describe") != 0)
            argv[kept++] = argv[i];
        else if (i + 1 < *argc)
            path = argv[++i];
        else
            *missing = true;
    }
    *argc = kept;
    return path;
}

static int complain_usage(const char *what)
{
    prt_say_error("%s", what);
    fputs("usage: piperun partition DEVICE [SCHEME [/ SCHEME]...] [--describe PATH] (piperun "
          "partition --help)\n",
          stderr);
    return EXIT_USAGE;
}

int prt_command_partition(int argc, char **argv)
{
    struct prt_part part = {.schemes = NULL};
    bool missing;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            fputs(usage_text, stdout);
            return EXIT_DONE;
        }
    const char *path = take_describe(&argc, argv, &missing);
    if (argc < 2) return complain_usage("no device given");
    if (missing) return complain_usage("--describe: which sub-device?");
    int exit_code = prt_schemes_read(argc - 2, argv + 2, &part.schemes, &part.scheme_count);
    if (exit_code == EXIT_DONE)
        exit_code = path != NULL ? describe_sub_device(argv[1], &part, path)
                                 : partition_device(argv[1], part.schemes, part.scheme_count);
    prt_part_free(&part);
    return exit_code;
}

/* ---- a part to run on ---- */

/* The words of a text; each '/' is one.  NULL: no memory.  Frees with one free. */
static char **split_words(const char *text, int *count)
{
    size_t length = strlen(text);
    char **words = calloc(1, (length + 1) * (sizeof *words + 2));
    if (words == NULL) return NULL;
    char *to = (char *)(words + length + 1);
    for (*count = 0; *text != '\0';) {
        size_t size = *text == '/' ? 1 : strcspn(text, " \t\n/");
        if (size > 0) {
            words[(*count)++] = to;
            memcpy(to, text, size);
            to += size + 1;
        }
        text += size > 0 ? size : 1;
    }
    return words;
}

static int read_schemes(const char *partition, struct prt_part *part)
{
    int count, exit_code;
    char **words = split_words(partition, &count);
    if (words == NULL) return prt_complain_memory();
    if (count == 0)
        exit_code = PRT_COMPLAIN(EXIT_USAGE, "--partition: no scheme; for example: 'equally 2'");
    else
        exit_code = prt_schemes_read(count, words, &part->schemes, &part->scheme_count);
    free(words);
    return exit_code;
}

int prt_part_read(const char *device, const char *partition, const char *path,
                  struct prt_part *part)
{
    struct table table = {.count = 0};
    *part = (struct prt_part){.schemes = NULL};
    if (strcmp(device, "null") == 0)
        return PRT_COMPLAIN(EXIT_USAGE, "--partition: device 'null' has no sub-devices to run on: "
                                        "simulated devices and GPUs have");
    int exit_code = read_schemes(partition, part);
    if (exit_code != EXIT_DONE) return exit_code;
    uint32_t row = 0;
    exit_code = find_part(device, "--sub-device", path, part, &table, &row);
    close_table(&table);
    return exit_code;
}

void prt_part_free(struct prt_part *part)
{
    prt_schemes_free(part->schemes, part->scheme_count);
    free(part->steps);
    *part = (struct prt_part){.schemes = NULL};
}
