/*
 * stall: when a run that can go on no more has ended, and when it has stalled (core).
 *
 *     p (in-port) -> A -> m -> B -> out        B also writes f, which A reads: a circle
 *
 * The scheduler's program is the one that selects among ready stages: ends, select, dispatch, wait, halt (core_ends,
 * core_can_never_fire, select_if_ready, ready_firing_count, core_close, complete_batch, writer_changed, execute_wait, is_stuck,
 * prt_inport_end, execute_halt).  The device ends launches in any order and at any time.  A's threshold is drawn, 1 or
 * 2; a firing of B brings 0 or 1 packets to f, of which there are 0, 1 or 2 at first: whether the circle runs dry is known
 * at run time only.  The host has up to three packets for p, and then its end, which nobody knows before asking.
 *
 * Holds: the program comes to its halt, with nothing in flight, and no stage could go on there; it says that the run has
 * stalled if and only if A is left with as many packets as p has room for, or more: then nobody knows of an end.  With
 * fewer the stream is over, and they are left over.  So the verdict follows from the streams and the depths alone.
 *
 * A stage that nobody looks at again, though packets or room have come, is looked at when thresholds are waived: that
 * costs time and changes no verdict, so there is no twin of it.
 *
 * twin: NO_WAIVER        thresholds are never waived
 * twin: WAIVER_UNTOLD    when they are, stages that have been looked at are not looked at again
 * twin: HALT_IN_FLIGHT   wait does not look whether something is in flight
 * twin: NO_END_ASKED     the host is not asked whether its stream is over (prt_inport_end)
 * twin: END_KEPT         a stage that has ended leaves its outputs open
 */
#define DEPTH 2 /* of p, m and f */
#define A 0
#define B 1

byte host /* packets that it still has */
byte p, m, f /* packets held */
byte m_claimed, f_claimed
bool p_closed, m_closed, f_closed, m_left, f_left /* its reader has gone */
byte threshold

bool settled[2], ended[2], in_flight[2]
byte batch[2]
byte flying
bool waiver, end_propagated, ends_due = true, found_none
byte appended /* by B's batch, to f */

chan launch[2] = [1] of { bit }
chan done[2] = [1] of { bit }

active [2] proctype device()
{
    byte me = _pid;
end:
    do
    :: launch[me]?_ -> done[me]!0
    od
}

#define LESS(a, b) ((a) < (b) -> (a) : (b))
#define FULL_P (p_closed -> p : DEPTH) /* an open in-port counts as full */
#define ROOM_M (m_left -> DEPTH : DEPTH - m - m_claimed)
#define ROOM_F (f_left -> DEPTH : DEPTH - f - f_claimed)
#define ADMITS_A LESS(LESS(FULL_P, f), ROOM_M)
#define ADMITS_B LESS(m, ROOM_F)
/* Fewer than the threshold are no reason to fire, unless it is waived or an input will bring no more. */
#define READY_A (ADMITS_A >= threshold || waiver || p_closed || f_closed -> ADMITS_A : 0)
#define LOOKABLE(s) (!settled[s] && !in_flight[s] && !ended[s])

/* prt_inport_fill: a packet, or the end of the stream. */
inline fill_p()
{
    if
    :: host > 0 -> host--; p++
    :: host == 0 -> p_closed = true; ends_due = true; end_propagated = true
    fi;
    settled[A] = false
}

inline end_stage(s)
{
    ended[s] = true;
    end_propagated = true;
    ends_due = true;
#ifndef END_KEPT
    if
    :: s == A -> m_closed = true; settled[B] = false
    :: s == B -> f_closed = true; settled[A] = false
    fi;
#endif
    if /* what it has not read is discarded */
    :: s == A -> f = 0; f_left = true; settled[B] = false
    :: s == B -> m = 0; m_left = true; settled[A] = false
    fi
}

#define NEVER_A ((p_closed && p == 0) || (f_closed && f == 0))
#define NEVER_B (m_closed && m == 0)

