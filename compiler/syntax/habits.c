/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/habits.h"

#include <stddef.h>
#include <string.h>

#define JUMPS "there are no jumps: use 'if', loops, 'break', 'continue' and 'return'"
#define KEPT "what is kept from firing to firing is 'state TYPE NAME = VALUE;'"
#define WIDTHS "the integer types are i8 i16 i32 i64, u8 u16 u32 u64"
#define DECLARED "a variable is declared with its type: 'f32 NAME = VALUE;'"
#define FUNCTION "a function is 'fn TYPE NAME(TYPE a, TYPE b) { ... }'"
#define RECORD "several values of their own types are 'struct NAME { TYPE FIELD; };'"
#define OUTPUT                                                                                     \
    "nothing is printed while running: send the value out by a port, 'out i32 seen' and "          \
    "'seen <- VALUE;', or stop where it changes: 'piperun --debug' with 'watch' "                  \
    "(docs/debugging.md)"
#define COMPLEX                                                                                    \
    "a complex number is a vector 'f32x2' (real part .x, imaginary part .y), or "                  \
    "'struct complex { f32 re, im; };'"
#define EXCEPTIONS                                                                                 \
    "there are no exceptions: test a value before it is used; what goes wrong is a fault, which "  \
    "ends the run"
#define TEXT_TYPE "there are no strings: a text is a stream of its bytes, 'in u8 x'"
#define MEMORY "there is no allocation: arrays have a size that is known, 'f32 a[16];'"
#define POINTERS "there are no pointers: use arrays and indices"
#define APPEND "a packet is appended to an out-port with 'PORT <- VALUE;'"
#define WINDOW                                                                                     \
    "packet i of what a firing sees is 'PORT[i]'; how many it takes is said by 'in TYPE PORT pop " \
    "N'"
#define LENGTH "lengths are constants: 'const int N = 16;', 'f32 a[N];', 'i < N'"
#define RANDOM                                                                                     \
    "nothing is random: keep a generator in 'state u32', or read noise, 'piperun ... "             \
    "x=gen:noise:1'"
#define ITEM "the index of a work-item is item.x, item.y, item.z in a kernel with 'group N'"
#define SHARED "what the work-items of a group share is 'local TYPE NAME[N];'"
#define MEETING "work-items meet at 'barrier();'"

