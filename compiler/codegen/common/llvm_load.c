/* SPDX-License-Identifier: MIT */
#include "compiler/codegen/common/llvm_load.h"

#include <stddef.h>

/* For programs that are linked with libLLVM. In pipec the function of scripts/llvm_stubs.sh takes its place. */
__attribute__((weak)) const char *llvm_load(void)
{
    return NULL;
}
