/*
 * port_bell: the scheduler waits for the threads of several eager in-ports at once, and for a time
 * (runtime/sched/port_thread.c and live_port.c).
 *
 * The scheduler's side: prt_live_wait, find_time, prt_port_threads_await and prt_port_thread_take.  The threads': bring,
 * move, end.  Here a source has its next packet only after the scheduler has taken the one before.  The ports are on their
 * own: the second stream may begin before the first one, after it, or never.
 *
 * The bell's `awaited` and the `moved` of each thread are written by one side and read by the other in opposite order: all
 * are sequentially consistent.  The twins WEAK_* let one of these stores be seen after the load behind it.
 *
 * Holds: whichever thread brings a packet or ends wakes the scheduler, so everything is taken; no port waits for another one;
 * packets that rest are taken when their time has come, although no thread rings then.
 *
 * run: REST
 * twin: WEAK_MOVE            `awaited` is read before `moved` is seen to be written
 * twin: WEAK_AWAITED         the scheduler reads `moved` before `awaited` is seen to be written
 * twin: RING_UNLOCKED        ring does not take the mutex
 * twin: END_SILENT           a stream that ends does not ring
 * twin: FIRST_PORT           the scheduler waits for the first port only
 * twin: REST,TIMELESS        the time of packets that rest is looked up before the wait only
 */
#include "posix.inc"

#define PORTS 2
#define PACKETS 2

byte moved[PORTS], taken[PORTS]
bool over[PORTS], heard[PORTS]
bool awaited
bool rung /* condition */
#ifdef REST
bool resting[PORTS] /* seen by the scheduler, which has set a time for it */
#endif

#ifdef RING_UNLOCKED
#define RING SIGNAL(rung)
#else
#define RING LOCK; SIGNAL(rung); UNLOCK
#endif

inline move()
{
#ifdef WEAK_MOVE
    far = awaited;
    moved[port]++;
#else
    moved[port]++;
    far = awaited;
#endif
    if
    :: far -> RING
    :: else
    fi
}

/* bring */
proctype thread(byte port)
{
    bool far;
    do
    :: moved[port] < PACKETS ->
        taken[port] == moved[port];
        if
        :: port == 0 -> taken[1] > 0 || over[1] /* it answers the other one */
        :: true
        fi;
        move()
    :: break
    od;
    over[port] = true;
#ifndef END_SILENT
    RING
#endif
}

#define ARRIVED(port) (moved[port] > taken[port] || (over[port] && !heard[port]))
#ifdef FIRST_PORT
#define COME (ARRIVED(0) || (heard[0] && ARRIVED(1)))
#else
#define COME (ARRIVED(0) || ARRIVED(1))
#endif

#ifdef REST
/* A packet that is not the last one of its stream rests, until the time that was set. */
#define READY(port) (over[port] && ARRIVED(port))
#define TIMED (resting[0] || resting[1])
inline look()
{
    resting[0] = moved[0] > taken[0];
    resting[1] = moved[1] > taken[1]
}
#endif

inline await_ports()
{
    LOCK;
#ifdef REST
    awaited = true;
    look();
    do
    :: READY(0) || READY(1) -> break
    :: else ->
        if
        :: TIMED -> break /* the time has come */
        :: else -> WAIT(rung)
        fi;
#ifndef TIMELESS
        look()
#endif
    od;
#else
#ifdef WEAK_AWAITED
    if
    :: COME -> awaited = true
    :: else -> awaited = true; WAIT(rung)
    fi;
#else
    awaited = true;
#endif
    do
    :: COME -> break
    :: else -> WAIT(rung)
    od;
#endif
    awaited = false;
    UNLOCK
}

inline take(port)
{
    if
    :: ARRIVED(port) ->
        if
        :: moved[port] > taken[port] -> taken[port] = moved[port]
        :: else -> heard[port] = true
        fi
    :: else
    fi
}

active proctype scheduler()
{
    run thread(0);
    run thread(1);
    do
    :: heard[0] && heard[1] -> break
    :: else -> await_ports(); take(0); take(1)
    od;
    assert(taken[0] == moved[0] && taken[1] == moved[1])
}
