#include "runtime/device/index_packer.h"

void prt_index_pack(const struct index_format *format, const uint32_t *x, const uint32_t *y,
                    const uint32_t *z, uint32_t count, void *registers, uint32_t at)
{
    if (format->register_bits == 16) {
        uint16_t *narrow = (uint16_t *)registers + at;
        for (uint32_t i = 0; i < count; i++)
            narrow[i] = (uint16_t)index_pack(format, x[i], y[i], z[i]);
    } else {
        uint32_t *wide = (uint32_t *)registers + at;
        for (uint32_t i = 0; i < count; i++)
            wide[i] = index_pack(format, x[i], y[i], z[i]);
    }
}
