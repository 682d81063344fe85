/* SPDX-License-Identifier: MIT */
/* The kernel of the resident scheduler. Only a GPU has it. */
#include "core/resident/resident.h"

#ifdef __NVPTX__
__attribute__((nvptx_kernel)) void core_resident_kernel(struct core_resident *resident);
__attribute__((nvptx_kernel)) void core_resident_kernel(struct core_resident *resident)
{
    uint32_t block;
    __asm__("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    core_resident_block(resident, block);
}
#endif
