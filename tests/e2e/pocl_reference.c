/* SPDX-License-Identifier: MIT */
/* Sub-devices of PoCL's CPU device beside ours: one property list after the other is given to
 * clCreateSubDevices and to prt_create_sub_devices, for a device with the same number of CUs;
 * error, number of sub-devices and their CUs are compared, of the device and of a sub-device of it.
 *
 *     pocl_reference CUS
 *
 * A difference that a sentence of the specification decides is printed with it; any other is a
 * failure (exit status 1).  Exit status 77: there is no OpenCL with PoCL's CPU device here.
 * The types and values are those of the OpenCL 1.2 specification, so no header is needed. */
#include "model/subdevice.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cl_platform *cl_platform;
typedef struct cl_device *cl_device;

enum {
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_REFERENCE_COUNT = 0x1047,
    CL_DEVICE_PARENT_DEVICE = 0x1042,
    CL_DEVICE_PARTITION_MAX_SUB_DEVICES = 0x1043,
    CL_DEVICE_PARTITION_PROPERTIES = 0x1044,
    CL_DEVICE_PARTITION_TYPE = 0x1046,
    MOST = 64, /* sub-devices, and values of a list */
};
static const uint64_t cpu_devices = 1u << 1;

static struct {
    int (*platforms)(uint32_t, cl_platform *, uint32_t *);
    int (*platform_info)(cl_platform, uint32_t, size_t, void *, size_t *);
    int (*devices)(cl_platform, uint64_t, uint32_t, cl_device *, uint32_t *);
    int (*device_info)(cl_device, uint32_t, size_t, void *, size_t *);
    int (*partition)(cl_device, const intptr_t *, uint32_t, cl_device *, uint32_t *);
    int (*retain)(cl_device);
    int (*release)(cl_device);
} cl;

static bool load(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library == NULL) return false;
    *(void **)&cl.platforms = dlsym(library, "clGetPlatformIDs");
    *(void **)&cl.platform_info = dlsym(library, "clGetPlatformInfo");
    *(void **)&cl.devices = dlsym(library, "clGetDeviceIDs");
    *(void **)&cl.device_info = dlsym(library, "clGetDeviceInfo");
    *(void **)&cl.partition = dlsym(library, "clCreateSubDevices");
    *(void **)&cl.retain = dlsym(library, "clRetainDevice");
    *(void **)&cl.release = dlsym(library, "clReleaseDevice");
    return cl.platforms && cl.platform_info && cl.devices && cl.device_info && cl.partition &&
           cl.retain && cl.release;
}

static cl_device find_device(void)
{
    cl_platform platforms[8];
    uint32_t count = 0;
    if (cl.platforms(8, platforms, &count) != 0) return NULL;
    for (uint32_t i = 0; i < count && i < 8; i++) {
        char name[100] = "";
        cl_device device = NULL;
        cl.platform_info(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, "Portable Computing Language") != NULL &&
            cl.devices(platforms[i], cpu_devices, 1, &device, NULL) == 0)
            return device;
    }
    return NULL;
}

/* ---- the two sides of a comparison ---- */

struct outcome {
    int error; /* as OpenCL numbers them */
    uint32_t count;
    uint32_t cus[MOST];
};

static int opencl_error(enum prt_status status)
{
    switch (status) {
    case PRT_OK: return 0;
    case PRT_E_OUT_OF_RESOURCES: return -5;
    case PRT_E_OUT_OF_HOST_MEMORY: return -6;
    case PRT_E_DEVICE_PARTITION_FAILED: return -18;
    case PRT_E_INVALID_VALUE: return -30;
    case PRT_E_INVALID_DEVICE: return -33;
    case PRT_E_INVALID_DEVICE_PARTITION_COUNT: return -68;
    default: return 1;
    }
}

static uint32_t number_of(cl_device device, uint32_t what)
{
    uint32_t number = 0;
    cl.device_info(device, what, sizeof number, &number, NULL);
    return number;
}

/* `room` 0: only counts. */
static struct outcome theirs(cl_device device, const int64_t *properties, uint32_t room)
{
    struct outcome outcome = {.count = 0};
    cl_device made[MOST] = {NULL};
    intptr_t list[MOST];
    for (int i = 0; properties != NULL && i < MOST; i++)
        list[i] = (intptr_t)properties[i];
    outcome.error = cl.partition(device, properties != NULL ? list : NULL, room,
                                 room > 0 ? made : NULL, &outcome.count);
    if (outcome.error != 0) outcome.count = 0;
    for (uint32_t i = 0; room > 0 && i < outcome.count && i < MOST; i++) {
        outcome.cus[i] = number_of(made[i], CL_DEVICE_MAX_COMPUTE_UNITS);
        cl.release(made[i]);
    }
    return outcome;
}

