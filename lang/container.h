/* SPDX-License-Identifier: MIT */
/*
 * container: the file that `pipec` writes and `piperun` loads (lang/container.md).
 *
 * Little-endian throughout; every record has a fixed size, no pointers, no padding that is not
 * named.  A file is a header, a table of sections, and the sections, each aligned to 64 bytes, in
 * ascending order of kind, without gaps but the zero bytes of alignment.  One section holds one
 * table of records (its count is size / record size) or a blob.  Equal input gives an equal file:
 * no times, paths of the machine, or addresses.
 *
 * The checksum (XXH64, seed 0, over all bytes after the `checksum` field) guards against damage,
 * not malice.  The reader trusts nothing: sizes, offsets, every index, every string.
 */
#ifndef LANG_CONTAINER_H
#define LANG_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

#define CONTAINER_MAGIC "PIPEC\r\n\x1a" /* 8 bytes without the NUL */
#define CONTAINER_VERSION 14u
#define CONTAINER_ALIGNMENT 64u
#define CONTAINER_MAX_SECTIONS 64u
#define CONTAINER_NONE UINT32_MAX
#define CONTAINER_BUNDLES_MAX 64u /* of one node */

struct container_header {
    char magic[8];
    uint32_t version;
    uint32_t section_count;
    uint64_t file_bytes;
    uint64_t checksum;    /* over everything from `reserved` to the end */
    uint64_t reserved[4]; /* zero */
};

struct container_section {
    uint32_t kind;
    uint32_t reserved; /* zero */
    uint64_t offset_bytes, size_bytes;
};

/* SECTION(enumerator, number, name, record type or `char` for a blob, exactly one record?) : all
 * are required */
#define CONTAINER_SECTIONS(SECTION)                                                                \
    SECTION(STRINGS, 1, "strings", char, 0)                                                        \
    SECTION(PIPELINE, 2, "pipeline", struct container_pipeline, 1)                                 \
    SECTION(DEVICE, 3, "device", struct container_device, 1)                                       \
    SECTION(ARGUMENTS, 4, "arguments", struct container_argument, 0)                               \
    SECTION(SOURCES, 5, "sources", struct container_source, 0)                                     \
    SECTION(NODES, 6, "nodes", struct container_node, 0)                                           \
    SECTION(INPUTS, 7, "inputs", struct container_input, 0)                                        \
    SECTION(OUTPUTS, 8, "outputs", struct container_output, 0)                                     \
    SECTION(BUFFERS, 9, "buffers", struct container_buffer, 0)                                     \
    SECTION(READERS, 10, "readers", struct container_reader, 0)                                    \
    SECTION(INITIALS, 11, "initials", char, 0)                                                     \
    SECTION(STAGES, 12, "stages", struct container_stage, 0)                                       \
    SECTION(SETS, 13, "sets", uint32_t, 0)                                                         \
    SECTION(PROGRAM, 14, "program", char, 0)                                                       \
    SECTION(RATES, 15, "rates", uint64_t, 0)                                                       \
    SECTION(FIELDS, 16, "fields", struct container_field, 0)                                       \
    SECTION(CERTIFICATE, 17, "certificate", uint64_t, 0)                                           \
    SECTION(INDICES, 18, "indices", struct container_index, 0)                                     \
    SECTION(FIRST_WARPS, 19, "first_warps", uint32_t, 0)                                           \
    SECTION(INTERFACES, 20, "interfaces", struct container_interface, 0)                           \
    SECTION(INTERFACE_PORTS, 21, "interface_ports", struct container_interface_port, 0)            \
    SECTION(LAUNCHES, 22, "launches", struct container_launch, 0)                                  \
    SECTION(TYPES, 23, "types", struct container_type, 0)                                          \
    SECTION(MEMBERS, 24, "members", struct container_member, 0)                                    \
    SECTION(PLACES, 25, "places", struct container_place, 0)                                       \
    SECTION(KERNELS, 26, "kernels", struct container_kernel, 0)                                    \
    SECTION(KERNEL_PORTS, 27, "kernel_ports", struct container_kernel_port, 0)                     \
    SECTION(VARIABLES, 28, "variables", struct container_variable, 0)                              \
    SECTION(SOURCE_TEXTS, 29, "source_texts", char, 0)                                             \
    SECTION(FOREIGN, 30, "foreign", struct container_foreign, 0)                                   \
    SECTION(LIBRARIES, 31, "libraries", struct container_library, 0)                               \
    SECTION(FUSED_NODES, 32, "fused_nodes", struct container_fused_node, 0)                        \
    SECTION(FUSED_INPUTS, 33, "fused_inputs", struct container_fused_input, 0)                     \
    SECTION(FUSED_BUFFERS, 34, "fused_buffers", struct container_fused_buffer, 0)                  \
    SECTION(DEFAULTS, 35, "defaults", char, 0)                                                     \
    SECTION(IMAGES, 36, "images", struct container_image, 0)                                       \
    SECTION(IMAGE, 37, "image", char, 0)

