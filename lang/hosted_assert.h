/* SPDX-License-Identifier: MIT */
/* hosted_assert: assert, where there is a C library; in freestanding code for a device nothing is evaluated. */
#ifndef LANG_HOSTED_ASSERT_H
#define LANG_HOSTED_ASSERT_H

#if __STDC_HOSTED__
#include <assert.h>
#else
#define assert(condition) ((void)0)
#endif

#endif
