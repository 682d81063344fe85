/* SPDX-License-Identifier: MIT */
/* environment_direct: the environment of a scheduler that is resident on the device (core/resident), as functions. */
#ifndef CORE_ENVIRONMENT_DIRECT_H
#define CORE_ENVIRONMENT_DIRECT_H

#include "core/environment.h"

void core_resident_open(void *context, uint32_t stage, bool finish);
bool core_resident_launch(void *context, uint32_t stage, bool finish);
enum core_taken core_resident_enqueue(void *context, uint32_t queue,
                                      const union dispatch_packet *packet);
bool core_resident_wait(void *context, bool until_arrival, uint32_t *count);
void core_resident_advance(void *context, uint64_t cycles);
void core_resident_resume(void *context);
bool core_resident_event(void *context, enum core_event event, uint32_t stage, bool finish);

#endif