/* CERTIFICATE: why the pipeline cannot stop for ever (lang/container.md, "Certificate").
 * SETS: the sets of stages that the program's instructions name, one after the other, each as its
 * length and then its stage numbers.  PROGRAM: the scheduler's code (lang/scheduler.md).  IMAGES,
 * IMAGE: the kernels for each instruction set, and what it needs.  RATES: the rates of ends with several phases.
 * FIELDS: what the packets of outer ports are made of.  INDICES, FIRST_WARPS: work-items
 * (lang/index_generator.md).  INTERFACES, INTERFACE_PORTS, LAUNCHES: of kernels that launch and are
 * launched (lang/device_queue.md).  TYPES to SOURCE_TEXTS: for people that look at packets and places
 * (lang/container.md, "Debug information").  FOREIGN, LIBRARIES: code that other compilers have made
 * (lang/container.md, "Foreign code").  FUSED_NODES, FUSED_INPUTS, FUSED_BUFFERS: the nodes of the program
 * that are no stages (lang/container.md, "Fused nodes").  DEFAULTS: the pipeline's block of arguments, and then
 * that of each child kernel, with the defaults; zero elsewhere.  An empty section has an entry, too: its size is 0
 * and its offset is aligned. */
enum container_section_kind {
#define SECTION(enumerator, number, name, type, single) CONTAINER_##enumerator = number,
    CONTAINER_SECTIONS(SECTION)
#undef SECTION
};

/* Strings are offsets into STRINGS, which begins and ends with a NUL; 0 is the empty string. */
typedef uint32_t container_string;

enum container_pipeline_flags {
    /* Its author has accepted that it may stall: edges of bounded rates may close cycles. */
    CONTAINER_PIPELINE_UNPROVEN = 1,
    /* It deadlocks: its certificate is the sequence of firings that shows it.  It is replayed,
     * and never run. */
    CONTAINER_PIPELINE_COUNTEREXAMPLE = 2,
    /* Compiled to be debugged: minimum depths, one kernel at a time, VARIABLES, and kernels that record
     * which statement wrote a packet (kernel_batch.origins). */
    CONTAINER_PIPELINE_DEBUG = 4
};

struct container_pipeline {
    container_string name;
    container_string compiler; /* "pipec 0.1.0" */
    uint32_t flags;            /* set of enum container_pipeline_flags */
    uint32_t reserved;         /* zero */
    uint64_t arguments_bytes;  /* block of the pipeline's run-time arguments */
    uint64_t memory_bytes;     /* sum over inner buffers of depth x width */
    uint64_t
        memory_limit_bytes; /* of --max-memory: the largest memory_bytes that the loader may make; 0: no limit */
};

/* CERTIFICATE: parts, one after the other, each two words and what its form says.  The first word
 * is the part's lowest channel (an index in READERS) and its form, shifted by 32 bits; the second
 * the number of words that follow. */
enum container_certificate_form {
    /* log2 of the period, then of each vertex its starting time in two words, low half first */
    CONTAINER_CERTIFICATE_STARTS = 1,
    /* a number of rules, then of each rule its length and so many pairs of symbol and count */
    CONTAINER_CERTIFICATE_SCHEDULE = 2,
    /* of a counterexample: rules like those of a schedule; the last but one is the cycle, node by
     * node, the last is the sequence */
    CONTAINER_CERTIFICATE_STALL = 3
};

