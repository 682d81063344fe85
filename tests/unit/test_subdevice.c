/* SPDX-License-Identifier: MIT */
/* Sub-devices against the OpenCL 1.2 specification, section 4.3:
 * a table of partitions, random properties, life, handles, threads. */
#include "tests/test.h"

#include "runtime/device/subdevice_path.h"

#include <pthread.h>

#define SUBDEVICES_MAX 64
#define ALL_SCHEMES (PRT_SCHEME_EQUALLY | PRT_SCHEME_BY_COUNTS | PRT_SCHEME_BY_AFFINITY_DOMAIN)

#define EQ PRT_PARTITION_EQUALLY
#define BC PRT_PARTITION_BY_COUNTS
#define AF PRT_PARTITION_BY_AFFINITY_DOMAIN
#define END PRT_PARTITION_BY_COUNTS_LIST_END
#define NEXT PRT_AFFINITY_NEXT_PARTITIONABLE

/* Devices of the table.  Levels: NUMA, L4, L3, L2, L1. */
enum { D16, D12, D1, D16_FEW, D16_EQ, D16_BC, D16_AF, D16_NOLEVELS, D10, D64, DEVICE_COUNT };

static const struct prt_device_description devices[DEVICE_COUNT] = {
    [D16] = {16, ALL_SCHEMES, 16, 0, {16, 0, 8, 4, 1}, {NULL}},
    [D12] = {12, ALL_SCHEMES, 12, 0, {6, 0, 6, 3, 1}, {NULL}},
    [D1] = {1, ALL_SCHEMES, 1, 0, {1, 1, 1, 1, 1}, {NULL}},
    [D16_FEW] = {16, ALL_SCHEMES, 4, 0, {0, 0, 8, 2, 1}, {NULL}},
    [D16_EQ] = {16, PRT_SCHEME_EQUALLY, 16, 0, {8, 0, 0, 0, 0}, {NULL}},
    [D16_BC] = {16, PRT_SCHEME_BY_COUNTS, 16, 0, {8, 0, 0, 0, 0}, {NULL}},
    [D16_AF] = {16, PRT_SCHEME_BY_AFFINITY_DOMAIN, 16, 0, {8, 0, 0, 0, 0}, {NULL}},
    [D16_NOLEVELS] = {16, ALL_SCHEMES, 16, 0, {0, 0, 0, 0, 0}, {NULL}},
    [D10] = {10, ALL_SCHEMES, 10, 0, {0, 0, 0, 4, 0}, {NULL}},
    [D64] = {64, ALL_SCHEMES, 64, 0, {32, 0, 16, 8, 2}, {NULL}},
};

struct partition_case {
    const char *name;
    size_t device;
    int64_t first[6]; /* partitions the root first, and takes sub-device `pick` */
    size_t pick;
    int64_t properties[24];
    enum prt_status status;
    uint32_t count;
    uint64_t sets[16]; /* CU sets, compared as far as they are not 0 */
};

#define OK PRT_OK
#define BAD_VALUE PRT_E_INVALID_VALUE
#define FAILED PRT_E_DEVICE_PARTITION_FAILED
#define BAD_COUNT PRT_E_INVALID_DEVICE_PARTITION_COUNT