static struct outcome ours(struct prt_device_tree *tree, struct prt_device_handle device,
                           const int64_t *properties, uint32_t room)
{
    struct outcome outcome = {.count = 0};
    struct prt_device_handle made[MOST];
    outcome.error = opencl_error(prt_create_sub_devices(tree, device, properties, room,
                                                        room > 0 ? made : NULL, &outcome.count));
    for (uint32_t i = 0; room > 0 && outcome.error == 0 && i < outcome.count; i++) {
        struct prt_device_information information;
        prt_device_query(tree, made[i], &information);
        outcome.cus[i] = information.cu_count;
        prt_device_release(tree, made[i]);
    }
    return outcome;
}

static bool equal(const struct outcome *a, const struct outcome *b)
{
    return a->error == b->error && a->count == b->count &&
           memcmp(a->cus, b->cus, sizeof a->cus) == 0;
}

/* ---- differences ---- */

/* OpenCL 1.2, 4.3, clCreateSubDevices: description of properties, and errors. */
#define ONE_SCHEME "\"Only one of the listed partitioning schemes can be specified in properties.\""
#define BELOW_ZERO                                                                                 \
    "\"CL_INVALID_DEVICE_PARTITION_COUNT if [...] the number of compute units requested for one "  \
    "or more sub-devices is less than zero\""
#define TOTAL                                                                                      \
    "\"CL_INVALID_DEVICE_PARTITION_COUNT if [...] the total number of compute units requested "    \
    "exceeds CL_DEVICE_PARTITION_MAX_COMPUTE_UNITS\""
#define TOO_MANY                                                                                   \
    "\"CL_INVALID_DEVICE_PARTITION_COUNT if [...] the number of sub-devices requested exceeds "    \
    "CL_DEVICE_PARTITION_MAX_SUB_DEVICES\""
#define NOT_FURTHER                                                                                \
    "\"CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but "   \
    "in_device could not be further partitioned.\""
/* The conformance suite, negative_create_sub_devices. */
#define ALL_EQUALLY                                                                                \
    "the conformance suite: equally, all compute units in one, is CL_DEVICE_PARTITION_FAILED"
#define MORE_EQUALLY                                                                               \
    "the conformance suite: equally, more compute units than there are, is "                       \
    "CL_INVALID_DEVICE_PARTITION_COUNT"
#define NOT_VALID                                                                                  \
    "\"CL_INVALID_VALUE if values specified in properties are not valid\"; what is left to "       \
    "CL_INVALID_DEVICE_PARTITION_COUNT is listed, and an empty list is none of it"

#define NOT_SUPPORTED                                                                              \
    "\"CL_DEVICE_PARTITION_FAILED if the partition name is supported\", which it is not: "         \
    "\"CL_INVALID_VALUE if values [...] are valid but not supported by the device\""
#define BOTH                                                                                       \
    "CL_INVALID_VALUE and CL_DEVICE_PARTITION_FAILED both hold; the specification does not order " \
    "its errors"

/* One CU cannot be divided, whatever the list is. */
static const char *decide_single(const int64_t *properties, int error, int their_error)
{
    if (error != -30 || their_error != -18) return NULL;
    bool supported =
        properties[0] == PRT_PARTITION_EQUALLY || properties[0] == PRT_PARTITION_BY_COUNTS;
    return supported ? BOTH : NOT_SUPPORTED;
}

static const char *decide_counts(const int64_t *properties, uint32_t cus, int error)
{
    int64_t sum = 0;
    uint32_t count = 0;
    bool below_zero = false;
    const int64_t *counts = properties + 1;
    for (; counts[count] != 0; count++) {
        below_zero |= counts[count] < 0;
        sum += counts[count];
    }
    if (below_zero) return error == -68 ? BELOW_ZERO : NULL;
    if (sum > (int64_t)cus) return error == -68 ? TOTAL : NULL;
    if (count > cus) return error == -68 ? TOO_MANY : NULL;
    if (count == 0) return error == -30 ? NOT_VALID : NULL;
    if (counts[count + 1] != 0) return error == -30 ? ONE_SCHEME : NULL;
    return cus == 1 && error == -18 ? NOT_FURTHER : NULL;
}