#define CONTAINER_CERTIFICATE_FORM_SHIFT 32u
/* Starting times are below 2^CONTAINER_CERTIFICATE_START_BITS, periods at most 2^62. */
#define CONTAINER_CERTIFICATE_START_BITS 110u
#define CONTAINER_CERTIFICATE_PERIOD_BITS 62u
#define CONTAINER_STALL_FIRINGS_MAX (UINT64_C(1) << 31) /* of a counterexample */
/* Effects of symbols on channels that the rules of all parts may combine, by words of the section:
 * work and memory of a check are linear in the file. */
#define CONTAINER_CERTIFICATE_WORK(words) ((UINT64_C(1) << 20) + 16 * (uint64_t)(words))

enum container_image_kind {
    CONTAINER_IMAGE_X86 = 0, /* an x86-64 ELF shared object (lang/kernel_abi.h) */
    CONTAINER_IMAGE_PTX = 1, /* text for NVIDIA GPUs (lang/gpu_abi.h), with a NUL at its end */
    CONTAINER_IMAGE_KINDS
};

/* The kernels for one instruction set, in IMAGE.  Of each kind the best is first. */
struct container_image {
    container_string isa; /* what its author called it: "x86-64-v3", "sm_80" */
    uint32_t kind;        /* enum container_image_kind */
    /* Needs of the image. X86: bits of lang/cpu_features.def. PTX: its compute capability is
     * that or higher, ten times the major number plus the minor one. */
    uint64_t features;
    uint64_t offset_bytes, size_bytes;
};

#define CONTAINER_LANES_MAX 1024u

struct container_device { /* what the plan was made for; see lang/devdesc.h */
    container_string name;
    uint32_t cu_count; /* at least 1 */
    uint32_t lanes;    /* 1 to CONTAINER_LANES_MAX */
    uint32_t reserved;
    /* XXH64, seed 0, of the description's canonical text (devdesc_text) */
    uint64_t description_hash;
};

/* The properties of its stream that an input may know. */
enum container_property {
    CONTAINER_PROPERTY_NONE = 0,
    CONTAINER_PROPERTY_RATE = 1,
    CONTAINER_PROPERTY_WIDTH = 2,
    CONTAINER_PROPERTY_HEIGHT = 3,
    CONTAINER_PROPERTY_CHANNELS = 4
};

struct container_argument {
    container_string name, type_text;
    container_string shape; /* "": one scalar; "7, 7": the lengths, their product is `count` */
    uint32_t scalar;        /* enum scalar_type */
    uint32_t lanes;         /* of the vector that the scalars make, innermost; 1: none */
    uint32_t has_default;   /* 0, 1; then its bytes are in DEFAULTS */
    /* Without a given value: this property of the input of the in-port `buffer` (an index in BUFFERS). */
    uint32_t property;     /* enum container_property; not NONE: of one number */
    uint32_t buffer;       /* NONE without a property */
    uint64_t count;        /* scalars, one after the other: 1.. */
    uint64_t offset_bytes; /* in the pipeline's block */
};

struct container_source {
    container_string name;
    uint32_t reserved;                      /* zero */
    uint64_t text_offset_bytes, text_bytes; /* in SOURCE_TEXTS; 0 bytes: it is not there */
};

enum container_node_flags {
    CONTAINER_NODE_STATEFUL = 1, /* firings do not overlap */
    CONTAINER_NODE_INIT = 2,     /* has pipe_k<kernel>_init */
    CONTAINER_NODE_FINISH = 4,   /* has pipe_k<kernel>_finish */
    CONTAINER_NODE_INDEXED =
        8, /* an out-port is written by index, in part: out windows must be zeroed before a firing */
    CONTAINER_NODE_STOPS = 16, /* may execute `stop` */
    /* Its cost depends on data: `run` (and `finish`) count, see kernel_batch.warp_cycles. */
    CONTAINER_NODE_COUNTED = 32,
    CONTAINER_NODE_LAUNCHES = 64, /* its firings launch kernels; it has a record in INTERFACES */
    CONTAINER_NODE_FAULTS = 128,  /* a firing may fault, or `finish`: a check is left in its code */
    CONTAINER_NODE_FUSED = 256,   /* its inputs are those of nodes in FUSED_NODES */
    /* 1 + the number of the device's unit that executes it (lang/units.def), times CONTAINER_NODE_UNIT_ONE; 0: none */
    CONTAINER_NODE_UNIT_ONE = 1 << 16,
    CONTAINER_NODE_UNIT_MASK = 15 << 16
};

