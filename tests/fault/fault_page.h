/* SPDX-License-Identifier: MIT */
/*
 * fault_page: shared by a program under test and its parent: counts that outlive the program,
 * however it ends.
 */
#ifndef TESTS_FAULT_FAULT_PAGE_H
#define TESTS_FAULT_FAULT_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

struct fault_page {
    _Atomic uint64_t calls;      /* so far, of the kind that is counted */
    _Atomic uint64_t failed;     /* of these */
    _Atomic uint64_t read_bytes; /* of a file that is changed, until then */
};

#endif
