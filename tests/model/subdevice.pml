/*
 * subdevice: reference counts of sub-devices, handles, and slots that are used again (model/subdevice.c).
 *
 * A tree of a root and three slots.  Three threads each own a reference of one sub-device of the root; each does one of:
 * nothing, attach and detach (a queue), make a sub-device of it and release that one; then each releases its reference,
 * and calls again with the handle, which then names nothing, or what others still hold, or a slot that is another
 * device's by then (find, find_existing, take_slot, free_slot, collect, retain_locked, release_locked, attach_locked,
 * detach_locked, create_locked).
 *
 * Holds: a handle that is accepted, also by a query after its release, names the device that it was made for; a device stays while it has a reference, a
 * sub-device or an attachment; no slot is freed twice; in the end the root alone is left.
 *
 * twin: NO_GENERATION       find_existing does not compare generations
 * twin: FREE_WITH_CHILDREN  collect does not look at child_count
 * twin: FREE_ATTACHED       collect does not look at attachment_count
 * twin: PARENTS_LEFT        collect does not go on to the parent
 * twin: UNLOCKED            nobody takes the mutex
 */
#define SLOTS 4
#define NONE 255
#define THREADS 3

byte generation[SLOTS] = 1
bool occupied[SLOTS]
byte references[SLOTS], children[SLOTS], attachments[SLOTS], parent[SLOTS]
byte live
byte identity[SLOTS] /* not of the code: which device it is, a number used once */
byte identities

/* With the mutex held nobody sees what lies between. */
#ifdef UNLOCKED
#define WITH_LOCK
#else
#define WITH_LOCK atomic
#endif

/* A handle is a slot and a generation; `who` is what it was made for. */
typedef handle {
    byte slot = NONE, generation, who
}

#ifdef NO_GENERATION
#define EXISTS(h) (h.slot != NONE && occupied[h.slot])
#else
#define EXISTS(h) (h.slot != NONE && occupied[h.slot] && generation[h.slot] == h.generation)
#endif
#define FOUND(h) (EXISTS(h) && references[h.slot] > 0)

#if defined FREE_WITH_CHILDREN
#define HELD(at) (references[at] != 0 || attachments[at] != 0)
#elif defined FREE_ATTACHED
#define HELD(at) (references[at] != 0 || children[at] != 0)
#else
#define HELD(at) (references[at] != 0 || children[at] != 0 || attachments[at] != 0)
#endif

inline collect(number)
{
    at = number;
    do
    :: at == 0 || HELD(at) -> break
    :: else ->
        assert(occupied[at] && children[at] == 0 && attachments[at] == 0);
        occupied[at] = false;
        generation[at]++;
        live--;
#ifdef PARENTS_LEFT
        break
#else
        children[parent[at]]--;
        at = parent[at]
#endif
    od
}

/* A sub-device of `from`, with one reference; the first free slot. */
inline create(from, h)
{
    at = 1;
    do
    :: at < SLOTS && occupied[at] -> at++
    :: else -> break
    od;
    if
    :: at < SLOTS ->
        occupied[at] = true;
        references[at] = 1;
        children[at] = 0;
        attachments[at] = 0;
        parent[at] = from;
        children[from]++;
        live++;
        identities++;
        identity[at] = identities;
        h.slot = at;
        h.generation = generation[at];
        h.who = identities
    :: else
    fi
}

inline check_found(h)
{
    assert(identity[h.slot] == h.who && references[h.slot] > 0)
}

/* A count is read and written as two steps: without the mutex others come between. */
#define ADD(count, change) old = count; count = old + change

inline release(h)
{
    WITH_LOCK {
        if
        :: FOUND(h) ->
            check_found(h);
            ADD(references[h.slot], -1);
            collect(h.slot)
        :: else
        fi
    }
}

/* prt_device_query with a handle that is this thread's, or has been: it answers as long as the device lives. */
inline query(h)
{
    WITH_LOCK {
        if
        :: EXISTS(h) ->
            assert(identity[h.slot] == h.who);
            assert(references[h.slot] + children[h.slot] + attachments[h.slot] > 0)
        :: else
        fi
    }
}

byte shared_slot, shared_generation, shared_who
byte over

proctype thread()
{
    byte at, old;
    bool attached;
    handle mine, made;
    mine.slot = shared_slot;
    mine.generation = shared_generation;
    mine.who = shared_who;
    if
    :: skip
    :: WITH_LOCK { /* prt_device_attach: accepted, for the thread's own reference is there */
            assert(FOUND(mine));
            check_found(mine);
            ADD(attachments[mine.slot], 1);
            attached = true
        }
    :: WITH_LOCK { /* prt_create_sub_devices; the parent's reference goes before the sub-device's */
            assert(FOUND(mine));
            create(mine.slot, made)
        }
    fi;
    release(mine);
    if
    :: attached ->
        WITH_LOCK { /* prt_device_detach, whose handle may have been released by then */
            assert(EXISTS(mine) && identity[mine.slot] == mine.who && attachments[mine.slot] > 0);
            ADD(attachments[mine.slot], -1);
            collect(mine.slot)
        }
    :: else
    fi;
    release(made);
    query(mine);
    WITH_LOCK { create(0, made) } /* in a slot that may have been the old one's */
    query(mine);
    release(made);
    over++
}

init
{
    byte at, i;
    handle first;
    atomic {
        occupied[0] = true;
        references[0] = 1;
        live = 1;
        create(0, first);
        shared_slot = first.slot;
        shared_generation = first.generation;
        shared_who = first.who;
        references[first.slot] = THREADS; /* prt_device_retain, for each thread */
        for (i : 1 .. THREADS) {
            run thread()
        }
    }
    over == THREADS;
    assert(live == 1 && children[0] == 0)
}
