/* SPDX-License-Identifier: MIT */
/* made_load: a made container as a program that can be run. */
#ifndef TESTS_CONFORM_MADE_LOAD_H
#define TESTS_CONFORM_MADE_LOAD_H

#include "runtime/host/pipert.h"
#include "runtime/host/pipert_internal.h"
#include "tests/conform/made_container.h"

/* Loads what `made` describes with these kernels, one per node, and with the certificate that it has or that made_finish
 * makes; frees `made`.  The test fails if it is refused. */
struct prt_program *made_load(struct made *made, const struct prt_image_kernel *kernels);

#endif