/* The sentence that makes our error the right one, or NULL. */
static const char *decide(const int64_t *properties, uint32_t cus, int error, int their_error)
{
    if (properties == NULL) return NULL;
    if (cus == 1 && decide_single(properties, error, their_error) != NULL)
        return decide_single(properties, error, their_error);
    if (properties[0] == PRT_PARTITION_BY_COUNTS) return decide_counts(properties, cus, error);
    if (properties[0] != PRT_PARTITION_EQUALLY) return NULL;
    if (properties[1] >= 1 && properties[2] != 0) return error == -30 ? ONE_SCHEME : NULL;
    if (properties[1] > (int64_t)cus) return error == -68 ? MORE_EQUALLY : NULL;
    if (cus == 1) return error == -18 ? NOT_FURTHER : NULL;
    if (2 * properties[1] > (int64_t)cus) return error == -18 ? ALL_EQUALLY : NULL;
    return NULL;
}

static unsigned compared, differences, failures;

static void print_outcome(const char *whose, const struct outcome *outcome)
{
    printf("; %s %d", whose, outcome->error);
    if (outcome->error == 0) printf(" (%u:", outcome->count);
    for (uint32_t i = 0; outcome->error == 0 && i < outcome->count && i < 8; i++)
        printf(" %u", outcome->cus[i]);
    if (outcome->error == 0) printf(")");
}

/* One example is enough for a sentence. */
static bool is_new(const char *sentence)
{
    static const char *told[16];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (told[i] == sentence || strcmp(told[i], sentence) == 0) return false;
    if (count < sizeof told / sizeof told[0]) told[count++] = sentence;
    return true;
}

struct pair { /* the same device on both sides */
    const char *name;
    cl_device their;
    struct prt_device_tree *tree;
    struct prt_device_handle our;
    uint32_t cus;
};

static void compare(const struct pair *pair, const int64_t *properties, uint32_t room)
{
    struct outcome our = ours(pair->tree, pair->our, properties, room);
    struct outcome their = theirs(pair->their, properties, room);
    compared++;
    if (equal(&our, &their)) return;
    differences++;
    const char *sentence = decide(properties, pair->cus, our.error, their.error);
    if (sentence != NULL && !is_new(sentence)) return;
    printf("%s of %u CUs, room %u, {", pair->name, pair->cus, room);
    for (int i = 0; properties != NULL && i < 6; i++)
        printf("%s%lld", i > 0 ? ", " : "", (long long)properties[i]);
    printf("%s}", properties != NULL ? ", ..." : "NULL");
    print_outcome("ours", &our);
    print_outcome("PoCL's", &their);
    printf("\n    %s\n", sentence != NULL ? sentence : "not decided");
    if (sentence == NULL) failures++;
}

/* ---- the grid ---- */

static void compare_equally(const struct pair *pair, uint32_t room)
{
    for (int64_t n = -1; n <= (int64_t)pair->cus + 2; n++)
        compare(pair, (const int64_t[MOST]){PRT_PARTITION_EQUALLY, n}, room);
}

static void compare_counts(const struct pair *pair, uint32_t room)
{
    const int64_t cus = pair->cus;
    const int64_t values[] = {-1, 1, 2, 3, cus / 2, cus - 1, cus, cus + 1, INT32_MAX};
    enum { VALUES = sizeof values / sizeof values[0] };
    compare(pair, (const int64_t[MOST]){PRT_PARTITION_BY_COUNTS}, room);
    for (int a = 0; a < VALUES; a++) {
        if (values[a] == 0) continue;
        compare(pair, (const int64_t[MOST]){PRT_PARTITION_BY_COUNTS, values[a]}, room);
        for (int b = 0; b < VALUES; b++) {
            if (values[b] == 0) continue;
            compare(pair, (const int64_t[MOST]){PRT_PARTITION_BY_COUNTS, values[a], values[b]},
                    room);
            for (int c = 0; c < VALUES; c++)
                if (values[c] != 0)
                    compare(pair,
                            (const int64_t[MOST]){PRT_PARTITION_BY_COUNTS, values[a], values[b],
                                                  values[c]},
                            room);
        }
    }
    int64_t ones[MOST] = {PRT_PARTITION_BY_COUNTS};
    for (int64_t i = 1; i <= cus + 2 && i < MOST - 2; i++) {
        ones[i] = 1;
        compare(pair, ones, room);
    }
}

static void compare_others(const struct pair *pair, uint32_t room)
{
    for (int bit = 0; bit < 8; bit++)
        compare(pair, (const int64_t[MOST]){PRT_PARTITION_BY_AFFINITY_DOMAIN, 1 << bit}, room);
    compare(pair, (const int64_t[MOST]){0}, room);
    compare(pair, NULL, room);
    compare(pair, (const int64_t[MOST]){0x1085, 1}, room);
    compare(pair, (const int64_t[MOST]){PRT_PARTITION_EQUALLY, 1, PRT_PARTITION_EQUALLY, 1}, room);
    compare(pair, (const int64_t[MOST]){PRT_PARTITION_EQUALLY, 1, PRT_PARTITION_BY_COUNTS, 1},
            room);
    compare(pair, (const int64_t[MOST]){PRT_PARTITION_BY_COUNTS, 1, 0, PRT_PARTITION_EQUALLY, 1},
            room);
}

