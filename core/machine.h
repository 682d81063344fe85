/* SPDX-License-Identifier: MIT */
/*
 * machine: executes the program of a run (lang/scheduler.md) until it needs the host.
 *
 *     enum core_outcome outcome;
 *     while ((outcome = core_resume(c, environment)) != CORE_OVER)
 *         ...do what the outcome asks for
 *
 * No instruction calls the host.  Where it needs the host it leaves its progress in the block and the machine returns; the
 * next call goes on from there:
 *
 *     DRAIN           out-ports hold packets: the host takes them out of core_take_undrained, one after the other, and
 *                     releases what they hold.  If it wants no more of one, it calls core_leave_port
 *     FILL            fill the in-port `request_buffer` until it is full or its stream has ended, and tell its readers
 *                     (core_readers_changed)
 *     FILL_ALL        no stage can go on: fill all in-ports that are at hand as far as they have room
 *     TAKE            take the packets that have arrived at eager in-ports, and set the room of eager out-ports
 *     WAIT_FOR_PORTS  no stage can go on: wait for eager ports; `answer`: packets, an end or room may have arrived
 *     ASKED           `asked` is set; clear it
 *     OVER            the run has ended, and nothing is in flight: `failure` says how.  CORE_HAS_HALTED: by `halt`, so that
 *                     packets that are left over can be counted
 *
 * A host that fails to do what it is asked for calls core_fail (CORE_STOPPED) and goes on until OVER.  So a caller that
 * must not block (a callback for sound, the push of a packet) resumes until the outcome is one that it cannot serve now,
 * and comes back later.
 *
 * Thread-safety: one thread at a time.  Allocation: none.
 */
#ifndef CORE_MACHINE_H
#define CORE_MACHINE_H

#include "core/environment.h"
#include "core/outcome.h"

/* Begins at that instruction, the first one after the prologue.  The cycles of those before it have been counted. */
void core_begin(struct core *c, uint32_t instruction);

enum core_outcome core_resume(struct core *c, const struct core_environment *environment);

/* Instead of the program: the next call fires that stage once and waits for it.  After OVER, `answer`: it was ready. */
void core_begin_firing(struct core *c, uint32_t stage);

/* Does no call do anything any more?  Not after the OVER of a single firing. */
bool core_has_ended(const struct core *c);

/* Is the instruction one that the machine executes?  The host executes the others, those of the prologue. */
bool core_executes(uint32_t opcode);

#endif
