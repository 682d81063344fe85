/* SPDX-License-Identifier: MIT */
/*
 * null: a device that executes nothing: every dispatch completes at once, in no time, and its out
 * windows keep what was in them.  For measuring the scheduler, and the backend to copy from.
 */
#ifndef RUNTIME_BACKEND_NULL_NULL_H
#define RUNTIME_BACKEND_NULL_NULL_H

#include "runtime/device/device.h"

extern const struct prt_device_ops prt_null_device;

#endif
