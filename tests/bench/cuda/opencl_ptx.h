/* SPDX-License-Identifier: MIT */
/*
 * opencl_ptx: what tests/bench/peers/peer_kernels.cl needs of OpenCL, for clang's OpenCL without headers, on an NVIDIA GPU.
 *
 * With DEPENDENT each kernel may begin before the one before it has ended (programmatic dependent launch): it waits for that
 * one where it asks for its number, which is before it reads anything.
 */
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef float __attribute__((ext_vector_type(2))) float2;

#define OVERLOADED static inline __attribute__((overloadable, always_inline))

OVERLOADED size_t get_global_id(uint dimension)
{
#ifdef DEPENDENT
    if (dimension == 0)
        __asm__ volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
    switch (dimension) {
    case 0:
        return (size_t)__nvvm_read_ptx_sreg_ctaid_x() * (size_t)__nvvm_read_ptx_sreg_ntid_x() +
               (size_t)__nvvm_read_ptx_sreg_tid_x();
    case 1: return (size_t)__nvvm_read_ptx_sreg_ctaid_y();
    default: return (size_t)__nvvm_read_ptx_sreg_ctaid_z();
    }
}

OVERLOADED float fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
OVERLOADED double fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
OVERLOADED double fabs(double a)
{
    return __builtin_fabs(a);
}
OVERLOADED float fmin(float a, float b)
{
    return __builtin_fminf(a, b);
}
OVERLOADED float fmax(float a, float b)
{
    return __builtin_fmaxf(a, b);
}
OVERLOADED double copysign(double a, double b)
{
    return __builtin_copysign(a, b);
}
OVERLOADED int signbit(double a)
{
    return __builtin_signbit(a);
}
OVERLOADED int max(int a, int b)
{
    return a > b ? a : b;
}
OVERLOADED int min(int a, int b)
{
    return a < b ? a : b;
}
OVERLOADED uint min(uint a, uint b)
{
    return a < b ? a : b;
}
OVERLOADED uint abs(int a)
{
    return (uint)(a < 0 ? -a : a);
}
OVERLOADED uint rotate(uint a, uint by)
{
    return a << by | a >> (32 - by);
}

/* Without it clang leaves a call in each kernel, of its own body. */
#define kernel __kernel __attribute__((flatten))
