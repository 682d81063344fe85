/*
 * port_thread: the thread of a port and the scheduler, who sleep until the other has come far enough
 * (runtime/sched/port_thread.c).
 *
 * The scheduler's side: set_allowed, await_moved, prt_port_thread_take (IN_PORT), prt_port_thread_pass,
 * prt_port_thread_reserve and finish_out_port (else), stop_port_thread.  The thread's: sleep_until, wait_for_room,
 * read_source (IN_PORT), write_sink (else), set_moved, end_port_thread.  A chunk is a packet.  Spinning before a sleep
 * and `gather_more_packets`, which ends after some time in any case, are left out: they change nothing that is asked here.
 *
 * The bell of eager ports, on which the scheduler waits for several threads at once, is port_bell.pml.
 *
 * `allowed` and `wanted`, `moved` and `awaited` are written by one side and read by the other in opposite order: all four
 * accesses are sequentially consistent.  The twins WEAK_* let one of these stores be seen after the load behind it, which
 * is what a processor with store buffers does where the order is less than that.
 *
 * Holds: everybody is woken whose turn it is; packets arrive in order, and whole; no cell of the ring is written before
 * the packet in it has been taken; a sink that fails, a source that ends and a run that ends early stop both sides.
 *
 * run: IN_PORT
 * twin: WEAK_ALLOW           `wanted` is read before `allowed` is seen to be written
 * twin: WEAK_MOVE            the same of `moved` and `awaited`
 * twin: WEAK_WANTED          the thread reads `allowed` before `wanted` is seen to be written
 * twin: WEAK_AWAITED         the same of `moved` and `awaited`, by the scheduler
 * twin: IN_PORT,WEAK_ALLOW
 * twin: IN_PORT,WEAK_MOVE
 * twin: IN_PORT,WEAK_WANTED
 * twin: IN_PORT,WEAK_AWAITED
 * twin: SIGNAL_UNLOCKED      signal_other does not take the mutex
 * twin: STOP_UNSIGNALLED     stop does not wake the thread
 * twin: END_UNSIGNALLED      a sink that fails does not wake the scheduler
 * twin: RESERVE_LESS         prt_port_thread_reserve waits for one packet less
 * twin: MOVE_EARLY           a packet counts as taken before the sink has seen it
 * twin: IN_PORT,RING_OF_ONE  the ring has room for one chunk, and a full one is waited for to have room for two
 */
#include "posix.inc"

#define PACKETS 5
#ifdef RING_OF_ONE
#define RING 1
#else
#define RING 3
#endif
#define NEVER 255

byte cell[RING] /* the packet's number, and 1 */
byte moved, allowed, wanted = NEVER, awaited = NEVER
bool stopping, over, ended
bool to_thread, to_scheduler /* conditions */
byte taken

#ifdef SIGNAL_UNLOCKED
#define SIGNAL_OTHER(condition) SIGNAL(condition)
#else
#define SIGNAL_OTHER(condition) LOCK; SIGNAL(condition); UNLOCK
#endif

inline set_allowed(to)
{
#ifdef WEAK_ALLOW
    far = wanted;
    allowed = to;
#else
    allowed = to;
    far = wanted;
#endif
    if
    :: to >= far -> SIGNAL_OTHER(to_thread)
    :: else
    fi
}

inline set_moved(to)
{
#ifdef WEAK_MOVE
    far = awaited;
    moved = to;
#else
    moved = to;
    far = awaited;
#endif
    if
    :: to >= far -> SIGNAL_OTHER(to_scheduler)
    :: else
    fi
}

inline end_thread()
{
    over = true;
#ifndef END_UNSIGNALLED
    SIGNAL_OTHER(to_scheduler)
#endif
}

inline await_moved(to)
{
    if
    :: moved >= to || over
    :: else ->
        LOCK;
#ifdef WEAK_AWAITED
        if
        :: moved >= to || over -> awaited = to
        :: else -> awaited = to; WAIT(to_scheduler)
        fi;
#else
        awaited = to;
#endif
        do
        :: moved >= to || over -> break
        :: else -> WAIT(to_scheduler)
        od;
        awaited = NEVER;
        UNLOCK
    fi
}

inline sleep_until(to)
{
    LOCK;
#ifdef WEAK_WANTED
    if
    :: allowed >= to || stopping -> wanted = to
    :: else -> wanted = to; WAIT(to_thread)
    fi;
#else
    wanted = to;
#endif
    do
    :: allowed >= to || stopping -> break
    :: else -> WAIT(to_thread)
    od;
    wanted = NEVER;
    UNLOCK
}

#ifdef IN_PORT

/* read_source */
active proctype thread()
{
    byte at, far;
    do
    :: at = moved;
        if
        :: allowed < at + 1 -> sleep_until(at + 2)
        :: else
        fi;
        if
        :: stopping -> break
        :: else
        fi;
        if /* a source may have its next packet only when somebody has seen the ones before */
        :: true -> taken == at || stopping
        :: true
        fi;
        if
        :: at == PACKETS -> end_thread(); break
        :: else -> assert(allowed > at && at - taken < RING); cell[at % RING] = at + 1
        fi;
        set_moved(at + 1)
    od;
    ended = true
}

active proctype scheduler()
{
    byte there, far;
    do
    :: set_allowed(taken + RING);
        await_moved(taken + 1);
        there = moved - taken;
        if
        :: there == 0 -> assert(taken == PACKETS); break
        :: else
        fi;
        do
        :: there > 0 -> assert(cell[taken % RING] == taken + 1); taken++; there--
        :: else -> break
        od
    :: break /* the run ends early */
    od;
    stopping = true;
#ifndef STOP_UNSIGNALLED
    SIGNAL_OTHER(to_thread);
#endif
    ended
}

#else

/* write_sink */
active proctype thread()
{
    byte at, far, to;
    do
    :: at = moved;
        sleep_until(at + 1);
        to = allowed;
        if
        :: to == at -> break
        :: else
        fi;
#ifdef MOVE_EARLY
        set_moved(to);
#endif
        do
        :: taken < to -> assert(cell[taken % RING] == taken + 1); taken++
        :: else -> break
        od;
        if
        :: end_thread(); break /* the sink has failed */
        :: true
        fi;
#ifndef MOVE_EARLY
        set_moved(to)
#endif
    od;
    ended = true
}

active proctype scheduler()
{
    byte written, far, room;
    do
    :: written < PACKETS && !over ->
        if
#ifdef RESERVE_LESS
        :: written + 1 > RING -> room = written - RING; await_moved(room)
#else
        :: written + 1 > RING -> room = written + 1 - RING; await_moved(room)
#endif
        :: else
        fi;
        cell[written % RING] = written + 1;
        written++;
        set_allowed(written)
    :: break
    od;
    await_moved(allowed);
    assert(over || moved == written);
    stopping = true;
#ifndef STOP_UNSIGNALLED
    SIGNAL_OTHER(to_thread);
#endif
    ended
}

#endif
