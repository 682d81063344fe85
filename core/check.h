/* SPDX-License-Identifier: MIT */
/*
 * check: assertions of the scheduler core.  On a host they are those of the C library; where there is none, nothing.
 */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#if __STDC_HOSTED__
#include <assert.h>
#define CORE_CHECK(condition) assert(condition)
#else
#define CORE_CHECK(condition) ((void)0)
#endif

#endif