inline ends()
{
    do
    :: ends_due ->
        ends_due = false;
        if
        :: !in_flight[A] && !ended[A] && NEVER_A -> end_stage(A)
        :: else
        fi;
        if
        :: !in_flight[B] && !ended[B] && NEVER_B -> end_stage(B)
        :: else
        fi
    :: else -> break
    od
}

/* look_at: what a selection would dispatch, after the host has filled what that needs. */
inline look_at_a()
{
    do
    :: found = READY_A;
        if
        :: found > 0 && !p_closed && p < found -> fill_p()
        :: else -> break
        fi
    od;
    settled[A] = found == 0
}

inline dispatch(s)
{
    waiver = false;
    batch[s] = found;
    if
    :: s == A -> m_claimed = found
    :: s == B -> f_claimed = found
    fi;
    in_flight[s] = true;
    flying++;
    launch[s]!0
}

/* complete: windows are freed, packets become visible. */
inline complete(s)
{
    in_flight[s] = false;
    flying--;
    settled[s] = false;
    if
    :: s == A ->
        p = p - batch[A];
        f = f - batch[A];
        m_claimed = 0;
        m = (m_left -> 0 : m + batch[A]);
        settled[B] = false; /* packets have come to m, room to f */
        if
        :: p_closed || f_closed -> ends_due = true
        :: else
        fi
    :: s == B ->
        select (appended : 0 .. 2);
        appended = LESS(appended, batch[B]);
        m = m - batch[B];
        f_claimed = 0;
        f = (f_left -> 0 : f + appended);
        settled[A] = false; /* packets to f, room to m */
        if
        :: m_closed -> ends_due = true
        :: else
        fi
    fi
}

#define IS_STUCK (!(LOOKABLE(A) && READY_A > 0) && !(LOOKABLE(B) && ADMITS_B > 0))

active proctype scheduler()
{
    byte found;
    bool stalled;
    atomic {
        select (host : 0 .. 3);
        select (threshold : 1 .. 2);
        select (f : 0 .. 2)
    }
again:
    atomic { ends() }
    atomic {
        found = 0;
        if
        :: LOOKABLE(A) -> look_at_a()
        :: else
        fi;
        if
        :: found > 0 -> dispatch(A); goto again
        :: else
        fi;
        if
        :: LOOKABLE(B) -> found = ADMITS_B; settled[B] = found == 0
        :: else
        fi;
        if
        :: found > 0 -> dispatch(B); goto again
        :: else -> found_none = true
        fi
    }
#ifndef HALT_IN_FLIGHT
    if
    :: flying > 0 ->
        end_propagated = false;
        found_none = false;
        if
        :: atomic { done[A]?_ -> complete(A) }
        :: atomic { done[B]?_ -> complete(B) }
        fi;
        goto again
    :: else
    fi;
#endif
    atomic {
#ifndef NO_END_ASKED
        if
        :: waiver && IS_STUCK ->
            do /* as far as there is room */
            :: !p_closed && !ended[A] && p < DEPTH -> fill_p()
            :: else -> break
            od
        :: else
        fi;
#endif
        if
        :: end_propagated -> end_propagated = false; waiver = false; goto again
        :: else
        fi;
#ifndef NO_WAIVER
        if
        :: found_none && !waiver ->
            waiver = true;
#ifndef WAIVER_UNTOLD
            settled[A] = false;
            settled[B] = false;
#endif
            goto again
        :: else
        fi
#endif
    }
    /* halt: what could go on has not been asked, or a stage that has ended has not been told so */
    assert(flying == 0);
    assert(ended[A] || (ADMITS_A == 0 && !NEVER_A));
    assert(ended[B] || (ADMITS_B == 0 && !NEVER_B));
    stalled = (!ended[A] && ((FULL_P > 0 && f > 0) || !p_closed)) || (!ended[B] && m > 0);
    assert(!ended[A] || ended[B]);
    assert(stalled == (!ended[A] && p + host >= DEPTH))
}
