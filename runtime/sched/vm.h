/* SPDX-License-Identifier: MIT */
/*
 * vm: the scheduler machine.  Decodes the program of a verified container once, then runs it over a
 * sched.
 *
 * Requires: prt_verify accepted the container; the machine only asserts.
 * Ownership: prt_vm_destroy; the container outlives it.
 * Thread-safety: a program is read-only once made; a run belongs to one thread.
 * Errors: prt_vm_create: PRT_E_NOMEM.  Others: the statuses of the instructions in sched.h, and PRT_E_VERIFY for
 *   control flow that the verifier should have refused.  When prt_vm_run returns, nothing is in flight.
 */
#ifndef RUNTIME_SCHED_VM_H
#define RUNTIME_SCHED_VM_H

#include "runtime/sched/sched.h"

struct prt_vm;

enum prt_status prt_vm_create(const struct prt_container *container, struct prt_vm **vm,
                              struct prt_error *error);
void prt_vm_destroy(struct prt_vm *vm);

/* Executes only the prologue, which makes sub-devices and binds stages. */
enum prt_status prt_vm_prologue(const struct prt_vm *vm, struct prt_sched *sched,
                                struct prt_error *error);

/* Executes the code from the first instruction to `halt`, or to the first error.  *error explains a fault. */
enum prt_status prt_vm_run(const struct prt_vm *vm, struct prt_sched *sched,
                           struct prt_error *error);

#endif