#define CONTAINER_REGISTERS_MAX 65536u /* of one work-item */

struct container_node {
    container_string name, kernel_title;
    uint32_t source, line; /* of its declaration; source indexes SOURCES */
    uint32_t kernel;       /* <ID> of the image's symbols */
    uint32_t flags;
    uint32_t importance; /* 0..255 */
    uint32_t first_input, input_count;
    uint32_t first_output, output_count;
    uint32_t phases; /* of its rates, 1..; firing n has phase n modulo phases */
    uint64_t arguments_bytes, tables_bytes, state_bytes; /* alignment of each block: 64 */
    uint64_t repetitions; /* firings an iteration of what exact rates connect */
    /* The same of the pipeline as it was written, before nodes were fused: it orders faults.  0: as repetitions. */
    uint64_t source_repetitions;
    uint64_t cost_cycles; /* of one firing: of all its work-items together */
    /* Of one warp (lang/time.md): exact, or, of a COUNTED node, estimated.  Of a stateful node: of one
     * firing, of which one follows on another. */
    uint64_t warp_cycles;
    uint64_t finish_cycles; /* of `finish`; 0: it has none */
    /* Firings that share a warp, and warps that a firing takes: one of both is 1. */
    uint32_t warp_firings, firing_warps;
    uint64_t local_bytes; /* that its `local` variables need of a CU's local memory */
    /* Of 32 bits, of a work-item (lang/time.md, "Registers"): at most CONTAINER_REGISTERS_MAX; 0: not known */
    uint32_t registers;
    uint32_t reserved; /* zero */
};

struct container_input {
    container_string port;
    uint32_t buffer;
    uint32_t reader; /* index in READERS */
    uint32_t
        rates; /* several phases: index in RATES of the pops, then the peeks, of each; else NONE */
    uint64_t pop, peek; /* of a firing; several phases: of a whole cycle, and the largest */
    /* A 2-D window, odd sizes, centred; 0: none.  Then pop is 1 and peek 1, and what a firing sees
     * follows from the shape of the buffer (lang/container.md, "Windows"). */
    uint32_t window_width, window_height;
    uint32_t border; /* enum container_border */
    uint32_t reserved;
};

enum container_border {
    CONTAINER_BORDER_CLAMP = 0,
    CONTAINER_BORDER_MIRROR = 1,
    CONTAINER_BORDER_WRAP = 2,
    CONTAINER_BORDER_ZERO = 3
};

struct container_output {
    container_string port;
    uint32_t buffer;
    uint64_t push_least, push; /* of a firing, at least and at most; several phases: of a cycle */
    uint64_t finish_max;
    uint32_t
        rates; /* several phases: index in RATES of the minimum, then the maximum, of each; else NONE */
    /* Outputs of one node with the same bundle, 1..CONTAINER_BUNDLES_MAX, are written in step: each
     * firing appends k x share packets to each of them, with a k of its own; bounded rates into
     * inner buffers, two or more of them.  0, and share 0: none. */
    uint32_t bundle;
    uint64_t share;
};

enum container_outer { CONTAINER_INNER = 0, CONTAINER_OUTER_IN = 1, CONTAINER_OUTER_OUT = 2 };

enum container_buffer_flags {
    /* The plan chose the depth, and no cycle of buffers bounds it: the loader may multiply it (lang/cpu.md, "Depths
     * from threads"). */
    CONTAINER_BUFFER_GROWS = 1
};

struct container_buffer {
    container_string name, type_text;
    uint32_t scalar; /* enum scalar_type of all the packet's scalars; u8 where they differ, or bytes
                        lie between them */
    uint32_t outer;
    uint64_t width_bytes; /* of a packet: a multiple of the scalar's width */
    uint64_t depth_packets;
    uint64_t initial_packets;
    uint64_t initial_offset_bytes,
        initial_size_bytes; /* in INITIALS: whole packets, repeated as often as needed */
    uint64_t row_packets,
        frame_rows; /* its shape: 0 row_packets: linear; 0 frame_rows: without end */
    uint32_t writer_node,
        writer_output; /* index in NODES, in OUTPUTS; CONTAINER_NONE for an outer in-port */
    uint32_t first_reader, reader_count;
    uint32_t first_field, field_count; /* in FIELDS; 0: no port, or one whose packets are
                                         scalars of the one type */
    uint32_t type, place;              /* in TYPES, in PLACES (of its declaration); or NONE */
    uint32_t flags;                    /* set of enum container_buffer_flags */
    uint32_t reserved;                 /* zero */
};