static const struct partition_case cases[] = {
    /* EQUALLY */
    {"equally 1", D16, {0}, 0, {EQ, 1}, OK, 16, {1, 2, 4, 8, 16}},
    {"equally 2", D16, {0}, 0, {EQ, 2}, OK, 8, {3, 12, 0x30}},
    {"equally 3", D16, {0}, 0, {EQ, 3}, OK, 5, {7, 0x38, 0x1c0, 0xe00, 0x7000}},
    {"equally 4", D16, {0}, 0, {EQ, 4}, OK, 4, {0xf, 0xf0, 0xf00, 0xf000}},
    {"equally 5", D16, {0}, 0, {EQ, 5}, OK, 3, {0x1f, 0x3e0, 0x7c00}},
    {"equally 7", D16, {0}, 0, {EQ, 7}, OK, 2, {0x7f, 0x3f80}},
    {"equally 8", D16, {0}, 0, {EQ, 8}, OK, 2, {0xff, 0xff00}},
    {"equally 9", D16, {0}, 0, {EQ, 9}, FAILED, 0, {0}},
    {"equally 15", D16, {0}, 0, {EQ, 15}, FAILED, 0, {0}},
    {"equally all", D16, {0}, 0, {EQ, 16}, FAILED, 0, {0}},
    {"equally more than all", D16, {0}, 0, {EQ, 17}, BAD_COUNT, 0, {0}},
    {"equally 2^32 + 1", D16, {0}, 0, {EQ, INT64_C(4294967297)}, BAD_COUNT, 0, {0}},
    {"equally INT64_MAX", D16, {0}, 0, {EQ, INT64_MAX}, BAD_COUNT, 0, {0}},
    {"equally 0", D16, {0}, 0, {EQ, 0}, BAD_VALUE, 0, {0}},
    {"equally -1", D16, {0}, 0, {EQ, -1}, BAD_VALUE, 0, {0}},
    {"equally INT64_MIN", D16, {0}, 0, {EQ, INT64_MIN}, BAD_VALUE, 0, {0}},
    {"equally twice", D16, {0}, 0, {EQ, 4, EQ, 4}, BAD_VALUE, 0, {0}},
    {"equally and counts", D16, {0}, 0, {EQ, 4, BC, 1, END}, BAD_VALUE, 0, {0}},
    {"equally and rubbish", D16, {0}, 0, {EQ, 4, 77}, BAD_VALUE, 0, {0}},
    {"equally 32 of 64", D64, {0}, 0, {EQ, 32}, OK, 2, {0xffffffff, 0xffffffff00000000}},
    {"equally 33 of 64", D64, {0}, 0, {EQ, 33}, FAILED, 0, {0}},
    {"equally 1 of one CU", D1, {0}, 0, {EQ, 1}, FAILED, 0, {0}},
    {"equally 2 of one CU", D1, {0}, 0, {EQ, 2}, BAD_COUNT, 0, {0}},
    {"equally 0 of one CU", D1, {0}, 0, {EQ, 0}, BAD_VALUE, 0, {0}},
    {"equally within the maximum", D16_FEW, {0}, 0, {EQ, 4}, OK, 4, {0xf, 0xf0, 0xf00, 0xf000}},
    {"equally above the maximum", D16_FEW, {0}, 0, {EQ, 2}, FAILED, 0, {0}},
    {"equally 5 of at most 4", D16_FEW, {0}, 0, {EQ, 3}, FAILED, 0, {0}},
    {"equally unsupported", D16_BC, {0}, 0, {EQ, 4}, BAD_VALUE, 0, {0}},
    {"only equally supported", D16_EQ, {0}, 0, {EQ, 8}, OK, 2, {0xff, 0xff00}},
    {"equally nested", D16, {EQ, 8}, 1, {EQ, 4}, OK, 2, {0xf00, 0xf000}},
    {"equally nested, rest unused", D16, {EQ, 8}, 1, {EQ, 3}, OK, 2, {0x700, 0x3800}},
    {"equally nested above", D16, {EQ, 8}, 0, {EQ, 9}, BAD_COUNT, 0, {0}},
    {"equally of a single CU", D16, {EQ, 1}, 3, {EQ, 1}, FAILED, 0, {0}},
    /* BY_COUNTS */
    {"counts 3, 1", D16, {0}, 0, {BC, 3, 1, END}, OK, 2, {7, 8}},
    {"counts 8, 8", D16, {0}, 0, {BC, 8, 8, END}, OK, 2, {0xff, 0xff00}},
    {"counts 16", D16, {0}, 0, {BC, 16, END}, OK, 1, {0xffff}},
    {"counts 1", D16, {0}, 0, {BC, 1, END}, OK, 1, {1}},
    {"counts keep their order", D16, {0}, 0, {BC, 1, 4, 2, END}, OK, 3, {1, 0x1e, 0x60}},
    {"counts 10, 5, 1", D16, {0}, 0, {BC, 10, 5, 1, END}, OK, 3, {0x3ff, 0x7c00, 0x8000}},
    {"sixteen counts",
     D16,
     {0},
     0,
     {BC, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, END},
     OK,
     16,
     {1, 2, 4}},
    {"more counts than CUs",
     D16,
     {0},
     0,
     {BC, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, END},
     BAD_COUNT,
     0,
     {0}},
    {"no count", D16, {0}, 0, {BC, END}, BAD_VALUE, 0, {0}},
    {"count 17 of 16", D16, {0}, 0, {BC, 17, END}, BAD_COUNT, 0, {0}},
    {"sum above the CUs", D16, {0}, 0, {BC, 9, 8, END}, BAD_COUNT, 0, {0}},
    {"sum that wraps", D16, {0}, 0, {BC, INT64_MAX, INT64_MAX, END}, BAD_COUNT, 0, {0}},
    {"count 2^32", D16, {0}, 0, {BC, INT64_C(4294967296), END}, BAD_COUNT, 0, {0}},
    {"negative count", D16, {0}, 0, {BC, -1, END}, BAD_COUNT, 0, {0}},
    {"negative count later", D16, {0}, 0, {BC, 4, -4, END}, BAD_COUNT, 0, {0}},
    {"count INT64_MIN", D16, {0}, 0, {BC, 1, INT64_MIN, END}, BAD_COUNT, 0, {0}},
    {"counts twice", D16, {0}, 0, {BC, 2, END, BC, 2, END}, BAD_VALUE, 0, {0}},
    {"counts and equally", D16, {0}, 0, {BC, 2, END, EQ, 2}, BAD_VALUE, 0, {0}},
    {"counts as many as the maximum", D16_FEW, {0}, 0, {BC, 1, 1, 1, 1, END}, OK, 4, {1, 2, 4, 8}},
    {"counts above the maximum", D16_FEW, {0}, 0, {BC, 1, 1, 1, 1, 1, END}, BAD_COUNT, 0, {0}},
    {"counts unsupported", D16_EQ, {0}, 0, {BC, 4, END}, BAD_VALUE, 0, {0}},
    {"only counts supported", D16_BC, {0}, 0, {BC, 4, END}, OK, 1, {0xf}},
    {"counts of one CU", D1, {0}, 0, {BC, 1, END}, FAILED, 0, {0}},
    {"two counts of one CU", D1, {0}, 0, {BC, 1, 1, END}, BAD_COUNT, 0, {0}},
    {"counts nested", D16, {BC, 6, 7, END}, 1, {BC, 3, 4, END}, OK, 2, {0x1c0, 0x1e00}},
    {"counts nested above", D16, {BC, 6, 7, END}, 0, {BC, 4, 3, END}, BAD_COUNT, 0, {0}},
    {"counts nested too many", D16, {BC, 2, END}, 0, {BC, 1, 1, 1, END}, BAD_COUNT, 0, {0}},
    /* BY_AFFINITY_DOMAIN */
    {"L3", D16, {0}, 0, {AF, PRT_AFFINITY_L3}, OK, 2, {0xff, 0xff00}},
    {"L2", D16, {0}, 0, {AF, PRT_AFFINITY_L2}, OK, 4, {0xf, 0xf0, 0xf00, 0xf000}},
    {"L1", D16, {0}, 0, {AF, PRT_AFFINITY_L1}, OK, 16, {1, 2, 4}},
    {"L4 is absent", D16, {0}, 0, {AF, PRT_AFFINITY_L4}, BAD_VALUE, 0, {0}},
    {"one NUMA domain", D16, {0}, 0, {AF, PRT_AFFINITY_NUMA}, FAILED, 0, {0}},
    {"two NUMA domains", D12, {0}, 0, {AF, PRT_AFFINITY_NUMA}, OK, 2, {0x3f, 0xfc0}},
    {"next skips NUMA", D16, {0}, 0, {AF, NEXT}, OK, 2, {0xff, 0xff00}},
    {"next takes NUMA", D12, {0}, 0, {AF, NEXT}, OK, 2, {0x3f, 0xfc0}},
    {"next skips to L2", D12, {AF, NEXT}, 1, {AF, NEXT}, OK, 2, {0x1c0, 0xe00}},
    {"next in a half", D16, {AF, NEXT}, 1, {AF, NEXT}, OK, 2, {0xf00, 0xf000}},
    {"next comes to L1", D16, {AF, PRT_AFFINITY_L2}, 3, {AF, NEXT}, OK, 4, {0x1000, 0x2000}},
    {"next of a single CU", D16, {AF, PRT_AFFINITY_L1}, 3, {AF, NEXT}, FAILED, 0, {0}},
    {"next of one CU", D1, {0}, 0, {AF, NEXT}, FAILED, 0, {0}},
    {"next without levels", D16_NOLEVELS, {0}, 0, {AF, NEXT}, BAD_VALUE, 0, {0}},
    {"L2 without levels", D16_NOLEVELS, {0}, 0, {AF, PRT_AFFINITY_L2}, BAD_VALUE, 0, {0}},
    {"a last domain that is short", D10, {0}, 0, {AF, PRT_AFFINITY_L2}, OK, 3, {0xf, 0xf0, 0x300}},
    {"domains cut by a partition",
     D16,
     {BC, 3, 7, END},
     1,
     {AF, PRT_AFFINITY_L2},
     OK,
     3,
     {0x8, 0xf0, 0x300}},
    {"one domain left", D16, {AF, PRT_AFFINITY_L3}, 0, {AF, PRT_AFFINITY_L3}, FAILED, 0, {0}},
    {"L2 inside L2", D16, {AF, PRT_AFFINITY_L2}, 2, {AF, PRT_AFFINITY_L2}, FAILED, 0, {0}},
    {"L2 nested in L3",
     D16,
     {AF, PRT_AFFINITY_L3},
     1,
     {AF, PRT_AFFINITY_L2},
     OK,
     2,
     {0xf00, 0xf000}},
    {"more domains than the maximum", D16_FEW, {0}, 0, {AF, PRT_AFFINITY_L2}, FAILED, 0, {0}},
    {"domains within the maximum", D16_FEW, {0}, 0, {AF, PRT_AFFINITY_L3}, OK, 2, {0xff, 0xff00}},
    {"domain 0", D16, {0}, 0, {AF, 0}, BAD_VALUE, 0, {0}},
    {"two domains at once",
     D16,
     {0},
     0,
     {AF, PRT_AFFINITY_L3 | PRT_AFFINITY_L2},
     BAD_VALUE,
     0,
     {0}},
    {"domain 0x40", D16, {0}, 0, {AF, 0x40}, BAD_VALUE, 0, {0}},
    {"domain -1", D16, {0}, 0, {AF, -1}, BAD_VALUE, 0, {0}},
    {"affinity twice", D16, {0}, 0, {AF, NEXT, AF, NEXT}, BAD_VALUE, 0, {0}},
    {"affinity and equally", D16, {0}, 0, {AF, PRT_AFFINITY_L2, EQ, 2}, BAD_VALUE, 0, {0}},
    {"affinity unsupported", D16_EQ, {0}, 0, {AF, PRT_AFFINITY_NUMA}, BAD_VALUE, 0, {0}},
    {"only affinity supported", D16_AF, {0}, 0, {AF, NEXT}, OK, 2, {0xff, 0xff00}},
    {"L1 of 64", D64, {0}, 0, {AF, PRT_AFFINITY_L1}, OK, 32, {3, 12}},
    {"L2 of 64", D64, {0}, 0, {AF, PRT_AFFINITY_L2}, OK, 8, {0xff, 0xff00}},
    {"next of 64", D64, {0}, 0, {AF, NEXT}, OK, 2, {0xffffffff, 0xffffffff00000000}},
    /* schemes mixed by nesting */
    {"counts in equally", D16, {EQ, 5}, 2, {BC, 2, 3, END}, OK, 2, {0xc00, 0x7000}},
    {"equally in counts", D16, {BC, 5, 11, END}, 1, {EQ, 5}, OK, 2, {0x3e0, 0x7c00}},
    {"equally in L3", D16, {AF, PRT_AFFINITY_L3}, 1, {EQ, 4}, OK, 2, {0xf00, 0xf000}},
    {"counts in L2", D16, {AF, PRT_AFFINITY_L2}, 1, {BC, 1, 3, END}, OK, 2, {0x10, 0xe0}},
    /* no scheme at all */
    {"empty list", D16, {0}, 0, {0}, BAD_VALUE, 0, {0}},
    {"unknown scheme", D16, {0}, 0, {0x1085, 4}, BAD_VALUE, 0, {0}},
    {"scheme BY_NAMES of Intel", D16, {0}, 0, {0x4052, 0, 1}, BAD_VALUE, 0, {0}},
    {"scheme -1", D16, {0}, 0, {-1, 1}, BAD_VALUE, 0, {0}},
};

