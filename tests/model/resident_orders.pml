/*
 * resident_orders: the scheduler on a GPU gives orders to its workers, and goes on while they are executed
 * (core/resident/resident.c).
 *
 * The scheduler's side: next_order, post_order, await_done.  The workers': await_order, worker_loop.  A place has room for
 * one order after the other; `head` is one word, and the rest of the order is written before it.
 *
 * A launch is one order, or several that follow each other (post_moves).  These are the workers and the orders of one station.  Stations share nothing but the scheduler, which waits for any of them.
 *
 * Holds: each order is executed once by each of its workers and by no other one, when all orders before it have been
 * executed; no worker reads an order that is being written; everything ends.
 *
 * twin: SOON         a worker does not wait for the orders before its own
 * twin: FULL         the scheduler writes to a place whose order has not been executed
 * twin: HEAD_FIRST   the head is written before the rest of the order
 * twin: EXACT        a worker that comes late waits for a head that has been replaced
 */
#define WORKERS 2
#define PLACES 2
#define ORDERS 5

byte head[PLACES], head_workers[PLACES] /* one word */
byte order[PLACES], done_before[PLACES] /* the rest: which order it is stands for all of it */
byte done
byte executed[ORDERS + 1], wanted[ORDERS + 1] /* workers of each order; order 0 has none */

#define PLACE(number) ((number) % PLACES)

inline write_head(number, count)
{
    d_step {
        head[PLACE(number)] = number;
        head_workers[PLACE(number)] = count
    }
}

active [WORKERS] proctype worker()
{
    byte number = 1, seen, count;
    do
    :: number > ORDERS -> break
    :: else ->
#ifdef EXACT
        head[PLACE(number)] == number;
#else
        head[PLACE(number)] >= number;
#endif
        d_step {
            seen = head[PLACE(number)];
            count = head_workers[PLACE(number)]
        }
        if
        :: seen == number && _pid < count ->
            assert(order[PLACE(number)] == number);
#ifndef SOON
            done >= done_before[PLACE(number)];
#endif
            assert(executed[number - 1] == wanted[number - 1]);
            executed[number]++;
            assert(order[PLACE(number)] == number);
            done++
        :: else
        fi;
        number++
    od
}

active proctype scheduler()
{
    byte number = 1, count, sum, done_order[PLACES];
    do
    :: number > ORDERS -> break
    :: else ->
#ifndef FULL
        done >= done_order[PLACE(number)];
#endif
        if
        :: count = 1
        :: count = WORKERS
        fi;
        wanted[number] = count;
#ifdef HEAD_FIRST
        write_head(number, count);
#endif
        order[PLACE(number)] = number;
        done_before[PLACE(number)] = sum;
        sum = sum + count;
        done_order[PLACE(number)] = sum;
#ifndef HEAD_FIRST
        write_head(number, count);
#endif
        number++
    od;
    done >= sum;
    assert(executed[ORDERS] == wanted[ORDERS] && done == sum)
}
