/* SPDX-License-Identifier: MIT */
/*
 * made_certificate: a certificate for a made container, found without the compiler: every block is
 * fired in rounds, each vertex at most once, until packets and phases are as they were before.
 */
#ifndef TESTS_CONFORM_MADE_CERTIFICATE_H
#define TESTS_CONFORM_MADE_CERTIFICATE_H

#include "tests/conform/made_container.h"

#include <stdbool.h>

/* False: some block stops for ever, or takes too long; the certificate is then empty.  Text that cannot
 * be read has none. */
bool made_certify(struct made *made);

#endif
