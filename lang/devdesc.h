/* SPDX-License-Identifier: MIT */
/*
 * devdesc: device descriptions (`.dev` files), read by both halves.  Format: lang/devices.md.
 *
 * Thread-safe: no state.  Text is untrusted; every number is range-checked.
 */
#ifndef LANG_DEVDESC_H
#define LANG_DEVDESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum devdesc_level { DEVDESC_NUMA, DEVDESC_L4, DEVDESC_L3, DEVDESC_L2, DEVDESC_L1, DEVDESC_LEVELS };

enum devdesc_scheme { DEVDESC_EQUALLY = 1, DEVDESC_BY_COUNTS = 2, DEVDESC_BY_AFFINITY = 4 };

/* Cycles of an operation of one lane of a warp, by class (lang/time.md, "Cost of a kernel"). */
struct devdesc_costs {
    uint32_t integer, multiply, divide;
    uint32_t floating, float_divide, sqrt, convert;
    uint32_t double_factor; /* of the four above, for f64 */
    uint32_t load, store;
    uint32_t branch, call, barrier;
    /* Accesses of a warp to packets: the bytes of a line, 0: these do not count; the cycles of each line */
    uint32_t load_line_bytes, store_line_bytes, line;
    uint32_t unrolled_rounds; /* loops of at most so many rounds cost what their bodies cost */
};

enum devdesc_unit_kind {
#define UNIT(enumerator, name) DEVDESC_UNIT_##enumerator,
#include "lang/units.def"
#undef UNIT
    DEVDESC_UNITS
};

/* A fixed-function unit, of which each core has one (lang/time.md, "Units"). */
struct devdesc_unit {
    uint32_t bytes_per_cycle; /* 0: the device has none */
    uint32_t start_cycles;    /* of a firing, before its first byte */
};

/* A device.  One struct because the entries of a file name its members (lang/devdesc.c has a table of them). */
struct devdesc {
    char name[64];
    uint32_t cu_count; /* compute units */
    uint32_t lanes;    /* work-items that a core of a CU executes in lock step */
    /* 1: the processor that the runtime itself runs on: time is real, its caches decide depths and
     * batches, and neighbours are fused; 0: simulated */
    uint32_t host;
    /* 1: an NVIDIA GPU: kernels become PTX, firings become threads, and neighbours are fused */
    uint32_t cuda;
    uint64_t clock_hz;
    uint64_t memory_bytes;
    uint64_t memory_bytes_per_cycle; /* bandwidth */
    uint32_t memory_latency_cycles;  /* of one access; 0: none */
    uint32_t
        memory_shared; /* 1: launches take of the bandwidths what others leave; 0: sub-devices have shares */
    uint64_t memory_in_flight_bytes; /* that a CU has under way at most; 0: any number */
    uint32_t resident_warps;         /* that a CU holds; 0: any number */
    uint32_t registers_per_cu;       /* of 32 bits; 0: any number */
    uint32_t registers_per_item;     /* that a work-item has at most; 0: any number */
    uint32_t register_unit;          /* that a warp gets together */
    uint32_t warp_residence_cycles;  /* least time that a warp is on a CU */
    uint64_t
        cache_bytes_per_cycle; /* of the widest level's caches together; 0: they do not count */
    uint64_t local_bytes;      /* local memory of a CU */
    uint32_t cus_per_domain[DEVDESC_LEVELS]; /* CUs that share one domain of that level; 0: no such
                                                level */
    uint64_t cache_bytes[DEVDESC_LEVELS];    /* of one domain; 0: none */
    uint32_t schemes;                        /* set of enum devdesc_scheme */
    uint32_t max_sub_devices;
    uint32_t max_group_items;
    uint32_t reference_entries; /* 1..8 */
    uint32_t launch_enqueue_cycles, launch_process_cycles,
        launch_cleanup_cycles; /* of a full packet */
    uint32_t processes_ahead;  /* 1: a packet is processed while launches before it execute */
    uint32_t launches_overlap; /* 1: launches of a queue that do not depend on each other do */
    uint32_t switch_cycles;    /* a sub-device goes over to another stage */
    uint32_t device_queue_entries;
    /* a kernel launched by a kernel: of its parent, to issue it; before its own code begins */
    uint32_t child_issue_cycles, child_start_cycles;
    uint32_t cores_per_cu;               /* warps that a CU executes at a time */
    uint32_t instruction_latency_cycles; /* from an instruction of a warp to its next one */
    /* The index generator of a CU (lang/index_generator.md). */
    uint32_t index_register_bits;
    uint32_t index_history_entries;
    uint64_t index_memory_bytes;       /* 0: there is no generator, items divide */
    uint64_t index_shared_below_bytes; /* with less index memory than that all kernels share it */
    uint32_t index_dedicated_launches; /* an iteration: from there on a kernel has its own */
    struct devdesc_costs costs;
    struct devdesc_unit units[DEVDESC_UNITS];
};