static const struct prt_device_handle none = {0, 0};

static struct prt_device_tree *make_tree(size_t device)
{
    struct prt_device_tree *tree = NULL;
    assert_int_equal(prt_device_tree_create(&devices[device], &tree), PRT_OK);
    return tree;
}

static uint64_t cu_set(struct prt_device_tree *tree, struct prt_device_handle device)
{
    uint64_t words[1];
    assert_int_equal(prt_device_cu_set(tree, device, words, 1), PRT_OK);
    return words[0];
}

static void check_case(const struct partition_case *c)
{
    struct prt_device_tree *tree = make_tree(c->device);
    struct prt_device_handle device = prt_device_tree_root(tree);
    struct prt_device_handle made[SUBDEVICES_MAX];
    uint32_t count = 777;
    if (c->first[0] != 0) {
        assert_int_equal(prt_create_sub_devices(tree, device, c->first, SUBDEVICES_MAX, made, NULL),
                         PRT_OK);
        device = made[c->pick];
    }
    size_t live = prt_device_tree_live(tree);
    /* only counting; a wrong status names its case */
    if (prt_create_sub_devices(tree, device, c->properties, 0, NULL, NULL) != c->status)
        print_message("case '%s'\n", c->name);
    assert_int_equal(prt_create_sub_devices(tree, device, c->properties, 0, NULL, &count),
                     c->status);
    assert_int_equal(count, c->status == PRT_OK ? c->count : 777);
    assert_int_equal(prt_device_tree_live(tree), live);
    /* too little room */
    memset(made, 0, sizeof made);
    if (c->status == PRT_OK) {
        assert_int_equal(
            prt_create_sub_devices(tree, device, c->properties, c->count - 1, made, &count),
            PRT_E_INVALID_VALUE);
        assert_int_equal(prt_device_tree_live(tree), live);
    }
    /* for real */
    assert_int_equal(
        prt_create_sub_devices(tree, device, c->properties, SUBDEVICES_MAX, made, NULL), c->status);
    assert_int_equal(prt_device_tree_live(tree), live + c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        struct prt_device_information information;
        assert_int_equal(prt_device_query(tree, made[i], &information), PRT_OK);
        assert_true(prt_device_equal(information.parent, device));
        assert_int_equal(information.reference_count, 1);
        assert_int_equal(information.cu_count, __builtin_popcountll(cu_set(tree, made[i])));
        if (i < 16 && c->sets[i] != 0) assert_int_equal(cu_set(tree, made[i]), c->sets[i]);
    }
    for (uint32_t i = c->count; i < SUBDEVICES_MAX; i++)
        assert_true(prt_device_equal(made[i], none));
    prt_device_tree_destroy(tree);
}

static void partitions_follow_the_table(void **state)
{
    (void)state;
    size_t count = sizeof cases / sizeof cases[0];
    assert_true(count >= 80);
    for (size_t i = 0; i < count; i++) {
        check_case(&cases[i]);
    }
    print_message("%zu cases\n", count);
}

static void null_properties_are_invalid_value(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), made[4];
    uint32_t count = 5;
    assert_int_equal(prt_create_sub_devices(tree, root, NULL, 4, made, &count),
                     PRT_E_INVALID_VALUE);
    assert_int_equal(count, 5);
    prt_device_tree_destroy(tree);
}

static void num_devices_zero_with_room_is_invalid_value(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), made[4];
    const int64_t properties[] = {EQ, 4, 0};
    assert_int_equal(prt_create_sub_devices(tree, root, properties, 0, made, NULL),
                     PRT_E_INVALID_VALUE);
    assert_int_equal(prt_create_sub_devices(tree, root, properties, 0, NULL, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, root, properties, 4, made, NULL), PRT_OK);
    prt_device_tree_destroy(tree);
}

/* Three CUs, then one, then two, of a level; a part of them begins in the midst of a domain. */
static void domains_may_be_of_several_sizes(void **state)
{
    (void)state;
    const uint32_t domains[] = {0, 0, 0, 1, 2, 2}, bad[] = {0, 2, 2, 3, 3, 3};
    struct prt_device_description description = {.cu_count = 6,
                                                 .schemes = PRT_SCHEME_BY_AFFINITY_DOMAIN |
                                                            PRT_SCHEME_BY_COUNTS,
                                                 .subdevices_max = 6};
    struct prt_device_tree *tree = NULL;
    struct prt_device_handle made[3], part;
    struct prt_device_information information;
    const int64_t by_l3[] = {AF, PRT_AFFINITY_L3, 0}, four[] = {BC, 4, END, 0};
    const uint64_t sets[] = {0x07, 0x08, 0x30};
    uint32_t count = 0;
    description.domain_of_cu[PRT_LEVEL_L3] = bad;
    assert_int_equal(prt_device_tree_create(&description, &tree), PRT_E_INVALID_VALUE);
    description.domain_of_cu[PRT_LEVEL_L3] = domains;
    assert_int_equal(prt_device_tree_create(&description, &tree), PRT_OK);
    struct prt_device_handle root = prt_device_tree_root(tree);
    assert_int_equal(prt_create_sub_devices(tree, root, by_l3, 3, made, &count), PRT_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cu_set(tree, made[i]), sets[i]);
    assert_int_equal(prt_create_sub_devices(tree, root, four, 1, &part, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, part, by_l3, 3, made, &count), PRT_OK);
    assert_int_equal(count, 2);
    assert_int_equal(cu_set(tree, made[1]), 0x08);
    assert_int_equal(prt_device_query(tree, root, &information), PRT_OK);
    assert_int_equal(information.affinity_domains,
                     PRT_AFFINITY_L3 | PRT_AFFINITY_NEXT_PARTITIONABLE);
    prt_device_tree_destroy(tree);
}

/* Each list stands at the end of a heap block, so that a sanitizer sees a step past it. */
static void lists_are_read_no_further_than_needed(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16_FEW);
    struct prt_device_handle root = prt_device_tree_root(tree);
    const struct {
        size_t length;
        int64_t values[8];
        enum prt_status status;
    } lists[] = {{1, {0}, PRT_E_INVALID_VALUE},
                 {2, {EQ, 0}, PRT_E_INVALID_VALUE},
                 {2, {EQ, -3}, PRT_E_INVALID_VALUE},
                 {3, {EQ, 4, 0}, PRT_OK},
                 {2, {AF, 0}, PRT_E_INVALID_VALUE},
                 {2, {AF, PRT_AFFINITY_NUMA}, PRT_E_INVALID_VALUE},
                 {2, {BC, -1}, PRT_E_INVALID_DEVICE_PARTITION_COUNT},
                 {2, {BC, 0}, PRT_E_INVALID_VALUE},
                 {6, {BC, 1, 1, 1, 1, 1}, PRT_E_INVALID_DEVICE_PARTITION_COUNT},
                 {4, {BC, 2, 0, 0}, PRT_OK},
                 {1, {5}, PRT_E_INVALID_VALUE}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        int64_t *heap = malloc(lists[i].length * sizeof *heap);
        assert_non_null(heap);
        memcpy(heap, lists[i].values, lists[i].length * sizeof *heap);
        assert_int_equal(prt_create_sub_devices(tree, root, heap, 0, NULL, NULL), lists[i].status);
        free(heap);
    }
    prt_device_tree_destroy(tree);
}

/* --- what lang/subdevices.md says, a row for each sentence --- */

/* Devices are numbered as they are made; 0 is the root.  BAD is a handle that names none. */
enum { BAD = -1, DEVICES = 32 };

enum operation {
    STOP,
    MAKE,       /* with `room` for handles; value: sub-devices, by num_devices_ret */
    MAKE_ONLY,  /* the same, num_devices_ret NULL */
    COUNT_ONLY, /* out_devices NULL, num_devices `room` */
    RETAIN,
    RELEASE,
    ATTACH,
    DETACH,
    REFERENCES, /* value: as queries tell */
    PARENT,     /* value: the device that is the parent */
    CUS,        /* value */
    MOST,       /* value: CL_DEVICE_PARTITION_MAX_SUB_DEVICES */
    SCHEMES,    /* value: set of PRT_SCHEME_* */
    DOMAINS,    /* value: set of PRT_AFFINITY_* */
    MADE_WITH,  /* `properties` up to their last value that is not 0, and value: their number */
    ALIVE,      /* value: devices of the tree */
    DISJOINT,   /* from device number value */
};