/* A part of a packet: the packet itself (name 0) or a field of a struct (`pos.x`, `parts[2].id`).
 * The fields of a packet are in order of their places and do not overlap. */
struct container_field {
    container_string name;
    uint32_t scalar;        /* enum scalar_type */
    uint64_t offset_bytes;  /* in the packet */
    uint64_t count;         /* scalars, one after the other: 1.. */
    container_string shape; /* "": one scalar; "7, 7": the lengths, their product is `count` */
    uint32_t lanes;         /* of the vector that the scalars make, innermost; 1: none */
};

struct container_reader {
    uint32_t node, input; /* index in NODES, in INPUTS */
};

struct container_stage {
    uint32_t node;
    uint32_t threshold; /* firings that must be ready before it is dispatched, 1.. */
    uint64_t batch_max; /* most firings of one dispatch, threshold.. */
    uint32_t entry;     /* of the reference table that its launches are differences to; NONE: its
                           launches are packets of their own */
    uint32_t flags;     /* set of enum container_stage_flags */
    /* Stages of one pack are launched by one packet, as far as they fit, in order of `place`; the
     * last one gives the signal.  Packs are numbered from 0 without gaps, places as well. */
    uint32_t pack, place;
};

enum container_stage_flags {
    /* It owns no entry: its launches are differences to what other stages have stored, by the plan to
     * this entry. */
    CONTAINER_STAGE_SPILLED = 1,
    CONTAINER_STAGE_ENDS_PACK = 2 /* the last of its pack */
};

enum container_index_flags {
    CONTAINER_INDEX_DEDICATED = 1 /* no kernel of another group uses its index memory */
};

/* How the index generator makes item.x, y, z of a node's kernel with `group`
 * (lang/index_generator.md): in ascending order of kernels.  Child kernels have none. */
struct container_index {
    uint32_t kernel;        /* <ID> of the image's symbols: of a node, or of a child kernel */
    uint32_t extents[3];    /* dx, dy, dz: 1.. */
    uint32_t register_bits; /* 16 or 32: a packed index */
    uint32_t address_bytes; /* of its registers in the index memory of a CU */
    uint32_t step[3];       /* the device's lanes as xc + yc dx + zc dx dy */
    uint32_t first_warp;    /* in FIRST_WARPS: the registers of items 0 to min(lanes, items) - 1 */
    uint32_t flags;         /* set of enum container_index_flags */
    uint32_t reserved;      /* zero */
};

/* ---- kernels that launch kernels (lang/device_queue.md) ---- */

#define CONTAINER_NESTING_MAX 1024u            /* levels below an outermost kernel */
#define CONTAINER_TREE_MAX (UINT64_C(1) << 20) /* launches of one firing with its tree */

#define CONTAINER_EVENTS_MAX 65536u      /* launches of one firing */
#define CONTAINER_LAUNCHES_MAX 65536u    /* records in LAUNCHES */
#define CONTAINER_WORK_GROUPS_MAX 65536u /* of one launch */

enum container_interface_flags {
    CONTAINER_INTERFACE_ASKS = 1,    /* its body asks whether an event is done */
    CONTAINER_INTERFACE_COUNTED = 2, /* its cost depends on data: `run` counts */
};

/* The interface table: a kernel of a node that launches (one record for each such node), or a child
 * kernel (one for each kind, whoever launches it). */
