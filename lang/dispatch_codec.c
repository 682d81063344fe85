/* SPDX-License-Identifier: MIT */
#include "lang/dispatch_codec.h"

#include "lang/hosted_assert.h"

#include <stddef.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packets are little-endian");
_Static_assert(offsetof(struct dispatch_reference, ref_num) ==
                       offsetof(struct dispatch_full, reserved0) &&
                   offsetof(struct dispatch_reference, completion_signal) ==
                       offsetof(struct dispatch_full, completion_signal),
               "a reference packet is a full one with ref_num in place of reserved0");

struct field {
    size_t offset, size;
    uint32_t units;
};

#define FIELD(enumerator, member, units)                                                           \
    {offsetof(struct dispatch_full, member), sizeof((struct dispatch_full *)0)->member, units},
static const struct field fields[DISPATCH_FIELD_COUNT] = {DISPATCH_FIELDS(FIELD)};
#undef FIELD

const char *dispatch_defect_text(enum dispatch_defect defect)
{
    switch (defect) {
    case DISPATCH_GOOD: break;
    case DISPATCH_BAD_TYPE: return "unknown type";
    case DISPATCH_BAD_SETUP: return "dimensions are 1 to 3, setup is";
    case DISPATCH_BAD_SCOPES: return "unknown bits or an unknown scope in synch_scopes";
    case DISPATCH_BAD_RESERVED: return "a reserved field is not zero, but";
    case DISPATCH_BAD_WORKGROUP:
        return "a work-group without items, or with more than one in y or z";
    case DISPATCH_BAD_GRID: return "a grid without firings, or with more than one in y or z";
    case DISPATCH_BAD_ENTRY: return "the device has no reference entry";
    case DISPATCH_EMPTY_ENTRY: return "nothing has been stored in reference entry";
    case DISPATCH_NO_KERNELS: return "no kernels: num_kernels is";
    case DISPATCH_PAST_UNITS: return "a difference runs past the 31 units, at unit";
    case DISPATCH_WIDE_VALUE: return "the unit of an 8-bit field has more than 8 bits";
    case DISPATCH_TRAILING_UNITS: return "what follows the last difference is not zero, from unit";
    }
    return "good";
}

static bool has_good_scopes(uint8_t scopes)
{
    return (scopes & 0xe0) == 0 && (scopes >> 1 & 3) <= DISPATCH_SCOPE_SYSTEM &&
           (scopes >> 3 & 3) <= DISPATCH_SCOPE_SYSTEM;
}

enum dispatch_defect dispatch_check(const struct dispatch_full *launch, uint32_t *found)
{
    bool shaped = launch->setup >= 1 && launch->setup <= 3 && launch->workgroup_size_x != 0 &&
                  launch->workgroup_size_y == 1 && launch->workgroup_size_z == 1 &&
                  launch->grid_size_x != 0 && launch->grid_size_y == 1 && launch->grid_size_z == 1;
    if (shaped && launch->reserved0 == 0 && launch->reserved2 == 0 &&
        has_good_scopes(launch->synch_scopes))
        return DISPATCH_GOOD;
    *found = launch->setup;
    if (launch->setup < 1 || launch->setup > 3) return DISPATCH_BAD_SETUP;
    *found = launch->synch_scopes;
    if (!has_good_scopes(launch->synch_scopes)) return DISPATCH_BAD_SCOPES;
    *found = launch->reserved0 != 0 ? launch->reserved0 : (uint32_t)launch->reserved2;
    if (launch->reserved0 != 0 || launch->reserved2 != 0) return DISPATCH_BAD_RESERVED;
    *found = launch->workgroup_size_x;
    if (launch->workgroup_size_x == 0 || launch->workgroup_size_y != 1 ||
        launch->workgroup_size_z != 1)
        return DISPATCH_BAD_WORKGROUP;
    *found = launch->grid_size_x;
    return DISPATCH_BAD_GRID;
}

/* ---- reference packets ---- */

struct dispatch_reference dispatch_refer(const struct dispatch_full *launch, uint32_t entry)
{
    struct dispatch_reference packet;
    __builtin_memcpy(&packet, launch, sizeof packet);
    packet.header = DISPATCH_REFERENCE;
    packet.ref_num = (uint16_t)entry;
    return packet;
}

static bool refuse_dispatch(struct dispatch_finding *finding, enum dispatch_defect defect,
                            uint32_t kernel, uint32_t value)
{
    *finding = (struct dispatch_finding){defect, kernel, value};
    return false;
}

bool dispatch_resolve(const struct dispatch_table *table, const struct dispatch_reference *packet,
                      struct dispatch_full *launch, struct dispatch_finding *finding)
{
    uint32_t found = 0;
    if (packet->header != DISPATCH_REFERENCE)
        return refuse_dispatch(finding, DISPATCH_BAD_TYPE, 0, packet->header);
    if (packet->ref_num >= table->count)
        return refuse_dispatch(finding, DISPATCH_BAD_ENTRY, 0, packet->ref_num);
    __builtin_memcpy(launch, packet, sizeof *launch);
    launch->header = DISPATCH_FULL;
    launch->reserved0 = 0;
    enum dispatch_defect defect = dispatch_check(launch, &found);
    if (defect != DISPATCH_GOOD) return refuse_dispatch(finding, defect, 0, found);
    return true;
}