struct deed {
    enum operation operation;
    int device;
    int64_t properties[20];
    uint32_t room;
    enum prt_status status;
    int64_t value;
};

struct sentence {
    const char *text;
    size_t device;
    struct deed deeds[9];
};

#define BAD_DEVICE PRT_E_INVALID_DEVICE

static const struct sentence sentences[] = {
    {"EQUALLY n makes as many sub-devices of n CUs as fit; the others are unused",
     D16,
     {{MAKE, 0, {EQ, 5}, 3, OK, 3}, {CUS, 1, {0}, 0, OK, 5}, {CUS, 3, {0}, 0, OK, 5}}},
    {"BY_COUNTS makes one sub-device for each count that is not zero, up to LIST_END",
     D16,
     {{MAKE, 0, {BC, 3, 1, 7, END}, 3, OK, 3},
      {CUS, 1, {0}, 0, OK, 3},
      {CUS, 2, {0}, 0, OK, 1},
      {CUS, 3, {0}, 0, OK, 7}}},
    {"BY_AFFINITY_DOMAIN makes one sub-device for each set of CUs that share the level",
     D12,
     {{MAKE, 0, {AF, PRT_AFFINITY_L2}, 4, OK, 4}, {CUS, 4, {0}, 0, OK, 3}}},
    {"NEXT_PARTITIONABLE takes the first level that splits; a query says which",
     D16,
     {{MAKE, 0, {AF, NEXT}, 2, OK, 2},
      {MADE_WITH, 1, {AF, PRT_AFFINITY_L3}, 0, OK, 3},
      {MAKE, 1, {AF, NEXT}, 2, OK, 2},
      {MADE_WITH, 3, {AF, PRT_AFFINITY_L2}, 0, OK, 3}}},
    {"sub-devices of a partition share no CU, and can be partitioned again",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {DISJOINT, 1, {0}, 0, OK, 2},
      {MAKE, 2, {BC, 2, 6, END}, 2, OK, 2},
      {DISJOINT, 3, {0}, 0, OK, 4},
      {DISJOINT, 3, {0}, 0, OK, 1}}},
    {"out_devices NULL only counts, and num_devices is ignored",
     D16,
     {{COUNT_ONLY, 0, {EQ, 4}, 0, OK, 4},
      {COUNT_ONLY, 0, {EQ, 4}, 1, OK, 4},
      {COUNT_ONLY, 0, {EQ, 4}, 77, OK, 4},
      {ALIVE, 0, {0}, 0, OK, 1}}},
    {"num_devices_ret may be NULL",
     D16,
     {{MAKE_ONLY, 0, {EQ, 8}, 2, OK, 2}, {CUS, 2, {0}, 0, OK, 8}}},
    {"retain and release count references of sub-devices",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {REFERENCES, 1, {0}, 0, OK, 1},
      {RETAIN, 1, {0}, 0, OK, 0},
      {REFERENCES, 1, {0}, 0, OK, 2},
      {RELEASE, 1, {0}, 0, OK, 0},
      {REFERENCES, 1, {0}, 0, OK, 1}}},
    {"retain and release leave the root unchanged",
     D16,
     {{RELEASE, 0, {0}, 0, OK, 0},
      {RELEASE, 0, {0}, 0, OK, 0},
      {REFERENCES, 0, {0}, 0, OK, 1},
      {RETAIN, 0, {0}, 0, OK, 0},
      {REFERENCES, 0, {0}, 0, OK, 1}}},
    {"a sub-device goes when its count is zero",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {RELEASE, 1, {0}, 0, OK, 0},
      {ALIVE, 0, {0}, 0, OK, 2},
      {REFERENCES, 1, {0}, 0, BAD_DEVICE, 0}}},
    {"and all sub-devices of it are released",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {MAKE, 1, {EQ, 4}, 2, OK, 2},
      {RELEASE, 1, {0}, 0, OK, 0},
      {RELEASE, 3, {0}, 0, OK, 0},
      {ALIVE, 0, {0}, 0, OK, 4},
      {RELEASE, 4, {0}, 0, OK, 0},
      {ALIVE, 0, {0}, 0, OK, 2}}},
    {"and no queue is on it",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {ATTACH, 1, {0}, 0, OK, 0},
      {RELEASE, 1, {0}, 0, OK, 0},
      {REFERENCES, 1, {0}, 0, OK, 0},
      {DETACH, 1, {0}, 0, OK, 0},
      {REFERENCES, 1, {0}, 0, BAD_DEVICE, 0}}},
    {"queries tell partition type, parent, CUs, most sub-devices, schemes, affinity domains",
     D16_FEW,
     {{MAKE, 0, {BC, 3, 8, END}, 2, OK, 2},
      {MADE_WITH, 2, {BC, 3, 8}, 0, OK, 5},
      {PARENT, 2, {0}, 0, OK, 0},
      {CUS, 2, {0}, 0, OK, 8},
      {MOST, 1, {0}, 0, OK, 3},
      {MOST, 2, {0}, 0, OK, 4},
      {SCHEMES, 1, {0}, 0, OK, ALL_SCHEMES},
      {DOMAINS, 1, {0}, 0, OK, PRT_AFFINITY_L2 | PRT_AFFINITY_L1 | NEXT}}},
    {"the root has no partition type", D16, {{MADE_WITH, 0, {0}, 0, OK, 0}}},
    {"INVALID_DEVICE: no such device",
     D16,
     {{MAKE, BAD, {EQ, 4}, 4, BAD_DEVICE, 0},
      {COUNT_ONLY, BAD, {0}, 4, BAD_DEVICE, 0},
      {RETAIN, BAD, {0}, 0, BAD_DEVICE, 0},
      {RELEASE, BAD, {0}, 0, BAD_DEVICE, 0},
      {CUS, BAD, {0}, 0, BAD_DEVICE, 0}}},
    {"INVALID_VALUE: an unknown scheme",
     D16,
     {{MAKE, 0, {0x1085, 4}, 16, BAD_VALUE, 0}, {MAKE, 0, {-1, 4}, 16, BAD_VALUE, 0}}},
    {"INVALID_VALUE: more than one scheme",
     D16,
     {{MAKE, 0, {EQ, 4, BC, 4, END}, 16, BAD_VALUE, 0},
      {MAKE, 0, {BC, 4, END, EQ, 4}, 16, BAD_VALUE, 0},
      {MAKE, 0, {AF, NEXT, EQ, 4}, 16, BAD_VALUE, 0}}},
    {"INVALID_VALUE: an unsupported scheme",
     D16_EQ,
     {{MAKE, 0, {BC, 4, END}, 16, BAD_VALUE, 0}, {MAKE, 0, {AF, NEXT}, 16, BAD_VALUE, 0}}},
    {"INVALID_VALUE: num_devices too small for out_devices",
     D16,
     {{MAKE, 0, {EQ, 4}, 3, BAD_VALUE, 0},
      {MAKE, 0, {EQ, 4}, 0, BAD_VALUE, 0},
      {MAKE, 0, {EQ, 4}, 4, OK, 4}}},
    {"DEVICE_PARTITION_FAILED: the scheme is supported, the device cannot be split further",
     D1,
     {{MAKE, 0, {EQ, 1}, 16, FAILED, 0},
      {MAKE, 0, {BC, 1, END}, 16, FAILED, 0},
      {MAKE, 0, {AF, NEXT}, 16, FAILED, 0}}},
    {"INVALID_DEVICE_PARTITION_COUNT: more counts than sub-devices at most",
     D16_FEW,
     {{MAKE, 0, {BC, 1, 1, 1, 1, 1, END}, 16, BAD_COUNT, 0},
      {MAKE, 0, {BC, 1, 1, 1, 1, 1, END}, 0, BAD_COUNT, 0},
      {MAKE, 0, {BC, 1, 1, 1, 1, END}, 4, OK, 4}}},
    {"INVALID_DEVICE_PARTITION_COUNT: more counts than CUs",
     D16,
     {{MAKE, 0, {BC, 2, 3, END}, 2, OK, 2},
      {MAKE, 1, {BC, 1, 1, 1, END}, 16, BAD_COUNT, 0},
      {MAKE, 1, {BC, 1, 1, END}, 2, OK, 2}}},
    {"INVALID_DEVICE_PARTITION_COUNT: a sum above the CUs",
     D16,
     {{MAKE, 0, {BC, 9, 8, END}, 16, BAD_COUNT, 0},
      {MAKE, 0, {BC, 17, END}, 17, BAD_COUNT, 0},
      {MAKE, 0, {BC, INT64_MAX, INT64_MAX, END}, 16, BAD_COUNT, 0},
      {MAKE, 0, {BC, 9, 7, END}, 2, OK, 2}}},
    {"INVALID_DEVICE_PARTITION_COUNT: a count below zero",
     D16,
     {{MAKE, 0, {BC, -1, END}, UINT32_MAX, BAD_COUNT, 0},
      {MAKE, 0, {BC, 4, -4, END}, 16, BAD_COUNT, 0}}},
    {"EQUALLY 0 is INVALID_VALUE", D16, {{MAKE, 0, {EQ, 0}, 16, BAD_VALUE, 0}}},
    {"empty properties are INVALID_VALUE", D16, {{MAKE, 0, {0}, 16, BAD_VALUE, 0}}},
    {"an empty count list is INVALID_VALUE", D16, {{MAKE, 0, {BC, END}, 16, BAD_VALUE, 0}}},
    {"EQUALLY n that makes fewer than two sub-devices: DEVICE_PARTITION_FAILED for the CUs",
     D16,
     {{MAKE, 0, {EQ, 16}, 16, FAILED, 0},
      {COUNT_ONLY, 0, {EQ, 16}, 0, FAILED, 0},
      {MAKE, 0, {EQ, 9}, 16, FAILED, 0},
      {MAKE, 0, {EQ, 8}, 16, OK, 2},
      {MAKE, 1, {EQ, 8}, 16, FAILED, 0}}},
    {"and INVALID_DEVICE_PARTITION_COUNT above them",
     D16,
     {{MAKE, 0, {EQ, 17}, 17, BAD_COUNT, 0},
      {COUNT_ONLY, 0, {EQ, INT64_MAX}, 0, BAD_COUNT, 0},
      {MAKE, 0, {EQ, 8}, 2, OK, 2},
      {MAKE, 1, {EQ, 9}, 16, BAD_COUNT, 0}}},
    {"fewer sub-devices than CUs: EQUALLY 1 is INVALID_VALUE where num_devices is too small",
     D16_FEW,
     {{MAKE, 0, {EQ, 1}, 0, BAD_VALUE, 0},
      {MAKE, 0, {EQ, 1}, 15, BAD_VALUE, 0},
      {MAKE, 0, {EQ, 1}, 16, FAILED, 0},
      {COUNT_ONLY, 0, {EQ, 1}, 0, FAILED, 0}}},
    {"a released parent stays queryable, with reference count 0, while children live",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {MAKE, 1, {EQ, 4}, 2, OK, 2},
      {RELEASE, 1, {0}, 0, OK, 0},
      {REFERENCES, 1, {0}, 0, OK, 0},
      {PARENT, 3, {0}, 0, OK, 1},
      {PARENT, 1, {0}, 0, OK, 0},
      {CUS, 1, {0}, 0, OK, 8},
      {MADE_WITH, 1, {EQ, 8}, 0, OK, 3}}},
    {"and is refused otherwise",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {MAKE, 1, {EQ, 4}, 2, OK, 2},
      {RELEASE, 1, {0}, 0, OK, 0},
      {RETAIN, 1, {0}, 0, BAD_DEVICE, 0},
      {ATTACH, 1, {0}, 0, BAD_DEVICE, 0},
      {MAKE, 1, {EQ, 4}, 2, BAD_DEVICE, 0}}},
    {"releasing more than was retained is INVALID_DEVICE",
     D16,
     {{MAKE, 0, {EQ, 8}, 2, OK, 2},
      {MAKE, 1, {EQ, 4}, 2, OK, 2},
      {RELEASE, 1, {0}, 0, OK, 0},
      {RELEASE, 1, {0}, 0, BAD_DEVICE, 0},
      {REFERENCES, 1, {0}, 0, OK, 0},
      {RELEASE, 2, {0}, 0, OK, 0},
      {RELEASE, 2, {0}, 0, BAD_DEVICE, 0}}},
};

