#!/bin/sh
# SPDX-License-Identifier: MIT
# A fault of a kernel is reported with its instance, its firing and its line: the same on every device, in one stage
# with its neighbours and by itself, with one thread and several.  A crash of its native code is reported with the firings
# that were being executed, an endless one by the time limit; nothing is published.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# pipeline BODY AT: three kernels in a row, of which the one at AT (one, two, three) has the body of `risky`
pipeline() {
    cat <<END
kernel copy(in i32 x, out i32 y) { y <- x; }
kernel risky(in i32 x, out i32 y$RATE) {
    state i32 kept[4];
    $1
}
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b;
    one: $([ "$2" = one ] && echo risky || echo copy)(x -> a);
    two: $([ "$2" = two ] && echo risky || echo copy)(a -> b);
    three: $([ "$2" = three ] && echo risky || echo copy)(b -> y);
}
END
}

# reported PATTERN: standard error of piperun, on every device, whole
told() {
    bad=0
    for fuse in --fuse --no-fuse; do
        for device in sim4 cpu:1 cpu:3; do
            # shellcheck disable=SC2086
            [ $device = cpu:3 ] || "$PIPEC" $FLAGS --device "${device%:*}" $fuse f.pipe -o f.pbc 2>compile.txt ||
                { cat compile.txt; bad=1; }
            rm -f out.raw
            status=0
            timeout 60 "$PIPERUN" --device "$device" f.pbc x=gen:ramp:3000 y=out.raw 2>said </dev/null || status=$?
            if [ $status -ne 4 ] || [ -e out.raw ] || ! grep -Eq "$1" said || ! grep -Eq "$2" said; then
                echo "$device $fuse: exit status $status, expected 4 and /$1/ and /$2/"
                cat said
                bad=1
            fi
        done
    done
    [ $bad -eq 0 ]
}

FLAGS=
for at in one two three; do
    case $at in one) line=8 ;; two) line=9 ;; three) line=10 ;; esac
    where="^piperun: error: kernel '$at' \(instance at f\.pipe:$line\)"
    RATE=
    pipeline 'y <- 100 / (x - 1700) + kept[0];' $at >f.pipe
    check "$at: a division by zero" \
        told "$where divided by zero in firing 1700 \[division-by-zero\]$" 'at f\.pipe:4:10$'
    pipeline 'y <- kept[x < 1700 ? 0 : x];' $at >f.pipe
    check "$at: an index" told "$where.* 1700.* in firing 1700 \[index-out-of-range\]$" 'at f\.pipe:4:10$'
    RATE=' push 1'
    pipeline 'for (i32 i = 0; i < (x < 1700 ? 1 : 2); i++) y <- x + kept[0];' $at >f.pipe
    check "$at: more packets" \
        told "$where wrote 2 packets in firing 1700, declared 1 \[amplification-exceeded\]$" 'at f\.pipe:'
    pipeline 'if (x < 1700) y <- x + kept[0];' $at >f.pipe
    check "$at: fewer packets" \
        told "$where wrote 0 packets in firing 1700, declared 1 \[amplification-exceeded\]$" 'at f\.pipe:'
done

# Native code that crashes: an access that is not checked.
FLAGS=--no-bounds-checks
RATE=
pipeline 'y <- kept[x < 1700 ? 0 : x * 300000];' two >f.pipe
check "an unchecked access" \
    told "^piperun: error: kernel '(one\+two\+three|two)' \(instance at f\.pipe:[89]\) in firings [0-9]+ to [0-9]+ crashed: SIGSEGV " .

# Native code of another compiler, that ends in each way that there is: the linker brings it.
cat >crash.c <<'END'
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include "lang/kernel_abi.h"
/* To the calling thread; an image may not call libc. */
static void send(long signal_number)
{
    long thread, sent;
    __asm__ volatile("syscall" : "=a"(thread) : "0"((long)SYS_gettid) : "rcx", "r11", "memory");
    __asm__ volatile("syscall"
                     : "=a"(sent)
                     : "0"((long)SYS_tkill), "D"(thread), "S"(signal_number)
                     : "rcx", "r11", "memory");
}
int32_t pipe_k0_run(const struct kernel_batch *batch);
int32_t pipe_arguments(const void *block, void *const *nodes, struct kernel_fault *fault);
int32_t pipe_k0_run(const struct kernel_batch *batch)
{
    (void)batch;
    ACT;
    return KERNEL_OK;
}
int32_t pipe_arguments(const void *block, void *const *nodes, struct kernel_fault *fault)
{
    (void)block, (void)nodes, (void)fault;
    return KERNEL_OK;
}
END
cat >linker <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp crash.so "$2"
END
chmod +x linker
cat >f.pipe <<'END'
kernel copy(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, out i32 y) { x -> copy -> y; }
END
# crashes NAME ACT
crashes() {
    ${CC:-cc} -shared -fPIC -nostdlib -w -D"ACT=$2" -I"$ROOT" -o crash.so crash.c || return 1
    FLAGS=--linker=$TMP/linker
    told "^piperun: error: kernel 'copy' \(instance at f\.pipe:2\) in firings 0 to [0-9]+ crashed: $1 \[kernel-crash\]$" .
}
check "a division by the processor" crashes SIGFPE 'volatile int zero = 0; zero = 7 / zero'
check "abort" crashes SIGABRT 'send(SIGABRT)'
check "an instruction that there is not" crashes SIGILL '__asm__ volatile("ud2")'
check "a bus error" crashes SIGBUS 'send(SIGBUS)'
check "a stack that is used up" crashes SIGSEGV 'for (;;) { volatile char *p = __builtin_alloca(65536); *p = 1; }'

# A kernel that does not end.
endless="sim4 cpu:1 cpu:3"
if [ "$VARIANT" = tsan ]; then
    endless=
    echo "skip endless_kernels ThreadSanitizer delivers no signal to code that calls nothing"
fi
${CC:-cc} -shared -fPIC -nostdlib -w -D'ACT=for (;;) __asm__ volatile("")' -I"$ROOT" -o crash.so crash.c
for device in $endless; do
    "$PIPEC" --linker="$TMP/linker" --device "${device%:*}" f.pipe -o f.pbc
    check "an endless kernel on $device" says 5 "^copy .* in flight: [0-9]+ firings?$" \
        timeout -k 5 60 "$PIPERUN" --timeout 0.3 --device "$device" f.pbc x=gen:ramp:3000 y=out.raw
    check "an endless kernel on $device: nothing is left" test ! -e out.raw
done