void dispatch_store(struct dispatch_table *table, uint32_t entry,
                    const struct dispatch_full *launch)
{
    table->entries[entry] = dispatch_decode(launch);
    table->stored |= 1u << entry;
}

struct dispatch_full dispatch_stored(const struct dispatch_table *table, uint32_t entry)
{
    return dispatch_encode(&table->entries[entry]);
}

/* ---- decoding ---- */

#define SAME_FIELDS(FIELD)                                                                         \
    FIELD(kernel_object)                                                                           \
    FIELD(kernarg_address)                                                                         \
    FIELD(grid_size_x)                                                                             \
    FIELD(grid_size_y)                                                                             \
    FIELD(grid_size_z)                                                                             \
    FIELD(private_segment_size_bytes)                                                              \
    FIELD(group_segment_size_bytes)                                                                \
    FIELD(workgroup_size_x)                                                                        \
    FIELD(workgroup_size_y)                                                                        \
    FIELD(workgroup_size_z)                                                                        \
    FIELD(setup)

struct dispatch_decoded dispatch_decode(const struct dispatch_full *launch)
{
    struct dispatch_decoded decoded = {.scheduling = {.barrier = launch->synch_scopes & 1,
                                                      .acquire = launch->synch_scopes >> 1 & 3},
                                       .cleanup = {.completion_signal = launch->completion_signal,
                                                   .release = launch->synch_scopes >> 3 & 3}};
#define FIELD(member) decoded.scheduling.member = launch->member;
    SAME_FIELDS(FIELD)
#undef FIELD
    return decoded;
}

struct dispatch_full dispatch_encode(const struct dispatch_decoded *decoded)
{
    const struct dispatch_scheduling *s = &decoded->scheduling;
    struct dispatch_full launch = {
        .header = DISPATCH_FULL,
        .synch_scopes = DISPATCH_SCOPES(s->barrier, s->acquire, decoded->cleanup.release),
        .completion_signal = decoded->cleanup.completion_signal};
#define FIELD(member) launch.member = s->member;
    SAME_FIELDS(FIELD)
#undef FIELD
    return launch;
}

/* ---- differences ---- */

_Static_assert(offsetof(struct dispatch_full, kernel_object) == 4 * sizeof(uint64_t),
               "launches begin with four words that are nearly always those of the reference");

/* Is all the same in front of the kernel object? */
static bool begins_alike(const struct dispatch_full *reference, const struct dispatch_full *launch)
{
    uint64_t a[4], b[4]; /* equivalent: in longer ones the rest is unused */
    __builtin_memcpy(a, reference, sizeof a);
    __builtin_memcpy(b, launch, sizeof b);
    /* equivalent: where it sees a difference too many, each field is compared */
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
}

