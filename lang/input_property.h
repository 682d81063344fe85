/* SPDX-License-Identifier: MIT */
/* input_property: the names of the properties that an argument can take from its input, `x.rate`. */
#ifndef LANG_INPUT_PROPERTY_H
#define LANG_INPUT_PROPERTY_H

#include "lang/container.h"

enum { INPUT_PROPERTIES = CONTAINER_PROPERTY_CHANNELS + 1 };

/* `property`: enum container_property; "" for none. */
static inline const char *input_property_name(uint32_t property)
{
    static const char *const names[INPUT_PROPERTIES] = {[CONTAINER_PROPERTY_NONE] = "",
                                                        [CONTAINER_PROPERTY_RATE] = "rate",
                                                        [CONTAINER_PROPERTY_WIDTH] = "width",
                                                        [CONTAINER_PROPERTY_HEIGHT] = "height",
                                                        [CONTAINER_PROPERTY_CHANNELS] = "channels"};
    return names[property];
}

#endif
