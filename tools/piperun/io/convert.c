/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/io_internal.h"

#include <math.h>
#include <string.h>

#include "lang/half.h"

/* Values pass through one of three carriers, a block at a time: i64, u64 or f64.  Every type is
 * exact in its carrier, so the second step is the only one that rounds. */

#define BLOCK 512

enum carrier { CARRIER_SIGNED, CARRIER_UNSIGNED, CARRIER_FLOAT };

union block {
    int64_t signed_values[BLOCK];
    uint64_t unsigned_values[BLOCK];
    double float_values[BLOCK];
};

/* suffix, C type, lowest value, highest value, highest + 1 as a double */
#define INTEGERS(X)                                                                                \
    X(I8, int8_t, INT8_MIN, INT8_MAX, 0x1p7)                                                       \
    X(U8, uint8_t, 0, UINT8_MAX, 0x1p8)                                                            \
    X(I16, int16_t, INT16_MIN, INT16_MAX, 0x1p15)                                                  \
    X(U16, uint16_t, 0, UINT16_MAX, 0x1p16)                                                        \
    X(I32, int32_t, INT32_MIN, INT32_MAX, 0x1p31)                                                  \
    X(U32, uint32_t, 0, UINT32_MAX, 0x1p32)                                                        \
    X(I64, int64_t, INT64_MIN, INT64_MAX, 0x1p63)                                                  \
    X(U64, uint64_t, 0, UINT64_MAX, 0x1p64)

void prt_io_swap(void *elements, size_t width_bytes, size_t count)
{
    unsigned char *bytes = elements;
    for (size_t i = 0; i < count; i++, bytes += width_bytes)
        for (size_t low = 0, high = width_bytes - 1; low < high; low++, high--) {
            unsigned char kept = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = kept;
        }
}

/* --- step one: into the carrier --- */

#define LOAD(member, carrier_type, c_type)                                                         \
    for (size_t i = 0; i < count; i++) {                                                           \
        c_type value;                                                                              \
        memcpy(&value, source + i * sizeof value, sizeof value);                                   \
        block->member[i] = (carrier_type)value;                                                    \
    }

static void load_halves(double *values, const unsigned char *source, enum scalar_type from,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, source + i * sizeof half, sizeof half);
        values[i] = (double)(from == SCALAR_F16 ? half_from_f16(half) : half_from_bf16(half));
    }
}

static enum carrier load_block(union block *block, const unsigned char *source,
                               enum scalar_type from, size_t count)
{
    switch (from) {
    case SCALAR_I8: LOAD(signed_values, int64_t, int8_t) return CARRIER_SIGNED;
    case SCALAR_I16: LOAD(signed_values, int64_t, int16_t) return CARRIER_SIGNED;
    case SCALAR_I32: LOAD(signed_values, int64_t, int32_t) return CARRIER_SIGNED;
    case SCALAR_I64: LOAD(signed_values, int64_t, int64_t) return CARRIER_SIGNED;
    case SCALAR_U8: LOAD(unsigned_values, uint64_t, uint8_t) return CARRIER_UNSIGNED;
    case SCALAR_U16: LOAD(unsigned_values, uint64_t, uint16_t) return CARRIER_UNSIGNED;
    case SCALAR_U32: LOAD(unsigned_values, uint64_t, uint32_t) return CARRIER_UNSIGNED;
    case SCALAR_U64: LOAD(unsigned_values, uint64_t, uint64_t) return CARRIER_UNSIGNED;
    case SCALAR_F32: LOAD(float_values, double, float) return CARRIER_FLOAT;
    case SCALAR_F64: LOAD(float_values, double, double) return CARRIER_FLOAT;
    case SCALAR_F16:
    case SCALAR_BF16: load_halves(block->float_values, source, from, count); return CARRIER_FLOAT;
    case SCALAR_BOOL: break;
    }
    for (size_t i = 0; i < count; i++)
        block->unsigned_values[i] = source[i] != 0;
    return CARRIER_UNSIGNED;
}

/* --- step two: out of it; returns how many fitted --- */

#define STORE(values, c_type, fits)                                                                \
    for (size_t i = 0; i < count; i++) {                                                           \
        if (!(fits)) return i;                                                                     \
        c_type value = (c_type)(values)[i];                                                        \
        memcpy(target + i * sizeof value, &value, sizeof value);                                   \
    }                                                                                              \
    return count;

#define STORE_ALL(values, c_type)                                                                  \
    for (size_t i = 0; i < count; i++) {                                                           \
        c_type value = (c_type)(values)[i];                                                        \
        memcpy(target + i * sizeof value, &value, sizeof value);                                   \
    }                                                                                              \
    return count;

static void store_half(unsigned char *target, enum scalar_type to, double value)
{
    uint16_t half = half_of_f64(value, to == SCALAR_BF16);
    memcpy(target, &half, sizeof half);
}

static size_t store_signed(unsigned char *target, enum scalar_type to, const int64_t *values,
                           size_t count)
{
    switch (to) {
#define X(suffix, c_type, lowest, highest, above)                                                  \
    case SCALAR_##suffix:                                                                          \
        STORE(values, c_type,                                                                      \
              values[i] >= (int64_t)(lowest) &&                                                    \
                  (values[i] < 0 || (uint64_t)values[i] <= (uint64_t)(highest)))
        INTEGERS(X)
#undef X
    case SCALAR_F32: STORE_ALL(values, float)
    case SCALAR_F64: STORE_ALL(values, double)
    case SCALAR_F16:
    case SCALAR_BF16:
        for (size_t i = 0; i < count; i++)
            store_half(target + 2 * i, to, half_integer_to_odd((uint64_t)values[i], true));
        return count;
    case SCALAR_BOOL: break;
    }
    for (size_t i = 0; i < count; i++)
        target[i] = values[i] != 0;
    return count;
}