struct scene {
    struct prt_device_tree *tree;
    struct prt_device_handle devices[DEVICES];
    uint32_t count;
};

static bool device_is(const struct scene *s, const struct deed *d, enum prt_status *status)
{
    struct prt_device_handle device = d->device == BAD ? none : s->devices[d->device];
    struct prt_device_information i;
    *status = prt_device_query(s->tree, device, &i);
    if (*status != PRT_OK) return true;
    switch (d->operation) {
    case REFERENCES: return i.reference_count == d->value;
    case PARENT: return prt_device_equal(i.parent, s->devices[d->value]);
    case CUS:
        return i.cu_count == d->value &&
               i.cu_count == (uint32_t)__builtin_popcountll(cu_set(s->tree, device));
    case MOST: return i.subdevices_max == d->value;
    case SCHEMES: return i.schemes == d->value;
    default: return i.affinity_domains == d->value;
    }
}

static bool was_made_with(const struct scene *s, const struct deed *d, enum prt_status *status)
{
    int64_t values[8] = {0};
    size_t length;
    *status = prt_device_partition_type(s->tree, s->devices[d->device], values, 8, &length);
    return (int64_t)length == d->value && memcmp(values, d->properties, sizeof values) == 0;
}

/* Nothing is written where it fails. */
static bool makes(struct scene *s, const struct deed *d, enum prt_status *status)
{
    struct prt_device_handle device = d->device == BAD ? none : s->devices[d->device];
    struct prt_device_handle made[SUBDEVICES_MAX] = {{0, 0}};
    uint32_t count = 777, *ret = d->operation == MAKE_ONLY ? NULL : &count;
    bool only_counts = d->operation == COUNT_ONLY;
    *status = prt_create_sub_devices(s->tree, device, d->properties, d->room,
                                     only_counts ? NULL : made, ret);
    if (*status != PRT_OK) return count == 777 && prt_device_equal(made[0], none);
    if (ret != NULL && count != d->value) return false;
    for (uint32_t i = 0; !only_counts && i < d->value; i++)
        s->devices[s->count++] = made[i];
    return true;
}

static bool does(struct scene *s, const struct deed *d, enum prt_status *status)
{
    struct prt_device_handle device = d->device == BAD ? none : s->devices[d->device];
    *status = PRT_OK;
    switch (d->operation) {
    case MAKE:
    case MAKE_ONLY:
    case COUNT_ONLY: return makes(s, d, status);
    case RETAIN: *status = prt_device_retain(s->tree, device); return true;
    case RELEASE: *status = prt_device_release(s->tree, device); return true;
    case ATTACH: *status = prt_device_attach(s->tree, device); return true;
    case DETACH: *status = prt_device_detach(s->tree, device); return true;
    case MADE_WITH: return was_made_with(s, d, status);
    case ALIVE: return prt_device_tree_live(s->tree) == (size_t)d->value;
    case DISJOINT: return !prt_device_overlap(s->tree, device, s->devices[d->value]);
    default: return device_is(s, d, status);
    }
}

static void sub_devices_do_what_each_sentence_says(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        struct scene s = {.tree = make_tree(sentences[i].device), .count = 1};
        s.devices[0] = prt_device_tree_root(s.tree);
        for (const struct deed *d = sentences[i].deeds; d->operation != STOP; d++) {
            enum prt_status status;
            if (does(&s, d, &status) && status == d->status) continue;
            print_message("'%s': step %d: status %d, expected %d\n", sentences[i].text,
                          (int)(d - sentences[i].deeds) + 1, (int)status, (int)d->status);
            failed++;
            break;
        }
        prt_device_tree_destroy(s.tree);
    }
    assert_int_equal(failed, 0);
}

/* --- queries --- */