static void compare_pair(const struct pair *pair)
{
    const uint32_t rooms[] = {0, 1, 2, MOST};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        compare_equally(pair, rooms[i]);
        compare_counts(pair, rooms[i]);
        compare_others(pair, rooms[i]);
    }
}

static bool expect(const char *what, uint64_t our, uint64_t their)
{
    if (our == their) return true;
    printf("%s: ours %llu, PoCL's %llu\n    not decided\n", what, (unsigned long long)our,
           (unsigned long long)their);
    failures++;
    return false;
}

/* The properties of a sub-device, and its reference count. */
static void compare_queries(const struct pair *root, const struct pair *sub)
{
    struct prt_device_information information;
    intptr_t their_type[8] = {0};
    int64_t our_type[8] = {0};
    size_t length, bytes = 0;
    cl_device parent = NULL;
    prt_device_query(sub->tree, sub->our, &information);
    expect("CU count", information.cu_count, number_of(sub->their, CL_DEVICE_MAX_COMPUTE_UNITS));
    cl.device_info(sub->their, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL);
    expect("parent", prt_device_equal(information.parent, root->our), parent == root->their);
    cl.device_info(sub->their, CL_DEVICE_PARTITION_TYPE, sizeof their_type, their_type, &bytes);
    prt_device_partition_type(sub->tree, sub->our, our_type, 8, &length);
    for (size_t i = 0; i < 2; i++)
        expect("partition type", (uint64_t)our_type[i], (uint64_t)their_type[i]);
    prt_device_retain(sub->tree, sub->our);
    cl.retain(sub->their);
    prt_device_query(sub->tree, sub->our, &information);
    expect("reference count", information.reference_count,
           number_of(sub->their, CL_DEVICE_REFERENCE_COUNT));
    prt_device_release(sub->tree, sub->our);
    cl.release(sub->their);
}

static uint32_t schemes_of(cl_device device)
{
    intptr_t properties[8] = {0};
    uint32_t schemes = 0;
    cl.device_info(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof properties, properties, NULL);
    for (int i = 0; i < 8; i++) {
        if (properties[i] == PRT_PARTITION_EQUALLY) schemes |= PRT_SCHEME_EQUALLY;
        if (properties[i] == PRT_PARTITION_BY_COUNTS) schemes |= PRT_SCHEME_BY_COUNTS;
        if (properties[i] == PRT_PARTITION_BY_AFFINITY_DOMAIN)
            schemes |= PRT_SCHEME_BY_AFFINITY_DOMAIN;
    }
    return schemes;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    setenv("POCL_MAX_PTHREAD_COUNT", argv[1], 1);
    setenv("POCL_CPU_MAX_CU_COUNT", argv[1], 1);
    struct pair root = {.name = "device", .their = load() ? find_device() : NULL};
    if (root.their == NULL) {
        printf("there is no PoCL with a CPU device\n");
        return 77;
    }
    root.cus = number_of(root.their, CL_DEVICE_MAX_COMPUTE_UNITS);
    const struct prt_device_description description = {
        .cu_count = root.cus,
        .schemes = schemes_of(root.their),
        .subdevices_max = number_of(root.their, CL_DEVICE_PARTITION_MAX_SUB_DEVICES)};
    if (prt_device_tree_create(&description, &root.tree) != PRT_OK) return 2;
    root.our = prt_device_tree_root(root.tree);
    compare_pair(&root);
    const int64_t halves[] = {PRT_PARTITION_EQUALLY, root.cus / 2, 0};
    const intptr_t their_halves[] = {PRT_PARTITION_EQUALLY, (intptr_t)root.cus / 2, 0};
    struct prt_device_handle our[2];
    cl_device their[2];
    if (root.cus >= 2 &&
        prt_create_sub_devices(root.tree, root.our, halves, 2, our, NULL) == PRT_OK &&
        cl.partition(root.their, their_halves, 2, their, NULL) == 0) {
        struct pair half = {"sub-device", their[1], root.tree, our[1], root.cus / 2};
        compare_queries(&root, &half);
        compare_pair(&half);
    }
    printf("%u CUs: %u compared, %u differences, %u not decided\n", root.cus, compared, differences,
           failures);
    prt_device_tree_destroy(root.tree);
    return failures > 0;
}
