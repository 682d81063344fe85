/* SPDX-License-Identifier: MIT */
/*
 * registers: how many 32-bit registers a work-item of a body takes (lang/time.md, "Registers").
 *
 * Requires function->registers of all functions that the body calls.
 * Method   One walk in order of the text numbers the *moments* of the body: its statements; of a loop the first test, and the
 *          step with the last one.  A variable is live from the moment after its declaration to the last one that mentions it,
 *          or to the end of a loop around that mention which begins after the declaration.  At each moment the live variables,
 *          and the values that its expressions hold at once, are added up.
 *
 * The count depends on the typed body, and on which loops the device's `unrolled_rounds` unrolls.  Linear in the body.
 * Thread-safe: no state.
 */
#ifndef PIPEC_REGISTERS_H
#define PIPEC_REGISTERS_H

#include "compiler/ir/kernel.h"

/* Of a firing, besides its values: its number, that of the item, the end of the launch, the stack; of each port its place,
 * an address of 64 bits. */
enum { REGISTERS_OF_FIRING = 8, REGISTERS_OF_PORT = 2 };

/* At most CONTAINER_REGISTERS_MAX. */
uint32_t registers_of_kernel(const struct devdesc_costs *costs, const struct kernel *kernel);
/* Without REGISTERS_OF_FIRING: parameters are variables that are live from the first moment on. */
uint32_t registers_of_function(const struct devdesc_costs *costs, const struct function *function);

#endif
