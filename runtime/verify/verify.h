/* SPDX-License-Identifier: MIT */
/*
 * verify: checks the meaning of a container's records before anything runs (lang/container.md,
 * lang/scheduler.md).
 *
 * Requires: a container that reader.h accepted: every index is within its table.
 * Work: linear in the size of the file (times its logarithm for names), whatever numbers it contains.
 * Thread-safety: no state.
 * Errors: PRT_E_VERIFY, with section, record or code offset, the instruction's text and the reason;
 *   PRT_E_NOMEM.
 *
 * Graph:
 *   - nodes own their inputs and outputs in order, and buffers their readers; writers, readers and
 *     ends agree in both directions
 *   - rates with phases: the lists of all ends follow one another in RATES; their sums and maxima equal
 *     those of the ends; in each phase pop <= peek and minimum <= maximum of a push; repetitions are
 *     whole cycles of the phases
 *   - depth >= push, peek, initial packets and the packets that `finish` may append
 *   - 2-D windows: odd sizes and a shape; a window that wraps has an end where it wraps; all windows of
 *     a node have the same shape; depth >= the packets that a firing sees and keeps
 *   - repetitions balance for every buffer and every reader with an exact rate; memory_bytes is the sum
 *     over inner buffers
 *   - a buffer with a bounded rate, or that only a finish writes, lies on no cycle of the undirected
 *     graph.  It has room for a firing and a finish of its writer while its readers hold one packet less
 *     than they need.  Neither is required if the container says that its author accepts a stall.
 *   - exact rates cannot deadlock with these depths: for each cycle of buffers, arithmetic or the
 *     certificate shows it; a finish has room for its packets (verify_certificate.h)
 *   - only nodes without inputs stop
 *   - kernels that launch: the interface table agrees with the nodes, and children with their parents;
 *     the bounds of the device queue are recomputed
 *   - arguments and outer ports have distinct names; defaults are values of their type; the argument
 *     block ends with the last argument
 *   - debug information: types are as wide as their parts and their packets; variables lie within the
 *     blocks of their nodes
 *   - each node has exactly one stage; the depths admit the thresholds and batches
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

/* Results of the proof of a scheduler program. */
struct prt_proof {
    uint32_t instructions, guards, runs; /* guards that can hold; `run`s */
    uint32_t stages, static_stages;      /* of the container; of them executed by `run` */
    uint64_t work, work_limit;           /* steps that it took, and might have taken */
};

enum prt_status prt_verify(const struct prt_container *container, struct prt_error *error);

/* As prt_verify, and also reports the results.  For a refused program, only the work counter is
 * filled. */
enum prt_status prt_verify_prove(const struct prt_container *container, struct prt_proof *proof,
                                 struct prt_error *error);

/* Checks that the device has everything that the program needs: memory (device_need.h), local memory for each work-group, entries
 * of the reference table (PRT_E_DEVICE), and the device can be cut as the program does
 * (PRT_E_VERIFY).  CUs are compared with those of the record.  A device with a memory of 0 bytes is
 * one whose memory and local memory are not known.  Requires: prt_verify accepts it. */
enum prt_status prt_verify_device(const struct prt_container *container,
                                  const struct devdesc *device, struct prt_error *error);

/* The two halves of prt_verify. */
enum prt_status prt_verify_graph(const struct prt_container *container, struct prt_error *error);
enum prt_status prt_verify_program(const struct prt_container *container, struct prt_proof *proof,
                                   struct prt_error *error);

#endif
