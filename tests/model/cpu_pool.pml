/*
 * cpu_pool: workers that answer calls, serve lines, sleep, are woken and end (runtime/backend/cpu/cpu_pool.c).
 *
 * The caller's thread, which is worker 0, and one of the pool's, or two (THREE).  It calls all for a job of four chunks,
 * gives one that is for worker 1 alone (a line with a place) and perhaps one that is for all, waits for both
 * (prt_cpu_pool_wait), calls once more, and stops the pool; THREE: nothing but a call, of three chunks.  Modelled are
 * execute_with_all, hand_out, answer_call, execute_share, execute_others, take_claim, piece_chunks, await_owners,
 * count_chunks, join_call, line_up_cpu_job, release_cpu_job, end_cpu_job, leave_line, take_ready, await_event, serve_lines,
 * cpu_worker_main, prt_cpu_pool_wait and prt_cpu_pool_stop.  What depends on time is drawn: how long somebody spins, how
 * long owners are waited for, whether work is worth waking others.
 *
 * Holds: each chunk is executed once, while its job is the call's; the caller goes on when all chunks are done, and when
 * the lines are; whoever is to be woken is; a line that looks empty is at rest; all threads end.
 *
 * run: THREE
 * twin: NO_NUMBER         take_claim does not compare the number of the call
 * twin: CLAIM_SPLIT       take_claim reads and writes the word in two steps
 * twin: OBJECT_FIRST      cpu_worker_main reads the call's object before its number
 * twin: COUNT_FIRST       chunks are counted before they are executed
 * twin: WEAK_SLEEPS       chunks_done is read before caller_sleeps is seen to be written (a store buffer)
 * twin: WEAK_COUNT        caller_sleeps is read before chunks_done is seen to be written
 * twin: COUNT_UNLOCKED    count_chunks wakes the caller without the mutex
 * twin: SLEEP_UNCHECKED   await_event does not look again once it has the mutex
 * twin: NO_TELL           release_cpu_job changes no event
 * twin: NO_BROADCAST      nobody is woken for a job that the caller cannot execute
 * twin: SLEEPERS_LATE     a sleeper is counted after it has slept
 * twin: LEAVE_EARLY       end_cpu_job leaves the line before it is done with it
 * twin: LAST_LEFT         the last chunk of a share is left to its owner, for however long that is stopped
 * twin: STOP_UNTOLD       prt_cpu_pool_stop wakes nobody
 */
#ifdef THREE
#define WORKERS 3
#define CHUNKS 3
#define FIRST_CHUNK(w) (w)
#else
#define WORKERS 2
#define CHUNKS 4
#define FIRST_CHUNK(w) (2 * (w))
#endif

bit mutex
bool asleep[WORKERS] /* on `changed` */
#define LOCK atomic { !mutex -> mutex = 1 }
#define UNLOCK mutex = 0
#ifdef THREE
#define BROADCAST atomic { asleep[0] = false; asleep[1] = false; asleep[2] = false }
#define ALL_CLAIMED(c) (CLAIMED(0, c) && CLAIMED(1, c) && CLAIMED(2, c))
#else
#define BROADCAST atomic { asleep[0] = false; asleep[1] = false }
#define ALL_CLAIMED(c) (CLAIMED(0, c) && CLAIMED(1, c))
#endif
#define WAIT(w) atomic { mutex = 0; asleep[w] = true }; atomic { !asleep[w] && !mutex -> mutex = 1 }

byte chunks_done, chunks_before, events, sleepers
bool caller_sleeps, stopping
byte share_call[WORKERS], share_next[WORKERS], share_end[WORKERS] /* one word */
byte object[WORKERS] /* of the call: numbered as that is, here */
byte unfinished, line_jobs[2] /* of the line of worker 1, of that of all */
bool ready[2], at_work[2] /* not of the code: end_cpu_job works on the line */
byte ended

/* not of the code: what the tables say, and what has been executed */
byte job_now
byte executed[2 * CHUNKS] /* by call and chunk */
byte line_executed[2]

