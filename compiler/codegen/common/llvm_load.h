/* SPDX-License-Identifier: MIT */
/*
 * llvm_load: loads libLLVM into this process, before the first call of it.
 *
 * pipec is not linked with libLLVM where scripts/llvm_stubs.sh can replace it: relocating that library takes longer than
 * checking a small program.  If the part of LLVM that pipec calls (scripts/llvm_part.sh) lies beside pipec, it is loaded
 * instead.  Programs that are linked with libLLVM, as unit tests are, have a version that does nothing.
 *
 * Errors: the text of dlerror; NULL: every function can be called.
 */
#ifndef PIPEC_LLVM_LOAD_H
#define PIPEC_LLVM_LOAD_H

const char *llvm_load(void);

#endif
