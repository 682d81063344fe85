/*
 * fifo: one writer, two readers, which may detach (core/fifo.h, fifo.c).
 *
 * The scheduler's thread claims, commits, releases and detaches (core_fifo_claim, core_fifo_commit, core_fifo_release,
 * core_fifo_detach, core_fifo_leave_oldest, find_oldest); kernels on threads of their own touch the packets of their windows, one by one, between
 * the launch and the completion.  A writer may append less than has been claimed, as where rates are bounded.
 *
 * Holds: each reader finds every packet up to where it detaches, in order and whole; nothing of a window is written
 * while somebody holds it; the writer is never left waiting for a reader that has gone; counts are what they should be.
 *
 * twin: OLDEST_OF_LAST  core_fifo_release takes whoever has released for the slowest reader, as if there were one
 * twin: OLDEST_UNCOUNTED  the first of the slowest readers that moves on frees the room, though another is as slow
 * twin: COMMIT_EARLY    packets are committed when the writer is launched
 * twin: RELEASE_EARLY   room is freed when a reader is launched
 * twin: DETACH_KEEPS    core_fifo_detach leaves the oldest packet where it is
 * twin: DETACH_UNCOUNTED  a reader that goes is still counted as one of the slowest
 */
#define PACKETS 5
#define DEPTH 2 /* and cells of the ring: the tightest */
#define READERS 2

byte cell[DEPTH] /* the packet's number, and 1 */
byte written, claimed, oldest, oldest_count = READERS
byte position[READERS]
bool attached[READERS] = true
byte high_water

chan write_launch = [1] of { byte, byte } /* first, packets */
chan write_done = [1] of { byte }         /* packets appended */
chan read_launch[READERS] = [1] of { byte, byte }
chan read_done[READERS] = [1] of { bit }

active proctype writer_kernel()
{
    byte first, count, i;
end:
    do
    :: write_launch?first, count ->
        i = 0;
        do
        :: i < count -> cell[(first + i) % DEPTH] = first + i + 1; i++
        :: i > 0 -> break /* bounded rates: 1 at least */
        od;
        write_done!i
    od
}

active [READERS] proctype reader_kernel()
{
    byte first, count, i;
    byte me = _pid - 1;
end:
    do
    :: read_launch[me]?first, count ->
        i = 0;
        do
        :: i < count -> assert(cell[(first + i) % DEPTH] == first + i + 1); i++
        :: else -> break
        od;
        read_done[me]!0
    od
}

#define HAS_ALL(reader) (!attached[reader] || position[reader] == PACKETS)

inline find_oldest()
{
    oldest = written;
    oldest_count = 0;
    k = 0;
    do
    :: k < READERS && attached[k] && position[k] <= oldest ->
        oldest_count = (position[k] < oldest -> 1 : oldest_count + 1);
        oldest = position[k];
        k++
    :: k < READERS && !(attached[k] && position[k] <= oldest) -> k++
    :: k == READERS -> break
    od
}

inline leave_oldest()
{
    oldest_count--;
    if
    :: oldest_count == 0 -> find_oldest()
    :: else
    fi
}

inline commit(count)
{
    written = written + count;
    claimed = 0;
    if
    :: !attached[0] && !attached[1] -> oldest = written
    :: else
    fi;
    high_water = (written - oldest > high_water -> written - oldest : high_water);
    assert(high_water <= DEPTH)
}

inline release(reader, count)
{
    was_oldest = position[reader] == oldest;
    position[reader] = position[reader] + count;
#if defined OLDEST_OF_LAST
    oldest = position[reader];
#elif defined OLDEST_UNCOUNTED
    if
    :: was_oldest -> oldest = position[reader]
    :: else
    fi;
#else
    if
    :: was_oldest -> leave_oldest()
    :: else
    fi;
#endif
    assert(oldest <= position[reader])
}

/* A reader may go while it reads nothing. */
inline detach(reader)
{
    attached[reader] = false;
#if defined DETACH_UNCOUNTED
    if
    :: !attached[0] && !attached[1] -> find_oldest()
    :: else
    fi
#elif !defined DETACH_KEEPS
    if
    :: position[reader] == oldest -> leave_oldest()
    :: else
    fi
#endif
}

active proctype scheduler()
{
    byte count, k;
    bool was_oldest;
    bool writing;
    bool reading[READERS];
    byte first[READERS], taken[READERS];
    do
    :: atomic { !writing && written < PACKETS && DEPTH - (written - oldest) - claimed > 0 ->
        select (count : 1 .. 2);
        if
        :: count > DEPTH - (written - oldest) -> count = DEPTH - (written - oldest)
        :: else
        fi;
        if
        :: count > PACKETS - written -> count = PACKETS - written
        :: else
        fi;
        claimed = count;
        writing = true;
        write_launch!written, count;
#ifdef COMMIT_EARLY
        commit(count)
#endif
        }
    :: atomic { write_done?count ->
        writing = false;
#ifndef COMMIT_EARLY
        commit(count)
#endif
        }
    :: atomic { !reading[0] && attached[0] && written > position[0] -> k = 0; goto read }
    :: atomic { !reading[1] && attached[1] && written > position[1] -> k = 1;
read:
        taken[k] = written - position[k];
        if
        :: taken[k] > 1 -> taken[k] = 1
        :: true
        fi;
        reading[k] = true;
        read_launch[k]!position[k], taken[k];
#ifdef RELEASE_EARLY
        if
        :: k == 0 -> release(0, taken[0])
        :: else -> release(1, taken[1])
        fi
#endif
        }
    :: atomic { read_done[0]?_ -> reading[0] = false;
#ifndef RELEASE_EARLY
        release(0, taken[0])
#endif
        }
    :: atomic { read_done[1]?_ -> reading[1] = false;
#ifndef RELEASE_EARLY
        release(1, taken[1])
#endif
        }
    :: atomic { attached[0] && !reading[0] -> detach(0) }
    :: atomic { attached[1] && !reading[1] -> detach(1) }
    :: atomic { written == PACKETS && !writing && !reading[0] && !reading[1] && HAS_ALL(0) && HAS_ALL(1) -> break }
    od;
    assert(oldest == PACKETS)
}