/* ---- what is wrong with a text ---- */

enum devdesc_severity { DEVDESC_WARNING, DEVDESC_ERROR };

struct devdesc_place {
    uint32_t line, column; /* from 1; line 0: no place */
    size_t begin, end;     /* bytes of the text, within one line; may be empty */
};

/* Texts may hold bytes of the file: their printer escapes them.  "": there is none. */
struct devdesc_finding {
    enum devdesc_severity severity;
    struct devdesc_place place;
    char message[256];
    char caret[80]; /* beside the mark at `place` */
    struct devdesc_place other;
    char other_text[80];
    char note[200], help[200];
};

enum { DEVDESC_FINDINGS_MAX = 20 };

struct devdesc_findings { /* in order of place */
    bool failed;          /* one is an error */
    size_t count;
    size_t left_out; /* findings above the maximum, which are not kept */
    struct devdesc_finding items[DEVDESC_FINDINGS_MAX + 1]; /* the last is not counted */
};

/* Parses `size` bytes of text.  *findings gets what is wrong, several errors where they are
 * independent, and what is doubtful.  False: one is an error, *out is undefined. */
bool devdesc_parse(const char *text, size_t size, struct devdesc *out,
                   struct devdesc_findings *findings);
/* Maximum of threads on the host's own cores. */
enum { DEVDESC_HOST_CORES_MAX = 256 };

/* Does the name stand for the host's own cores: "cpu", and *cores is 0, or "cpu:N", with N from 1 to
 * DEVDESC_HOST_CORES_MAX?  (lang/cpu.md) */
bool devdesc_host_cores(const char *name, uint32_t *cores);
/* The embedded description of that name (`sim16`), or false.  "cpu:N": that of `cpu`, with N cores. */
bool devdesc_builtin(const char *name, struct devdesc *out);
/* True: the name is that of a file: it ends in .dev. */
bool devdesc_is_file_name(const char *name);
/* Name of the i-th embedded description, or NULL past the last. */
const char *devdesc_builtin_name(size_t i);
/* Writes why `name` is no device: what is wrong with N of "cpu:N", else which names there are; `others`
 * are those of the caller, each with ", " after it.  A long name is cut. */
enum { DEVDESC_WHY_BYTES = 600 };
void devdesc_explain_name(const char *name, const char *others, char *out, size_t out_bytes);

/* The device that a sub-device of `whole` is: its compute units, the domains that lie in it as a whole
 * and in equal numbers, its share of the bandwidth (lang/time.md), rounded to whole bytes.  `name` is
 * cut to fit. */
void devdesc_part(const struct devdesc *whole, uint32_t first_cu, uint32_t cu_count,
                  const char *name, struct devdesc *part);
/* "copy", "hash", ..: the name of a unit. */
const char *devdesc_unit_name(enum devdesc_unit_kind kind);
/* The description as text that devdesc_parse reads back, without the keys that are at their standard;
 * writes at most `capacity` bytes, NUL included, and returns the length of the whole. */
size_t devdesc_write(const struct devdesc *description, char *to, size_t capacity);

/* The description as canonical text, one `field value...` a line: the fields in the order of the
 * struct, `cuda` and the fields of latency, bytes under way and bandwidth of the caches only
 * where they are not 0.  Equal descriptions have equal texts; writes at most `capacity` bytes, NUL included, and
 * returns the length of the whole. */
size_t devdesc_text(const struct devdesc *description, char *to, size_t capacity);
/* XXH64, seed 0, of the canonical text. */
uint64_t devdesc_hash(const struct devdesc *description);

#endif