#define DIFFERS(enumerator, member)                                                                \
    ((uint32_t)(reference->member != launch->member) << DISPATCH_FIELD_##enumerator)

uint32_t dispatch_vector(const struct dispatch_full *reference, const struct dispatch_full *launch)
{
    if (begins_alike(reference, launch))
        return DIFFERS(KERNEL_OBJECT, kernel_object) | DIFFERS(KERNARG_ADDRESS, kernarg_address) |
               DIFFERS(COMPLETION_SIGNAL, completion_signal);
    uint32_t vector = 0;
#define FIELD(enumerator, member, units) vector |= DIFFERS(enumerator, member);
    DISPATCH_FIELDS(FIELD)
#undef FIELD
    return vector;
}

uint32_t dispatch_vector_units(uint32_t vector)
{
    uint32_t units = 1;
    for (; vector != 0; vector &= vector - 1)
        units += fields[__builtin_ctz(vector)].units;
    return units;
}

/* The sizes are few: copying one of them takes less than a call. */
static void copy_field(void *to, const void *from, const struct field *field)
{
    switch (field->size) {
    case 8: __builtin_memcpy(to, from, 8); break;
    case 4: __builtin_memcpy(to, from, 4); break;
    case 2: __builtin_memcpy(to, from, 2); break;
    default: __builtin_memcpy(to, from, 1); break;
    }
}

void dispatch_open(struct dispatch_writer *writer)
{
    *writer = (struct dispatch_writer){.packet.header = DISPATCH_CONDENSED};
}

bool dispatch_append(struct dispatch_writer *writer, const struct dispatch_table *table,
                     uint32_t entry, const struct dispatch_full *launch)
{
    const struct dispatch_full reference = dispatch_stored(table, entry);
    uint32_t vector = dispatch_vector(&reference, launch);
    if (writer->units + dispatch_vector_units(vector) > DISPATCH_UNITS) return false;
    uint16_t *values = writer->packet.diff_values;
    values[writer->units++] = DISPATCH_DIFF_HEADER(entry, vector);
    for (uint32_t left = vector; left != 0; left &= left - 1) {
        const struct field *field = &fields[__builtin_ctz(left)];
        copy_field(&values[writer->units], (const uint8_t *)launch + field->offset, field);
        writer->units += field->units;
    }
    writer->packet.num_kernels++;
    return true;
}

uint32_t dispatch_nearest(const struct dispatch_table *table, const struct dispatch_full *launch)
{
    uint32_t best = 0, fewest = UINT32_MAX;
    for (uint32_t left = table->stored; left != 0; left &= left - 1) {
        uint32_t entry = (uint32_t)__builtin_ctz(left);
        const struct dispatch_full reference = dispatch_stored(table, entry);
        uint32_t units = dispatch_vector_units(dispatch_vector(&reference, launch));
        if (units < fewest) {
            best = entry;
            fewest = units;
        }
    }
    return best;
}

/* ---- expansion ---- */

struct reader {
    const struct dispatch_table *table;
    const uint16_t *values;
    uint32_t at, kernel;
    struct dispatch_finding *finding;
};

/* The values of the set fields, into a copy of the reference. */
static bool read_values(struct reader *r, uint32_t vector, struct dispatch_full *launch)
{
    for (; vector != 0; vector &= vector - 1) {
        const struct field *field = &fields[__builtin_ctz(vector)];
        if (field->units > DISPATCH_UNITS - r->at)
            return refuse_dispatch(r->finding, DISPATCH_PAST_UNITS, r->kernel, r->at);
        if (field->size == 1 && r->values[r->at] > UINT8_MAX)
            return refuse_dispatch(r->finding, DISPATCH_WIDE_VALUE, r->kernel, r->values[r->at]);
        copy_field((uint8_t *)launch + field->offset, &r->values[r->at], field);
        r->at += field->units;
    }
    return true;
}

/* Fields of which every value is good: with no other one different the launch is as good as what was
 * stored, which was checked. */
#define NEVER_WRONG                                                                                \
    (1u << DISPATCH_FIELD_KERNEL_OBJECT | 1u << DISPATCH_FIELD_KERNARG_ADDRESS |                   \
     1u << DISPATCH_FIELD_COMPLETION_SIGNAL)

static bool read_launch(struct reader *r, struct dispatch_full *launch)
{
    if (r->at == DISPATCH_UNITS)
        return refuse_dispatch(r->finding, DISPATCH_PAST_UNITS, r->kernel, r->at);
    uint16_t header = r->values[r->at++];
    uint32_t entry = DISPATCH_DIFF_ENTRY(header), found = 0;
    if (entry >= r->table->count)
        return refuse_dispatch(r->finding, DISPATCH_BAD_ENTRY, r->kernel, entry);
    if ((r->table->stored >> entry & 1) == 0)
        return refuse_dispatch(r->finding, DISPATCH_EMPTY_ENTRY, r->kernel, entry);
    *launch = dispatch_stored(r->table, entry);
    if (!read_values(r, DISPATCH_DIFF_VECTOR(header), launch)) return false;
    if ((DISPATCH_DIFF_VECTOR(header) & ~NEVER_WRONG) == 0) return true;
    enum dispatch_defect defect = dispatch_check(launch, &found);
    if (defect != DISPATCH_GOOD) return refuse_dispatch(r->finding, defect, r->kernel, found);
    return true;
}

/* Four units at a time. */
static bool rest_is_zero(const struct reader *r)
{
    uint32_t at = r->at;
    uint64_t found = 0, four;
    for (; at + 4 <= DISPATCH_UNITS; at += 4) {
        __builtin_memcpy(&four, &r->values[at], sizeof four);
        found |= four;
    }
    for (; at < DISPATCH_UNITS; at++)
        found |= r->values[at];
    return found == 0;
}

bool dispatch_expand(const struct dispatch_table *table, const struct dispatch_condensed *packet,
                     struct dispatch_full launches[DISPATCH_UNITS], uint32_t *count,
                     struct dispatch_finding *finding)
{
    struct reader r = {.table = table, .values = packet->diff_values, .finding = finding};
    if (packet->header != DISPATCH_CONDENSED)
        return refuse_dispatch(finding, DISPATCH_BAD_TYPE, 0, packet->header);
    if (packet->num_kernels == 0) return refuse_dispatch(finding, DISPATCH_NO_KERNELS, 0, 0);
    for (; r.kernel < packet->num_kernels; r.kernel++)
        if (!read_launch(&r, &launches[r.kernel])) return false;
    if (r.at < DISPATCH_UNITS && !rest_is_zero(&r)) {
        while (r.values[r.at] == 0) { /* one of them is not */
            r.at++;
            assert(r.at < DISPATCH_UNITS);
        }
        return refuse_dispatch(finding, DISPATCH_TRAILING_UNITS, packet->num_kernels, r.at);
    }
    *count = packet->num_kernels;
    return true;
}