/* So many chunks from that one on, of what the worker takes for the call's object. */
inline execute(c)
{
    do
    :: pieces > 0 ->
        atomic { assert(job_now == c && job == c); executed[(c - 1) * CHUNKS + chunk]++ }
        atomic { assert(job_now == c && executed[(c - 1) * CHUNKS + chunk] == 1); chunk++; pieces-- }
    :: else -> break
    od
}

#ifdef NO_NUMBER
#define OF_CALL(w, c) true
#else
#define OF_CALL(w, c) (share_call[w] == c)
#endif

/* Of what is left of a share an owner takes most, others half. */
#define LEFT(o) (share_end[o] - share_next[o])
#define PIECE(o, own) (own -> LEFT(o) - LEFT(o) / 4 : LEFT(o) / 2)

/* Of worker `o`: a comparison and exchange of the word. */
inline claim(o, c, own)
{
#ifdef CLAIM_SPLIT
    if
    :: OF_CALL(o, c) -> chunk = share_next[o]; pieces = PIECE(o, own); share_next[o] = chunk + pieces
    :: else -> pieces = 0
    fi
#else
    atomic {
        if
        :: OF_CALL(o, c) -> chunk = share_next[o]; pieces = PIECE(o, own); share_next[o] = chunk + pieces
        :: else -> pieces = 0
        fi
    }
#endif
}

inline count_chunks()
{
    if
    :: count > 0 ->
#ifdef WEAK_COUNT
        seen_sleeps = caller_sleeps;
        chunks_done = chunks_done + count;
#else
        chunks_done = chunks_done + count;
        seen_sleeps = caller_sleeps;
#endif
        count = 0;
        if
        :: seen_sleeps ->
#ifdef COUNT_UNLOCKED
            BROADCAST
#else
            LOCK;
            BROADCAST;
            UNLOCK
#endif
        :: else
        fi
    :: else
    fi
}

inline execute_share(o, c, own)
{
    do
    :: claim(o, c, own);
        if
        :: pieces == 0 -> break
        :: else
        fi;
#ifdef COUNT_FIRST
        count = pieces;
        count_chunks();
        execute(c)
#else
        count = count + pieces;
        execute(c)
#endif
    od
}

#define CLAIMED(o, c) (share_call[o] != c || share_next[o] >= share_end[o])

inline answer_call(w, c)
{
    answered = c;
    execute_share(w, c, true);
    execute_share((w + 1) % WORKERS, c, false);
#ifdef THREE
    execute_share((w + 2) % WORKERS, c, false);
#endif
    count_chunks();
#ifndef LAST_LEFT
    if
    :: ALL_CLAIMED(c)
    :: execute_share((w + 1) % WORKERS, c, true); /* patience has ended */
#ifdef THREE
        execute_share((w + 2) % WORKERS, c, true);
#endif
        count_chunks()
    fi
#endif
}

/* The job of line l, with the mutex held, and again on return: execute_chunk_at, end_cpu_job. */
inline execute_chunk_at(l)
{
    ready[l] = false;
    UNLOCK;
    line_executed[l]++;
    LOCK;
#ifdef LEAVE_EARLY
    line_jobs[l]--;
    unfinished--;
    at_work[l] = true;
    at_work[l] = false;
#else
    at_work[l] = true;
    at_work[l] = false;
    line_jobs[l]--;
    unfinished--;
#endif
    events++;
    if
    :: sleepers > 0 -> BROADCAST
    :: else
    fi
}

/* With the mutex held; `held` says whether it is still. */
inline await_event(w)
{
    UNLOCK;
    if
    :: share_call[w] != answered || events != seen -> held = false
    :: true ->
        LOCK;
        held = true;
        if
#ifndef SLEEP_UNCHECKED
        :: events != seen || share_call[w] != answered
#endif
#ifdef SLEEPERS_LATE
        :: else -> WAIT(w); sleepers++; sleepers--
#else
        :: else -> sleepers++; WAIT(w); sleepers--
#endif
        fi
    fi
}

