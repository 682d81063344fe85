/* SPDX-License-Identifier: MIT */
/* kernel_tiles: the packets of a warp's firings in memory that its block shares. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_TILES_H
#define COMPILER_CODEGEN_COMMON_KERNEL_TILES_H

#include "compiler/codegen/common/kernel_llvm_batch.h"

/* The packets of one end: a row for each firing. */
struct kernel_tile_end {
    uint64_t firing_bytes; /* in the window; 0: the end is not in the tile */
    uint64_t row_bytes;    /* from row to row */
    uint64_t at_bytes;     /* of the first row, in the tile */
    uint64_t unit_bytes;   /* the window begins at a multiple of them */
    bool written;
};

struct kernel_tiles {
    uint32_t firings; /* of a tile, a power of two */
    uint64_t bytes;   /* of a tile */
    struct kernel_tile_end
        *ends; /* inputs, then outputs: by parameter from KERNEL_PARAM_WINDOWS on */
    uint64_t count;
};

/* False: firings access their windows where they are. */
bool kernel_plan_tiles(struct kernel_emitter *e, const struct kernel *kernel,
                       struct kernel_end_counts ends, struct kernel_tiles *tiles);

/* A lane of a warp knows this of the tile. */
struct kernel_tile {
    LLVMValueRef memory; /* in shared memory */
    LLVMValueRef lane,
        lanes;            /* i32: the lane's number among those that copy, and how many these are */
    LLVMValueRef firings; /* i32: 1.. */
};

/* Copies the rows of all inputs from their windows into the tile, or those of all outputs from there.  windows[]: of the tile's
 * first firing, as the ends. */
void kernel_copy_tile(struct kernel_emitter *e, const struct kernel_tiles *tiles,
                      const struct kernel_tile *tile, const LLVMValueRef *windows, bool outputs);
/* The lane's row of an end in the tile, as a window of its firing. */
LLVMValueRef kernel_tile_window(struct kernel_emitter *e, const struct kernel_tile_end *end,
                                const struct kernel_tile *tile);

#endif