static void partition_type_is_what_was_asked(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), made[16];
    const int64_t counts[] = {BC, 3, 1, END, 0};
    int64_t read[8];
    size_t length = 9;
    assert_int_equal(prt_device_partition_type(tree, root, read, 8, &length), PRT_OK);
    assert_int_equal(length, 0);
    assert_int_equal(prt_create_sub_devices(tree, root, counts, 2, made, NULL), PRT_OK);
    assert_int_equal(prt_device_partition_type(tree, made[1], NULL, 0, &length), PRT_OK);
    assert_int_equal(length, 5);
    assert_int_equal(prt_device_partition_type(tree, made[1], read, 4, &length),
                     PRT_E_INVALID_VALUE);
    assert_int_equal(prt_device_partition_type(tree, made[1], read, 5, &length), PRT_OK);
    assert_memory_equal(read, counts, sizeof counts);
    assert_int_equal(prt_device_partition_type(tree, none, read, 8, &length), PRT_E_INVALID_DEVICE);
    prt_device_tree_destroy(tree);
}

static void next_partitionable_is_reported_as_the_level_taken(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle device = prt_device_tree_root(tree), made[16];
    const int64_t next[] = {AF, NEXT, 0};
    const int64_t taken[] = {PRT_AFFINITY_L3, PRT_AFFINITY_L2, PRT_AFFINITY_L1};
    for (int depth = 0; depth < 3; depth++) {
        int64_t read[3];
        size_t length;
        assert_int_equal(prt_create_sub_devices(tree, device, next, 16, made, NULL), PRT_OK);
        device = made[0];
        assert_int_equal(prt_device_partition_type(tree, device, read, 3, &length), PRT_OK);
        assert_int_equal(length, 3);
        assert_int_equal(read[0], AF);
        assert_int_equal(read[1], taken[depth]);
        assert_int_equal(read[2], 0);
    }
    assert_int_equal(prt_create_sub_devices(tree, device, next, 16, made, NULL),
                     PRT_E_DEVICE_PARTITION_FAILED);
    prt_device_tree_destroy(tree);
}

static void information_of_root_and_sub_devices(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), halves[2], single[8];
    struct prt_device_information information;
    assert_int_equal(prt_device_query(tree, root, &information), PRT_OK);
    assert_int_equal(information.cu_count, 16);
    assert_int_equal(information.subdevices_max, 16);
    assert_int_equal(information.schemes, ALL_SCHEMES);
    assert_int_equal(information.affinity_domains,
                     PRT_AFFINITY_L3 | PRT_AFFINITY_L2 | PRT_AFFINITY_L1 | NEXT);
    assert_int_equal(information.reference_count, 1);
    assert_int_equal(information.depth, 0);
    assert_int_equal(information.index, 0);
    assert_true(prt_device_equal(information.parent, none));

    const int64_t by_l3[] = {AF, PRT_AFFINITY_L3, 0}, ones[] = {EQ, 1, 0};
    assert_int_equal(prt_create_sub_devices(tree, root, by_l3, 2, halves, NULL), PRT_OK);
    assert_int_equal(prt_device_query(tree, halves[1], &information), PRT_OK);
    assert_int_equal(information.cu_count, 8);
    assert_int_equal(information.subdevices_max, 8);
    assert_int_equal(information.schemes, ALL_SCHEMES);
    assert_int_equal(information.affinity_domains, PRT_AFFINITY_L2 | PRT_AFFINITY_L1 | NEXT);
    assert_int_equal(information.depth, 1);
    assert_int_equal(information.index, 1);

    assert_int_equal(prt_create_sub_devices(tree, halves[1], ones, 8, single, NULL), PRT_OK);
    assert_int_equal(prt_device_query(tree, single[7], &information), PRT_OK);
    assert_int_equal(information.cu_count, 1);
    assert_int_equal(information.subdevices_max, 1);
    assert_int_equal(information.schemes, 0);
    assert_int_equal(information.affinity_domains, 0);
    assert_int_equal(information.index, 7);
    assert_true(prt_device_equal(information.parent, halves[1]));
    assert_int_equal(cu_set(tree, single[7]), 0x8000);
    prt_device_tree_destroy(tree);
}

static void wide_cu_sets_cross_words(void **state)
{
    (void)state;
    const struct prt_device_description wide = {
        .cu_count = 200, .schemes = PRT_SCHEME_BY_COUNTS, .subdevices_max = 200};
    struct prt_device_tree *tree;
    assert_int_equal(prt_device_tree_create(&wide, &tree), PRT_OK);
    const int64_t counts[] = {BC, 60, 10, 130, END, 0};
    struct prt_device_handle made[3];
    uint64_t words[5];
    assert_int_equal(
        prt_create_sub_devices(tree, prt_device_tree_root(tree), counts, 3, made, NULL), PRT_OK);
    assert_int_equal(prt_cu_set_words(200), 4);
    assert_int_equal(prt_device_cu_set(tree, made[1], words, 3), PRT_E_INVALID_VALUE);
    memset(words, 0xff, sizeof words);
    assert_int_equal(prt_device_cu_set(tree, made[1], words, 5), PRT_OK);
    for (uint32_t cu = 0; cu < 320; cu++)
        assert_int_equal(prt_cu_set_has(words, cu), cu >= 60 && cu < 70);
    prt_device_tree_destroy(tree);
}

static void overlap_is_sharing_a_cu(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), four[4], two[2];
    const int64_t fours[] = {EQ, 4, 0}, uneven[] = {BC, 6, 10, END, 0};
    assert_int_equal(prt_create_sub_devices(tree, root, fours, 4, four, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, root, uneven, 2, two, NULL), PRT_OK);
    assert_true(prt_device_overlap(tree, root, four[3]));
    assert_false(prt_device_overlap(tree, four[0], four[1]));
    assert_true(prt_device_overlap(tree, four[1], two[0]));
    assert_true(prt_device_overlap(tree, four[1], two[1]));
    assert_false(prt_device_overlap(tree, two[0], four[2]));
    assert_int_equal(prt_device_release(tree, two[0]), PRT_OK);
    assert_false(prt_device_overlap(tree, two[0], four[0]));
    assert_false(prt_device_overlap(tree, four[0], two[0]));
    uint64_t words[1];
    assert_int_equal(prt_device_cu_set(tree, root, NULL, 1), PRT_E_INVALID_VALUE);
    assert_int_equal(prt_device_cu_set(tree, root, words, 0), PRT_E_INVALID_VALUE);
    prt_device_tree_destroy(tree);
}

/* --- life --- */

static void root_is_never_counted(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree);
    struct prt_device_information information;
    for (int i = 0; i < 3; i++)
        assert_int_equal(prt_device_release(tree, root), PRT_OK);
    assert_int_equal(prt_device_retain(tree, root), PRT_OK);
    assert_int_equal(prt_device_query(tree, root, &information), PRT_OK);
    assert_int_equal(information.reference_count, 1);
    prt_device_tree_destroy(tree);
}

static void release_after_the_last_is_refused(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), made[2];
    const int64_t halves[] = {EQ, 8, 0};
    struct prt_device_information information;
    assert_int_equal(prt_create_sub_devices(tree, root, halves, 2, made, NULL), PRT_OK);
    assert_int_equal(prt_device_retain(tree, made[0]), PRT_OK);
    assert_int_equal(prt_device_query(tree, made[0], &information), PRT_OK);
    assert_int_equal(information.reference_count, 2);
    assert_int_equal(prt_device_release(tree, made[0]), PRT_OK);
    assert_int_equal(prt_device_release(tree, made[0]), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 2);
    assert_int_equal(prt_device_release(tree, made[0]), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_retain(tree, made[0]), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_query(tree, made[0], &information), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_attach(tree, made[0]), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_create_sub_devices(tree, made[0], halves, 0, NULL, NULL),
                     PRT_E_INVALID_DEVICE);
    assert_int_equal(cu_set(tree, made[1]), 0xff00);
    prt_device_tree_destroy(tree);
}

static void a_reused_slot_refuses_the_old_handle(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), old, made;
    const int64_t all[] = {BC, 16, END, 0};
    assert_int_equal(prt_create_sub_devices(tree, root, all, 1, &old, NULL), PRT_OK);
    assert_int_equal(prt_device_release(tree, old), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, root, all, 1, &made, NULL), PRT_OK);
    assert_int_equal(made.slot, old.slot);
    assert_int_not_equal(made.generation, old.generation);
    assert_int_equal(prt_device_release(tree, old), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_release(tree, made), PRT_OK);
    prt_device_tree_destroy(tree);
}