active [WORKERS - 1] proctype worker()
{
    byte me = _pid + 1;
    byte answered, now, job, seen, chunk, pieces, count;
    bool seen_sleeps, held, called;
    do
    :: if
        :: share_call[me] == answered || unfinished > 0 ->
            LOCK;
            if
            :: stopping -> UNLOCK; break
            :: else
            fi;
            called = share_call[me] != answered;
            held = true;
            seen = events;
            if
            :: ready[0] && me == 1 -> execute_chunk_at(0); called = false
            :: !(ready[0] && me == 1) && ready[1] -> execute_chunk_at(1); called = false
            :: else ->
                if
                :: !called -> await_event(me)
                :: else
                fi
            fi;
            if
            :: held -> UNLOCK
            :: else
            fi;
            if
            :: !called -> goto again
            :: else
            fi
        :: else
        fi;
#ifdef OBJECT_FIRST
        job = object[me];
        now = share_call[me];
#else
        now = share_call[me];
        job = object[me]; /* the next call's, perhaps: then nothing is left of this one */
#endif
        answer_call(me, now);
again:
        skip
    od;
    ended++
}

/* hand_out, to one worker. */
inline share(w, c)
{
    object[w] = c;
    atomic { share_call[w] = c; share_next[w] = FIRST_CHUNK(w); share_end[w] = FIRST_CHUNK(w + 1) }
}

#define ALL_COUNTED (chunks_done - chunks_before == CHUNKS)

inline execute_with_all(c)
{
    job_now = c;
    job = c;
    chunks_before = chunks_done;
#ifdef THREE
    share(2, c);
#endif
    share(1, c);
    share(0, c);
    if
    :: LOCK; BROADCAST; UNLOCK /* enough has been missed */
    :: skip
    fi;
    answer_call(0, c);
    /* join_call */
    if
    :: ALL_COUNTED
    :: !ALL_COUNTED ->
        LOCK;
#ifdef WEAK_SLEEPS
        if
        :: !ALL_COUNTED -> caller_sleeps = true; WAIT(0)
        :: else
        fi;
#else
        caller_sleeps = true;
#endif
        do
        :: !ALL_COUNTED -> WAIT(0)
        :: else -> break
        od;
        caller_sleeps = false;
        UNLOCK
    fi;
    assert(executed[c * CHUNKS - 1] == 1 && executed[c * CHUNKS - 2] == 1 && executed[c * CHUNKS - 3] == 1);
    assert(executed[(c - 1) * CHUNKS] == 1);
    job_now = 0 /* the tables are the next job's from now on */
}

/* line_up_cpu_job, release_cpu_job; the line is empty. */
inline line_up_cpu_job(l)
{
    LOCK;
    line_jobs[l]++;
    unfinished++;
    ready[l] = true;
#ifndef NO_TELL
    events++;
#endif
    if
#ifndef NO_BROADCAST
    :: l == 0 -> BROADCAST
#else
    :: l == 0
#endif
    :: l == 1 -> BROADCAST
    :: l == 1
    fi;
    UNLOCK
}

active proctype caller()
{
    byte answered, seen, job, chunk, pieces, count;
    bool seen_sleeps, held;
    execute_with_all(1);
#ifndef THREE
    line_up_cpu_job(0);
    if
    :: line_up_cpu_job(1)
    :: line_executed[1]++ /* there is none */
    fi;
    if /* another one is given: the line is used without the mutex if it is empty */
    :: line_jobs[0] == 0 -> assert(!at_work[0])
    :: skip
    fi;
    LOCK;
    do
    :: seen = events;
        if
        :: unfinished == 0 -> break
        :: else
        fi;
        if
        :: ready[1] -> execute_chunk_at(1)
        :: else ->
            await_event(0);
            if
            :: !held -> LOCK
            :: else
            fi
        fi
    od;
    UNLOCK;
    assert(line_executed[0] == 1 && line_executed[1] == 1);
    execute_with_all(2);
#endif
    LOCK;
    stopping = true;
#ifndef STOP_UNTOLD
    events++;
    BROADCAST;
#endif
    UNLOCK;
    ended == WORKERS - 1
}