struct container_interface {
    container_string title;
    uint32_t kernel; /* <ID> of the image's symbols */
    uint32_t node;   /* whose kernel it is; NONE: a child kernel, which has only its run */
    uint32_t source, line, column; /* of the kernel's name */
    uint32_t flags;                /* set of enum container_interface_flags */
    uint32_t entry_bytes;          /* of a launch in the device-queue cache: a multiple of 64 */
    /* in the entry: where the number of the event is, and where the arguments begin */
    uint32_t event_offset_bytes, arguments_offset_bytes;
    uint32_t local_offset_bytes; /* of its `local` variables in local memory */
    uint32_t work_groups;        /* numbers of the work-groups of a launch are below it, 1.. */
    uint32_t group[3];           /* work-items of a work-group */
    /* the last work-group that may be the first of a launch, and its first work-item */
    uint32_t global_offset, group_offset;
    /* Launch index: its launches, one after the other in LAUNCHES. */
    uint32_t first_launch, launch_count;
    uint32_t first_port, in_count, out_count; /* INTERFACE_PORTS: inputs, then outputs, flattened */
    uint32_t firing_warps;                    /* warps that a firing takes, 1.. */
    uint32_t reserved;
    uint64_t arguments_bytes, local_bytes;
    uint64_t warp_cycles; /* of one warp; COUNTED: an estimate */
    uint64_t launches;    /* most that one firing executes itself; 0: it launches nothing */
    /* Of a node's, else 0: most levels below it; most work-groups that one firing with its tree launches; most
     * entries that the tree has in the device queue at one time. */
    uint64_t nesting, tree, queue_entries;
};

struct container_interface_port {
    uint64_t width_bytes; /* of a packet */
    uint64_t packets;     /* in: that it sees; out: that one firing's own body appends at most */
    uint32_t source, line, column; /* of the port, or of its rate */
    uint32_t reserved;
};

enum container_launch_order {
    CONTAINER_LAUNCH_WITH_PARENT = 0,  /* no wait */
    CONTAINER_LAUNCH_AFTER_GROUP = 1,  /* the launching work-group has ended */
    CONTAINER_LAUNCH_AFTER_PARENT = 2, /* all work-groups of the parent's dispatch have ended */
};

/* One child that a `launch` statement may start: which parent, which child, in which order.  The records of a statement
 * follow each other. */
struct container_launch {
    uint32_t parent, child; /* index in INTERFACES */
    uint32_t order;         /* enum container_launch_order */
    uint32_t wait_max;      /* events that it waits for, 0..KERNEL_LAUNCH_WAITS_MAX */
    uint32_t reserved;
    uint32_t source, line, column;
};

/* ---- debug information ---- */

#define CONTAINER_TYPE_DEPTH_MAX 256u /* a scalar is 1 deep, what is made of it one more */

enum container_type_kind {
    CONTAINER_TYPE_SCALAR = 0,
    CONTAINER_TYPE_VECTOR = 1,
    CONTAINER_TYPE_ARRAY = 2,
    CONTAINER_TYPE_STRUCT = 3
};

/* Types are made of types with lower numbers. */
struct container_type {
    uint32_t kind;                       /* enum container_type_kind */
    uint32_t scalar;                     /* SCALAR: enum scalar_type; else 0 */
    uint32_t element;                    /* VECTOR (a scalar), ARRAY: in TYPES; else NONE */
    uint32_t first_member, member_count; /* STRUCT: in MEMBERS, 1..; else 0 */
    container_string name;               /* STRUCT: as it was declared; else empty */
    uint64_t length;                     /* VECTOR, ARRAY: 1..; else 0 */
    uint64_t width_bytes;                /* of a value in memory */
};

/* A field of a struct, in order of their places; they do not overlap. */
struct container_member {
    container_string name;
    uint32_t type;
    uint64_t offset_bytes;
};

/* A place in a source.  Other records name a place by its index, or NONE. */
struct container_place {
    uint32_t source;       /* index in SOURCES */
    uint32_t line, column; /* 1.. */
};

/* A kernel as the image has it, of nodes or a child: in ascending order of `kernel`, each that a node
 * or an interface has once. */
struct container_kernel {
    uint32_t kernel; /* <ID> of the image's symbols */
    container_string title;
    uint32_t place;                           /* of its definition */
    uint32_t first_port, in_count, out_count; /* KERNEL_PORTS: inputs, then outputs */
    uint32_t first_variable, variable_count;  /* VARIABLES */
};

/* As declared: a port array is one. */
struct container_kernel_port {
    container_string name;
    uint32_t type; /* of a packet */
    uint32_t place;
};

enum container_variable_kind {
    CONTAINER_VARIABLE_STATE = 0, /* in the node's block of state */
    CONTAINER_VARIABLE_TABLE = 1, /* in its block of tables */
    CONTAINER_VARIABLE_ARGUMENT =
        2, /* in its block of run-time arguments; of a child: of its launch */
};

struct container_variable {
    container_string name;
    uint32_t kind; /* enum container_variable_kind */
    uint32_t type, place;
    uint64_t offset_bytes; /* in the block */
};