static void invented_handles_are_refused(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16), *other = make_tree(D16);
    const struct prt_device_handle handles[] = {{0, 0},          {1, 1},
                                                {UINT32_MAX, 1}, {UINT32_MAX, UINT32_MAX},
                                                {0, 5000000},    prt_device_tree_root(other)};
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        if (prt_device_equal(handles[i], prt_device_tree_root(tree)))
            continue; /* two trees with one start: 1 in 2^30 */
        assert_int_equal(prt_device_retain(tree, handles[i]), PRT_E_INVALID_DEVICE);
        assert_int_equal(prt_device_release(tree, handles[i]), PRT_E_INVALID_DEVICE);
        assert_int_equal(prt_device_detach(tree, handles[i]), PRT_E_INVALID_DEVICE);
    }
    prt_device_tree_destroy(other);
    prt_device_tree_destroy(tree);
}

static void a_child_keeps_its_parents(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), half[2], quarter[2], eighth[2];
    const int64_t by8[] = {EQ, 8, 0}, by4[] = {EQ, 4, 0}, by2[] = {EQ, 2, 0};
    struct prt_device_information information;
    assert_int_equal(prt_create_sub_devices(tree, root, by8, 2, half, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, half[1], by4, 2, quarter, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, quarter[1], by2, 2, eighth, NULL), PRT_OK);
    assert_int_equal(prt_device_release(tree, half[1]), PRT_OK);
    assert_int_equal(prt_device_release(tree, quarter[1]), PRT_OK);
    assert_int_equal(prt_device_release(tree, quarter[0]), PRT_OK);
    assert_int_equal(prt_device_release(tree, eighth[0]), PRT_OK);
    /* root, half 0, half 1 and quarter 1 (kept), eighth 1 */
    assert_int_equal(prt_device_tree_live(tree), 5);
    assert_int_equal(prt_device_query(tree, eighth[1], &information), PRT_OK);
    assert_true(prt_device_equal(information.parent, quarter[1]));
    assert_int_equal(prt_device_query(tree, quarter[1], &information), PRT_OK);
    assert_int_equal(information.reference_count, 0);
    assert_true(prt_device_equal(information.parent, half[1]));
    assert_int_equal(cu_set(tree, half[1]), 0xff00);
    assert_int_equal(prt_device_query(tree, quarter[0], &information), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_release(tree, quarter[1]), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_retain(tree, quarter[1]), PRT_E_INVALID_DEVICE);
    assert_int_equal(cu_set(tree, eighth[1]), 0xc000);
    assert_int_equal(prt_device_release(tree, eighth[1]), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 2); /* all the chain has gone */
    prt_device_tree_destroy(tree);
}

static void an_attached_queue_keeps_its_device(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle root = prt_device_tree_root(tree), half[2];
    const int64_t by8[] = {EQ, 8, 0};
    assert_int_equal(prt_create_sub_devices(tree, root, by8, 2, half, NULL), PRT_OK);
    assert_int_equal(prt_device_attach(tree, half[0]), PRT_OK);
    assert_int_equal(prt_device_attach(tree, half[0]), PRT_OK);
    assert_int_equal(prt_device_release(tree, half[0]), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 3);
    assert_int_equal(prt_device_attach(tree, half[0]), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_detach(tree, half[0]), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 3);
    assert_int_equal(prt_device_detach(tree, half[0]), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 2);
    assert_int_equal(prt_device_detach(tree, half[0]), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_detach(tree, half[1]), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_attach(tree, root), PRT_OK);
    assert_int_equal(prt_device_detach(tree, root), PRT_OK);
    prt_device_tree_destroy(tree);
}

static void live_devices_are_limited(void **state)
{
    (void)state;
    struct prt_device_description description = devices[D16];
    description.live_devices_max = 10;
    struct prt_device_tree *tree;
    assert_int_equal(prt_device_tree_create(&description, &tree), PRT_OK);
    struct prt_device_handle root = prt_device_tree_root(tree), made[16], more[16] = {{0, 0}};
    const int64_t by2[] = {EQ, 2, 0}, by8[] = {EQ, 8, 0};
    assert_int_equal(prt_create_sub_devices(tree, root, by2, 16, made, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, root, by8, 16, more, NULL),
                     PRT_E_OUT_OF_RESOURCES);
    assert_true(prt_device_equal(more[0], none));
    assert_int_equal(prt_create_sub_devices(tree, root, by8, 0, NULL, NULL), PRT_OK);
    assert_int_equal(prt_device_release(tree, made[0]), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, root, by8, 16, more, NULL), PRT_OK);
    prt_device_tree_destroy(tree);
    /* exactly as many as there may be, and fewer than one partition makes */
    for (uint32_t most = 7; most <= 9; most++) {
        description.live_devices_max = most;
        assert_int_equal(prt_device_tree_create(&description, &tree), PRT_OK);
        root = prt_device_tree_root(tree);
        assert_int_equal(prt_create_sub_devices(tree, root, by2, 16, made, NULL),
                         most >= 9 ? PRT_OK : PRT_E_OUT_OF_RESOURCES);
        prt_device_tree_destroy(tree);
    }
}

static void bad_descriptions_are_refused(void **state)
{
    (void)state;
    struct prt_device_tree *tree = NULL;
    struct prt_device_description description = devices[D16];
    assert_int_equal(prt_device_tree_create(NULL, &tree), PRT_E_INVALID_VALUE);
    description.cu_count = 0;
    assert_int_equal(prt_device_tree_create(&description, &tree), PRT_E_INVALID_VALUE);
    description.cu_count = PRT_DEVICE_CUS_MAX + 1;
    assert_int_equal(prt_device_tree_create(&description, &tree), PRT_E_INVALID_VALUE);
    description.cu_count = 4;
    const uint32_t from_1[4] = {1, 1, 2, 2}, beyond[4] = {0, 0, 2, 2}, back[4] = {0, 1, 0, 1};
    const uint32_t *const domains[] = {from_1, beyond, back};
    for (int i = 0; i < 3; i++) {
        description.domain_of_cu[1] = domains[i];
        assert_int_equal(prt_device_tree_create(&description, &tree), PRT_E_INVALID_VALUE);
    }
    description.domain_of_cu[1] = NULL;
    assert_int_equal(prt_device_tree_create(&description, NULL), PRT_E_INVALID_VALUE);
    description.schemes = 8;
    assert_int_equal(prt_device_tree_create(&description, &tree), PRT_E_INVALID_VALUE);
    assert_null(tree);
    prt_device_tree_destroy(NULL);
}

/* --- random properties --- */

static uint64_t random_next(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void random_properties(uint64_t *seed, int64_t properties[24], uint32_t cus)
{
    int length = 0;
    memset(properties, 0, 24 * sizeof *properties);
    switch (random_next(seed) % 3) {
    case 0:
        properties[length++] = EQ;
        properties[length++] = (int64_t)(1 + random_next(seed) % cus);
        break;
    case 1:
        properties[length++] = BC;
        for (uint64_t i = 1 + random_next(seed) % 8; i > 0; i--)
            properties[length++] = (int64_t)(1 + random_next(seed) % (cus / 3 + 1));
        break;
    default:
        properties[length++] = AF;
        properties[length++] = INT64_C(1) << (random_next(seed) % 6);
        break;
    }
}

/* Partitions make disjoint, non-empty subsets of the parent, of the size they say. */
static void check_partition(struct prt_device_tree *tree, struct prt_device_handle parent,
                            const int64_t *properties, const struct prt_device_handle *made,
                            uint32_t count)
{
    uint64_t parent_set = cu_set(tree, parent), all = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t set = cu_set(tree, made[i]);
        assert_int_not_equal(set, 0);
        assert_int_equal(set & ~parent_set, 0);
        assert_int_equal(set & all, 0);
        all |= set;
        if (properties[0] == EQ) assert_int_equal(__builtin_popcountll(set), properties[1]);
        if (properties[0] == BC) assert_int_equal(__builtin_popcountll(set), properties[1 + i]);
        for (uint32_t j = 0; j < i; j++)
            assert_false(prt_device_overlap(tree, made[i], made[j]));
    }
    if (properties[0] == EQ) assert_true(__builtin_popcountll(parent_set & ~all) < properties[1]);
    if (properties[0] == AF) assert_int_equal(all, parent_set);
}