static const struct habit habits[] = {
    {"sizeof", HABIT_ANYWHERE, "sizes are written as constants: 'const int N = 16;'"},
    {"goto", HABIT_FIRST, JUMPS},
    {"static", HABIT_FIRST, KEPT},
    {"unsigned", HABIT_FIRST, WIDTHS},
    {"signed", HABIT_FIRST, WIDTHS},
    {"long", HABIT_FIRST, WIDTHS},
    {"short", HABIT_FIRST, WIDTHS},
    {"volatile", HABIT_FIRST, "leave it out: nothing but the program changes its variables"},
    {"register", HABIT_FIRST, "leave it out"},
    {"inline", HABIT_FIRST, FUNCTION},
    {"let", HABIT_FIRST, DECLARED},
    {"var", HABIT_FIRST, DECLARED},
    {"auto", HABIT_FIRST, DECLARED},
    {"def", HABIT_FIRST, FUNCTION},
    {"func", HABIT_FIRST, FUNCTION},
    {"function", HABIT_FIRST, FUNCTION},
    {"typedef", HABIT_FIRST,
     "types have one name each; a struct has that of 'struct NAME { ... };'"},
    {"enum", HABIT_FIRST, "write constants: 'const int RED = 0, GREEN = 1;'"},
    {"union", HABIT_FIRST, RECORD},
    {"class", HABIT_FIRST, RECORD},
    {"template", HABIT_FIRST,
     "compile-time parameters stand after the name: 'kernel k<type T, int N>(...)'"},
    {"include", HABIT_FIRST, "write 'import \"FILE.pipe\";'"},
    {"using", HABIT_FIRST, "write 'import \"FILE.pipe\";'"},
    {"elif", HABIT_FIRST, "write 'else if (...)'"},
    {"elsif", HABIT_FIRST, "write 'else if (...)'"},
    {"elseif", HABIT_FIRST, "write 'else if (...)'"},
    {"until", HABIT_FIRST, "loops go on while a condition holds: 'while (!(...))'"},
    {"foreach", HABIT_FIRST, "write 'for (i32 i = 0; i < N; i++)'"},
    {"try", HABIT_FIRST, EXCEPTIONS},
    {"throw", HABIT_FIRST, EXCEPTIONS},
    {"raise", HABIT_FIRST, EXCEPTIONS},
    {"assert", HABIT_FIRST, "a test says 'expect PORT == {...};'"},
    {"emit", HABIT_FIRST, APPEND},
    {"yield", HABIT_FIRST, APPEND},
    {"and", HABIT_OPERATOR, "write '&&'"},
    {"or", HABIT_OPERATOR, "write '||'"},
    {"not", HABIT_OPERATOR, "write '!'"},
    {"clamp", HABIT_NAME, "write 'min(max(x, low), high)'"},
    {"saturate", HABIT_NAME, "write 'min(max(x, 0), 1)'"},
    {"lerp", HABIT_NAME, "write 'a + (b - a) * t'"},
    {"mix", HABIT_NAME, "write 'a + (b - a) * t'"},
    {"step", HABIT_NAME, "write 'x < edge ? 0 : 1'"},
    {"sign", HABIT_NAME, "write 'x > 0 ? 1 : x < 0 ? -1 : 0'"},
    {"rsqrt", HABIT_NAME, "write '1 / sqrt(x)'"},
    {"square", HABIT_NAME, "write 'x * x'"},
    {"sqr", HABIT_NAME, "write 'x * x'"},
    {"fract", HABIT_NAME, "write 'x - floor(x)'"},
    {"dot", HABIT_NAME, "multiply the vectors, and add up the elements: 'p.x + p.y'"},
    {"length", HABIT_NAME, LENGTH},
    {"len", HABIT_NAME, LENGTH},
    {"ln", HABIT_NAME, "the natural logarithm is 'log(x)'"},
    {"swap", HABIT_NAME, "with a third variable: 'f32 t = a; a = b; b = t;'"},
    {"rand", HABIT_NAME, RANDOM},
    {"random", HABIT_NAME, RANDOM},
    {"printf", HABIT_NAME, OUTPUT},
    {"print", HABIT_NAME, OUTPUT},
    {"println", HABIT_NAME, OUTPUT},
    {"fprintf", HABIT_NAME, OUTPUT},
    {"puts", HABIT_NAME, OUTPUT},
    {"putchar", HABIT_NAME, OUTPUT},
    {"cout", HABIT_NAME, OUTPUT},
    {"std", HABIT_NAME, OUTPUT},
    {"echo", HABIT_NAME, OUTPUT},
    {"debug", HABIT_NAME, OUTPUT},
    {"trace", HABIT_NAME, OUTPUT},
    {"printk", HABIT_NAME, OUTPUT},
    {"console", HABIT_NAME, OUTPUT},
    {"complex", HABIT_NAME, COMPLEX},
    {"cfloat", HABIT_NAME, COMPLEX},
    {"complex64", HABIT_NAME, COMPLEX},
    {"complex_float", HABIT_NAME, COMPLEX},
    {"string", HABIT_NAME, TEXT_TYPE},
    {"str", HABIT_NAME, TEXT_TYPE},
    {"String", HABIT_NAME, TEXT_TYPE},
    {"malloc", HABIT_NAME, MEMORY},
    {"calloc", HABIT_NAME, MEMORY},
    {"free", HABIT_NAME, MEMORY},
    {"memcpy", HABIT_NAME, "arrays are values: assign them"},
    {"NULL", HABIT_NAME, POINTERS},
    {"nullptr", HABIT_NAME, POINTERS},
    {"M_PI", HABIT_NAME, "declare it: 'const f64 M_PI = 3.141592653589793;'"},
    {"push", HABIT_NAME, APPEND},
    {"send", HABIT_NAME, APPEND},
    {"pop", HABIT_NAME, WINDOW},
    {"peek", HABIT_NAME, WINDOW},
    {"read", HABIT_NAME, WINDOW},
    {"receive", HABIT_NAME, WINDOW},
    {"write", HABIT_NAME, APPEND},
    {"get_global_id", HABIT_NAME,
     "each firing has its own packets: x[0] is the first that it sees"},
    {"get_local_id", HABIT_NAME, ITEM},
    {"threadIdx", HABIT_NAME, ITEM},
    {"__syncthreads", HABIT_NAME, MEETING},
    {"syncthreads", HABIT_NAME, MEETING},
    {"__shared__", HABIT_FIRST, SHARED},
    {"__local", HABIT_FIRST, SHARED},
    {"shared", HABIT_FIRST, SHARED},
};

const struct habit *habit_find(const char *word)
{
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
        if (strcmp(habits[i].word, word) == 0) return &habits[i];
    return NULL;
}

const char *habit_type(const char *word)
{
    static const char *const known[][2] = {
        {"float", "f32"},    {"double", "f64"},    {"half", "f16"},     {"char", "i8"},
        {"short", "i16"},    {"long", "i64"},      {"unsigned", "u32"}, {"signed", "i32"},
        {"uint", "u32"},     {"uchar", "u8"},      {"ushort", "u16"},   {"ulong", "u64"},
        {"int8_t", "i8"},    {"int16_t", "i16"},   {"int32_t", "i32"},  {"int64_t", "i64"},
        {"uint8_t", "u8"},   {"uint16_t", "u16"},  {"uint32_t", "u32"}, {"uint64_t", "u64"},
        {"size_t", "u64"},   {"byte", "u8"},       {"boolean", "bool"}, {"_Bool", "bool"},
        {"usize", "u64"},    {"isize", "i64"},     {"float32", "f32"},  {"float64", "f64"},
        {"float16", "f16"},  {"bfloat16", "bf16"}, {"int8", "i8"},      {"int16", "i16"},
        {"int32", "i32"},    {"int64", "i64"},     {"uint8", "u8"},     {"uint16", "u16"},
        {"uint32", "u32"},   {"uint64", "u64"},    {"integer", "i32"},  {"real", "f32"},
        {"float2", "f32x2"}, {"float3", "f32x3"},  {"float4", "f32x4"}, {"float8", "f32x8"},
        {"vec2", "f32x2"},   {"vec3", "f32x3"},    {"vec4", "f32x4"},   {"int2", "i32x2"},
        {"int4", "i32x4"},   {"uchar4", "u8x4"},   {"uint4", "u32x4"},  {"double2", "f64x2"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], word) == 0) return known[i][1];
    return NULL;
}
