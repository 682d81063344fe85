/* SPDX-License-Identifier: MIT */
/*
 * verify: what a container's records mean, checked before anything runs (lang/container.md,
 * lang/scheduler.md).
 *
 * Requires: a container that reader.h accepted: every index is within its table.
 * Work: proportional to the size of the file (times its logarithm for names), whatever the numbers
 *   in it are.
 * Thread-safety: no state.
 * Errors: PRT_E_VERIFY, with section, record or code offset, the instruction's text and the reason;
 *   PRT_E_NOMEM.
 *
 * Graph:
 *   - nodes own their inputs and outputs in order, buffers their readers; writers, readers and ends
 *     agree both ways
 *   - rates with phases: the lists of all ends follow one another in RATES, their sums and largest
 *     are what the ends say, pop <= peek and least <= most in each phase; repetitions are whole
 *     cycles
 *   - depth >= push, peek, initial packets and what `finish` may append
 *   - 2-D windows: odd sizes, a shape, one that wraps has an end to go round; all of a node have
 *     the same shape; depth >= what a firing sees and keeps
 *   - repetitions balance for every buffer and reader of an exact rate; memory_bytes is the sum
 *     over inner buffers
 *   - a buffer of a bounded rate, or that a finish alone writes, lies on no cycle of the undirected
 *     graph, and has room for a firing and a finish of its writer while its readers hold one packet
 *     less than they need; unless the container says that the author accepts a stall
 *   - exact rates cannot come to a stop with these depths: arithmetic, or the certificate, shows it of
 *     each circle of buffers; a finish has room for what it appends (verify_certificate.h)
 *   - only nodes without inputs stop
 *   - kernels that launch: the interface table agrees with the nodes, children with who launches
 *     them, and the bounds of the device queue are recomputed
 *   - arguments and outer ports have names of their own; defaults are values of their type;
 *     their block ends with the last of them
 *   - debug information: types as wide as their parts make them, and as their packets; variables
 *     within the blocks of their nodes
 *   - each node has exactly one stage; thresholds and batches are admitted by the depths
 *
 * verify.c has the records, verify_rates.c rates and windows, verify_bounded.c bounded rates,
 * verify_launches.c kernels that launch kernels, verify_certificate.c, verify_channels.c and
 * verify_schedule.c the certificate.
 *
 * Scheduler program: verify_program.h.
 */
#ifndef RUNTIME_VERIFY_VERIFY_H
#define RUNTIME_VERIFY_VERIFY_H

#include "lang/devdesc.h"
#include "runtime/load/reader.h"

/* What has been proven of a scheduler program. */
struct prt_proof {
    uint32_t instructions, guards, runs; /* guards that can hold; `run`s */
    uint32_t stages, static_stages;      /* of the container; of them executed by `run` */
    uint64_t work, work_limit;           /* steps that it took, and might have taken */
};

enum prt_status prt_verify(const struct prt_container *container, struct prt_error *error);

/* The same, and tells what has been proven: of what is refused the work alone. */
enum prt_status prt_verify_prove(const struct prt_container *container, struct prt_proof *proof,
                                 struct prt_error *error);

/* Checks that the device has all that the program asks for: memory (device_need.h), local memory for each work-group, entries
 * of the reference table (PRT_E_DEVICE), and the device can be cut as the program does
 * (PRT_E_VERIFY).  CUs are compared with those of the record.  A device with a memory of 0 bytes is
 * one whose memory and local memory are not known.  Requires: prt_verify accepts it. */
enum prt_status prt_verify_device(const struct prt_container *container,
                                  const struct devdesc *device, struct prt_error *error);

/* The two halves of it. */
enum prt_status prt_verify_graph(const struct prt_container *container, struct prt_error *error);
enum prt_status prt_verify_program(const struct prt_container *container, struct prt_proof *proof,
                                   struct prt_error *error);

#endif