static void random_trees_keep_their_properties(void **state)
{
    (void)state;
    uint64_t seed = UINT64_C(20240611);
    print_message("seed %llu\n", (unsigned long long)seed);
    unsigned partitions = 0, refusals = 0;
    for (int round = 0; round < 400; round++) {
        struct prt_device_description description = {.cu_count =
                                                         (uint32_t)(1 + random_next(&seed) % 64),
                                                     .schemes = ALL_SCHEMES,
                                                     .subdevices_max = 64};
        for (int level = 0; level < PRT_LEVEL_COUNT; level++)
            description.cus_per_domain[level] = (uint32_t)(random_next(&seed) % 20);
        struct prt_device_tree *tree;
        assert_int_equal(prt_device_tree_create(&description, &tree), PRT_OK);
        struct prt_device_handle known[512] = {prt_device_tree_root(tree)};
        size_t known_count = 1;
        for (int step = 0; step < 12; step++) {
            struct prt_device_handle parent = known[random_next(&seed) % known_count];
            int64_t properties[24];
            uint32_t counted = 0, count = 0;
            struct prt_device_information information;
            assert_int_equal(prt_device_query(tree, parent, &information), PRT_OK);
            random_properties(&seed, properties, information.cu_count);
            enum prt_status status =
                prt_create_sub_devices(tree, parent, properties, 0, NULL, &counted);
            if (status != PRT_OK || known_count + counted > 512) {
                refusals++;
                continue;
            }
            assert_int_equal(
                prt_create_sub_devices(tree, parent, properties, 512, known + known_count, &count),
                PRT_OK);
            assert_int_equal(count, counted);
            assert_true(count <= information.subdevices_max);
            check_partition(tree, parent, properties, known + known_count, count);
            known_count += count;
            partitions++;
        }
        /* released in random order: all goes, the root stays */
        for (size_t left = known_count; left > 1; left--) {
            size_t i = 1 + random_next(&seed) % (left - 1);
            assert_int_equal(prt_device_release(tree, known[i]), PRT_OK);
            assert_int_equal(prt_device_release(tree, known[i]), PRT_E_INVALID_DEVICE);
            known[i] = known[left - 1];
        }
        assert_int_equal(prt_device_tree_live(tree), 1);
        prt_device_tree_destroy(tree);
    }
    print_message("%u partitions, %u refusals\n", partitions, refusals);
    assert_true(partitions > 1000 && refusals > 100);
}

/* --- threads --- */

#define THREADS 8
#define ROUNDS 2000

struct worker {
    struct prt_device_tree *tree;
    struct prt_device_handle shared;
    uint64_t seed;
    unsigned failures;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    const int64_t by2[] = {EQ, 2, 0}, ones[] = {EQ, 1, 0};
    for (int i = 0; i < ROUNDS; i++) {
        struct prt_device_handle made[8], inner[2];
        struct prt_device_information information;
        unsigned bad = 0;
        bad += prt_device_retain(worker->tree, worker->shared) != PRT_OK;
        bad += prt_create_sub_devices(worker->tree, worker->shared, by2, 8, made, NULL) != PRT_OK;
        if (bad != 0) {
            worker->failures++;
            return NULL;
        }
        size_t pick = random_next(&worker->seed) % 4;
        bad += prt_create_sub_devices(worker->tree, made[pick], ones, 2, inner, NULL) != PRT_OK;
        bad += prt_device_attach(worker->tree, inner[1]) != PRT_OK;
        for (int k = 0; k < 4; k++)
            bad += prt_device_release(worker->tree, made[k]) != PRT_OK;
        bad += prt_device_retain(worker->tree, made[pick]) != PRT_E_INVALID_DEVICE;
        bad += prt_device_query(worker->tree, made[pick], &information) != PRT_OK ||
               information.reference_count != 0;
        bad += prt_device_query(worker->tree, inner[0], &information) != PRT_OK;
        bad += prt_device_release(worker->tree, inner[0]) != PRT_OK;
        bad += prt_device_release(worker->tree, inner[1]) != PRT_OK;
        bad += prt_device_detach(worker->tree, inner[1]) != PRT_OK;
        bad += prt_device_detach(worker->tree, inner[1]) != PRT_E_INVALID_DEVICE;
        bad += prt_device_release(worker->tree, worker->shared) != PRT_OK;
        worker->failures += bad;
    }
    return NULL;
}

static void threads_share_a_tree(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle half[2];
    const int64_t by8[] = {EQ, 8, 0};
    assert_int_equal(prt_create_sub_devices(tree, prt_device_tree_root(tree), by8, 2, half, NULL),
                     PRT_OK);
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){tree, half[1], i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
    struct prt_device_information information;
    assert_int_equal(prt_device_query(tree, half[1], &information), PRT_OK);
    assert_int_equal(information.reference_count, 1);
    assert_int_equal(prt_device_tree_live(tree), 3);
    prt_device_tree_destroy(tree);
}

static void a_path_leaves_nothing_beside_its_end(void **state)
{
    (void)state;
    struct prt_device_tree *tree = make_tree(D16);
    struct prt_device_handle found;
    struct prt_device_information information;
    uint32_t failed = 7;
    const int64_t by8[] = {EQ, 8, 0}, by_counts[] = {BC, 1, 5, 2, END, 0}, by9[] = {EQ, 9, 0};
    struct prt_sub_device_step steps[] = {{by8, 1}, {by_counts, 1}};
    assert_int_equal(prt_sub_device_find(tree, NULL, 0, &found, &failed), PRT_OK);
    assert_true(prt_device_equal(found, prt_device_tree_root(tree)));
    assert_int_equal(prt_sub_device_find(tree, steps, 2, &found, &failed), PRT_OK);
    assert_int_equal(prt_device_query(tree, found, &information), PRT_OK);
    assert_int_equal(information.first_cu, 9);
    assert_int_equal(information.cu_count, 5);
    assert_int_equal(information.reference_count, 1);
    assert_int_equal(prt_device_tree_live(tree), 3); /* its parent lives on for its sake */
    assert_int_equal(prt_device_release(tree, found), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 1);
    steps[1].index = 3;
    assert_int_equal(prt_sub_device_find(tree, steps, 2, &found, &failed), PRT_E_INVALID_VALUE);
    assert_int_equal(failed, 1);
    steps[1].properties = by9;
    assert_int_equal(prt_sub_device_find(tree, steps, 2, &found, &failed),
                     PRT_E_INVALID_DEVICE_PARTITION_COUNT);
    steps[0].index = 2;
    assert_int_equal(prt_sub_device_find(tree, steps, 2, &found, &failed), PRT_E_INVALID_VALUE);
    assert_int_equal(failed, 0);
    assert_int_equal(prt_device_tree_live(tree), 1);
    prt_device_tree_destroy(tree);
}

TEST_MAIN(
    "subdevice", cmocka_unit_test(partitions_follow_the_table),
    cmocka_unit_test(sub_devices_do_what_each_sentence_says),
    cmocka_unit_test(null_properties_are_invalid_value),
    cmocka_unit_test(domains_may_be_of_several_sizes),
    cmocka_unit_test(num_devices_zero_with_room_is_invalid_value),
    cmocka_unit_test(lists_are_read_no_further_than_needed),
    cmocka_unit_test(partition_type_is_what_was_asked),
    cmocka_unit_test(next_partitionable_is_reported_as_the_level_taken),
    cmocka_unit_test(information_of_root_and_sub_devices),
    cmocka_unit_test(wide_cu_sets_cross_words), cmocka_unit_test(overlap_is_sharing_a_cu),
    cmocka_unit_test(root_is_never_counted), cmocka_unit_test(release_after_the_last_is_refused),
    cmocka_unit_test(a_reused_slot_refuses_the_old_handle),
    cmocka_unit_test(invented_handles_are_refused), cmocka_unit_test(a_child_keeps_its_parents),
    cmocka_unit_test(an_attached_queue_keeps_its_device),
    cmocka_unit_test(live_devices_are_limited), cmocka_unit_test(bad_descriptions_are_refused),
    cmocka_unit_test(a_path_leaves_nothing_beside_its_end),
    cmocka_unit_test(random_trees_keep_their_properties), cmocka_unit_test(threads_share_a_tree))