static size_t store_unsigned(unsigned char *target, enum scalar_type to, const uint64_t *values,
                             size_t count)
{
    switch (to) {
#define X(suffix, c_type, lowest, highest, above)                                                  \
    case SCALAR_##suffix: STORE(values, c_type, values[i] <= (uint64_t)(highest))
        INTEGERS(X)
#undef X
    case SCALAR_F32: STORE_ALL(values, float)
    case SCALAR_F64: STORE_ALL(values, double)
    case SCALAR_F16:
    case SCALAR_BF16:
        for (size_t i = 0; i < count; i++)
            store_half(target + 2 * i, to, half_integer_to_odd(values[i], false));
        return count;
    case SCALAR_BOOL: break;
    }
    for (size_t i = 0; i < count; i++)
        target[i] = values[i] != 0;
    return count;
}

/* True if x cut towards zero is in lowest..highest; `above` is highest + 1, exact.  The first test
 * is for i64, where lowest - 1 is no double. */
static bool float_fits(double x, double lowest, double above)
{
    return (x >= lowest || x > lowest - 1.0) && x < above;
}

static size_t store_float(unsigned char *target, enum scalar_type to, const double *values,
                          size_t count)
{
    switch (to) {
#define X(suffix, c_type, lowest, highest, above)                                                  \
    case SCALAR_##suffix: STORE(values, c_type, float_fits(values[i], (double)(lowest), above))
        INTEGERS(X)
#undef X
    case SCALAR_F32: STORE_ALL(values, float)
    case SCALAR_F64: STORE_ALL(values, double)
    case SCALAR_F16:
    case SCALAR_BF16:
        for (size_t i = 0; i < count; i++)
            store_half(target + 2 * i, to, values[i]);
        return count;
    case SCALAR_BOOL: break;
    }
    for (size_t i = 0; i < count; i++)
        target[i] = values[i] != 0;
    return count;
}

static size_t convert_block(unsigned char *target, enum scalar_type to, const unsigned char *source,
                            enum scalar_type from, size_t count)
{
    union block block;
    switch (load_block(&block, source, from, count)) {
    case CARRIER_SIGNED: return store_signed(target, to, block.signed_values, count);
    case CARRIER_UNSIGNED: return store_unsigned(target, to, block.unsigned_values, count);
    case CARRIER_FLOAT: break;
    }
    return store_float(target, to, block.float_values, count);
}

size_t prt_io_convert(void *target, enum scalar_type to, const void *source, enum scalar_type from,
                      size_t count)
{
    if (from == to && to != SCALAR_BOOL) {
        memcpy(target, source, count * scalar_width_bytes(to));
        return count;
    }
    for (size_t done = 0; done < count;) {
        size_t part = count - done < BLOCK ? count - done : BLOCK;
        size_t stored = convert_block(
            (unsigned char *)target + done * scalar_width_bytes(to), to,
            (const unsigned char *)source + done * scalar_width_bytes(from), from, part);
        done += stored;
        if (stored < part) return done;
    }
    return count;
}

/* --- images --- */

bool prt_io_image_packet_ok(enum scalar_type packet, uint32_t sample_max)
{
    switch (packet) {
    case SCALAR_I8: return sample_max <= INT8_MAX;
    case SCALAR_I16: return sample_max <= INT16_MAX;
    default: return true;
    }
}

void prt_io_image_unpack(void *packets, enum scalar_type packet, const uint16_t *samples,
                         uint32_t sample_max, size_t count)
{
    unsigned char *target = packets;
    switch (packet) {
    case SCALAR_F32:
        for (size_t i = 0; i < count; i++) {
            float value = (float)samples[i] / (float)sample_max;
            memcpy(target + i * sizeof value, &value, sizeof value);
        }
        return;
    case SCALAR_F64:
        for (size_t i = 0; i < count; i++) {
            double value = (double)samples[i] / (double)sample_max;
            memcpy(target + i * sizeof value, &value, sizeof value);
        }
        return;
    case SCALAR_U8:
        for (size_t i = 0; i < count; i++) {
            uint32_t sample = samples[i];
            if (sample_max > 255) sample = (sample * 255 + sample_max / 2) / sample_max;
            target[i] = (unsigned char)sample;
        }
        return;
    default: (void)prt_io_convert(packets, packet, samples, SCALAR_U16, count); return;
    }
}

static uint8_t pack_float(double x)
{
    if (!(x > 0)) return 0;
    return x >= 1 ? 255 : (uint8_t)floor(x * 255 + 0.5);
}

size_t prt_io_image_pack(uint8_t *samples, const void *packets, enum scalar_type packet,
                         size_t count)
{
    const unsigned char *source = packets;
    switch (packet) {
    case SCALAR_BOOL:
        for (size_t i = 0; i < count; i++)
            samples[i] = source[i] != 0 ? 255 : 0;
        return count;
    case SCALAR_F32:
        for (size_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, source + i * sizeof value, sizeof value);
            samples[i] = pack_float((double)value);
        }
        return count;
    case SCALAR_F64:
        for (size_t i = 0; i < count; i++) {
            double value;
            memcpy(&value, source + i * sizeof value, sizeof value);
            samples[i] = pack_float(value);
        }
        return count;
    default: return prt_io_convert(samples, SCALAR_U8, packets, packet, count);
    }
}

double prt_scalar_value(enum scalar_type type, const void *scalar)
{
    double value = 0;
    (void)prt_io_convert(&value, SCALAR_F64, scalar, type, 1);
    return value;
}
