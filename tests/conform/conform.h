/* SPDX-License-Identifier: MIT */
/*
 * conform: what device.h promises, as one suite that runs over every backend.
 *
 *     int main(void) { return conform_main("null", &prt_null_device); }
 */
#ifndef TESTS_CONFORM_CONFORM_H
#define TESTS_CONFORM_CONFORM_H

#include "runtime/device/device.h"

/* Runs the suite (T selects, as in every test); returns the number of tests that failed. */
int conform_main(const char *group, const struct prt_device_ops *tested);

#endif