/* ---- foreign code ---- */

enum container_foreign_flags {
    CONTAINER_FOREIGN_PURE = 1 /* its author says that a firing depends on nothing else */
};

/* A kernel of the image whose code other compilers have made, in ascending order of `kernel`. */
struct container_foreign {
    uint32_t kernel;       /* <ID> of the image's symbols */
    container_string name; /* of the kernel: its functions are NAME_run, ... */
    container_string
        signature;  /* NAME_signature, a string of the image or of a library, is the same */
    uint32_t flags; /* set of enum container_foreign_flags */
};

/* A shared object that the images need, by the name that the dynamic linker looks for. */
struct container_library {
    container_string name;
};

/* ---- fused nodes ---- */

enum container_fused_flags {
    CONTAINER_FUSED_SEES_TAIL =
        1 /* its `finish` sees the packets that are left in its only input */
};

/* A node of the program that is a part of a node in NODES. */
struct container_fused_node {
    container_string name;
    uint32_t node;                     /* that executes it: has the flag FUSED */
    uint32_t first_input, input_count; /* in FUSED_INPUTS: after those of the record before */
    uint32_t flags;                    /* set of enum container_fused_flags */
    uint32_t reserved;                 /* zero */
    uint64_t firings;                  /* in a firing of `node`: 1.. */
};

struct container_fused_input {
    uint32_t input;     /* in INPUTS, of a node with the flag FUSED: reads the same buffer; NONE: */
    uint32_t buffer;    /* in FUSED_BUFFERS; NONE if `input` is not */
    uint64_t pop, peek; /* of a firing */
};

enum container_fused_buffer_flags {
    CONTAINER_FUSED_BUFFER_KEPT = 1,  /* it is `buffer` itself */
    CONTAINER_FUSED_BUFFER_CYCLE = 2, /* what it holds goes round a cycle */
};

/* A buffer between fused nodes. */
struct container_fused_buffer {
    container_string name;
    uint32_t
        buffer; /* in BUFFERS: the first one that the program declares after it; or their number */
    uint32_t writer; /* in FUSED_NODES */
    uint32_t flags;  /* set of enum container_fused_buffer_flags */
    uint64_t push;   /* of a firing */
    uint64_t finish_max;
    uint64_t initial_packets;
};

_Static_assert(sizeof(struct container_fused_node) == 32, "fused node");
_Static_assert(sizeof(struct container_fused_input) == 24, "fused input");
_Static_assert(sizeof(struct container_fused_buffer) == 40, "fused buffer");
_Static_assert(sizeof(struct container_foreign) == 16, "foreign");
_Static_assert(sizeof(struct container_library) == 4, "library");
_Static_assert(sizeof(struct container_header) == 64, "header");
_Static_assert(sizeof(struct container_section) == 24, "section");
_Static_assert(sizeof(struct container_pipeline) == 40, "pipeline");
_Static_assert(sizeof(struct container_device) == 24, "device");
_Static_assert(sizeof(struct container_argument) == 48, "argument");
_Static_assert(sizeof(struct container_node) == 136, "node");
_Static_assert(sizeof(struct container_input) == 48, "input");
_Static_assert(sizeof(struct container_output) == 48, "output");
_Static_assert(sizeof(struct container_buffer) == 112, "buffer");
_Static_assert(sizeof(struct container_field) == 32, "field");
_Static_assert(sizeof(struct container_reader) == 8, "reader");
_Static_assert(sizeof(struct container_stage) == 32, "stage");
_Static_assert(sizeof(struct container_index) == 48, "index");
_Static_assert(sizeof(struct container_interface) == 152, "interface");
_Static_assert(sizeof(struct container_interface_port) == 32, "interface port");
_Static_assert(sizeof(struct container_launch) == 32, "launch");
_Static_assert(sizeof(struct container_source) == 24, "source");
_Static_assert(sizeof(struct container_type) == 40, "type");
_Static_assert(sizeof(struct container_member) == 16, "member");
_Static_assert(sizeof(struct container_place) == 12, "place");
_Static_assert(sizeof(struct container_kernel) == 32, "kernel");
_Static_assert(sizeof(struct container_kernel_port) == 12, "kernel port");
_Static_assert(sizeof(struct container_variable) == 24, "variable");

#endif
