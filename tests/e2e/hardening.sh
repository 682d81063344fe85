#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is built is hardened: position-independent, relocations read-only and bound at once, no executable stack and no
# segment that is both writable and executable, canaries, checked libc calls, CET marks, stack probes.  Each reader is
# tried on a program that is built without, and has to miss it there; so is the image of a container.
# shellcheck disable=SC2317 # functions are called through check
set -eu
export LC_ALL=C
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
[ "$VARIANT" = release ] || { echo "what ships is VARIANT=release"; exit 77; }
for tool in readelf objdump nm ar cc; do command -v $tool >/dev/null || { echo "there is no $tool"; exit 77; }; done

# ---- the readers ----

is_pie() { readelf -hW "$1" | grep -q 'Type: *DYN' && readelf -dW "$1" | grep 'FLAGS_1' | grep -qw PIE; }
has_relro() { readelf -lW "$1" | grep -q '^ *GNU_RELRO'; }
binds_now() { readelf -dW "$1" | grep 'FLAGS' | grep -qwE 'NOW|BIND_NOW'; }
stack_is_data() { readelf -lW "$1" | grep -qE '^ *GNU_STACK.* RW +0x'; }
no_segment_is_both() { readelf -lW "$1" >segments && grep -q '^ *LOAD' segments && ! grep -qE '^ *LOAD.* R?WE +0x' segments; }
# No relocation changes code, and no library is looked for in a folder of the builder's.
no_text_relocations() { readelf -dW "$1" >dynamic && grep -q Dynamic dynamic && ! grep -qw TEXTREL dynamic; }
no_search_path() { readelf -dW "$1" >dynamic && grep -q Dynamic dynamic && ! grep -qE '\((RPATH|RUNPATH)\)' dynamic; }
has_canaries() { nm -D "$1" | grep -q 'U __stack_chk_fail'; }
# Indirect branch tracking and shadow stacks.  The mark promises that what the dynamic linker enters begins with ENDBR64.
has_cet_mark() { readelf -nW "$1" 2>/dev/null | grep -q 'x86 feature: IBT, SHSTK'; }
address_of() { # FILE WORD: the address that stands after the word, without 0x and leading zeros
    { readelf -hW "$1"; readelf -dW "$1"; } 2>/dev/null | sed -nE "s/.*$2[^0]*0x0*([0-9a-f]+).*/\\1/p" | head -n 1
}
begins_marked() { # FILE ADDRESS
    objdump -d --start-address="0x$2" --stop-address="$((0x$2 + 4))" "$1" 2>/dev/null | grep -qw endbr64
}
entries_are_marked() {
    for word in 'Entry point address:' '\(INIT\)' '\(FINI\)'; do
        address=$(address_of "$1" "$word")
        [ -z "$address" ] || [ "$address" = 0 ] || begins_marked "$1" "$address" || { echo "$word $address"; return 1; }
    done
}
has_checked_calls() { nm -D "$1" | grep -qE 'U __[a-z]+_chk(@|$)'; }

cet=
[ "$(uname -m)" != x86_64 ] || cet=has_cet_mark

# ---- each of them finds what it is for ----

cat >weak.c <<'END'
#include <stdio.h>
#include <string.h>
__asm__(".pushsection .both,\"awx\"\n.byte 0\n.popsection");
extern int mattering;
int mattering = 1;
int main(int count, char **words)
{
    char text[32];
    static int *where = &mattering;
    strcpy(text, words[count - 1]);
    return printf("%s%d\n", text, *where) < 0;
}
END
cc -O2 -fno-pie -no-pie -fcf-protection=none -U_FORTIFY_SOURCE -fno-stack-protector -Wl,-z,norelro -Wl,-z,lazy -Wl,-z,execstack \
    -Wl,-rpath,/nowhere weak.c -o weak 2>/dev/null
cc -O2 -shared -fno-pic -mcmodel=large -Wl,-z,notext weak.c -o weak.so 2>/dev/null || true
cc -O2 -fcf-protection=none -Wl,-e,main weak.c -o unmarked_entry 2>/dev/null || true
misses() { ! "$1" weak; }
for reader in is_pie has_relro binds_now stack_is_data no_segment_is_both no_search_path has_canaries has_checked_calls $cet; do
    check "a program without is told: $reader" misses "$reader"
done
if [ -n "$cet" ] && [ -e unmarked_entry ]; then
    misses_entry() { ! entries_are_marked unmarked_entry >/dev/null; }
    check "a program without is told: entries_are_marked" misses_entry
fi
if [ -e weak.so ] && readelf -dW weak.so | grep -qw TEXTREL; then
    misses_in_library() { ! no_text_relocations weak.so; }
    check "a program without is told: no_text_relocations" misses_in_library
fi

# ---- what is built ----

for program in pipec piperun; do
    check "$program: is_pie" is_pie "$BUILD/$program"
done
for file in pipec piperun libpipert.so; do
    for reader in $cet ${cet:+entries_are_marked}; do check "$file: $reader" "$reader" "$BUILD/$file"; done
done
for file in pipec piperun libpipert.so; do
    for reader in has_relro binds_now stack_is_data no_segment_is_both no_text_relocations no_search_path has_canaries has_checked_calls; do
        check "$file: $reader" $reader "$BUILD/$file"
    done
done

# ---- each object, by its own account: what a program is linked with besides is the system's ----

# gcc writes its options into the debugging information, clang does not.
options=$(readelf --debug-dump=info "$BUILD/libpipert.a" 2>/dev/null | grep -c 'DW_AT_producer' || true)
told() { readelf --debug-dump=info "$BUILD/libpipert.a" 2>/dev/null | grep DW_AT_producer | grep -c -e "$1" || true; }
every_object() { [ "$options" -gt 50 ] && [ "$(told "$1")" -eq "$options" ]; }
if [ "$(told 'GNU C')" -gt 0 ]; then
    for option in -fstack-protector-strong -fno-delete-null-pointer-checks -fno-strict-overflow -fno-strict-aliasing; do
        check "every object of libpipert: $option" every_object "$option"
    done
    never_told() { [ "$(told -fno-such-option)" -eq 0 ]; }
    check "an option that nothing was compiled with is not found" never_told
    [ "$(uname -m)" != x86_64 ] || check "every object of libpipert: -fstack-clash-protection" every_object -fstack-clash-protection
fi
if [ "$(uname -m)" = x86_64 ]; then
    marked() { readelf -nW "$@" 2>/dev/null | grep -c 'x86 feature:.*IBT.*SHSTK' || true; }
    all_marked() { [ "$1" -gt "$2" ] && [ "$(marked "${@:3}")" -eq "$1" ]; }
    for archive in "$BUILD/libpipert.a" "$BUILD"/llvm*/libpipec.a; do
        check "every object of ${archive#"$BUILD"/}: CET" all_marked "$(ar t "$archive" | wc -l)" 50 "$archive"
    done
    mains=("$BUILD"/obj/tools/piperun/*.o "$BUILD"/obj/tools/piperun/io/*.o "$BUILD"/obj/base/entry/*.o "$BUILD"/llvm*/compiler/commands/pipec.o)
    check "every object of the commands: CET" all_marked ${#mains[@]} 5 "${mains[@]}"
    cc -c -fcf-protection=none weak.c -o weak.o
    unmarked() { [ "$(marked weak.o)" -eq 0 ]; }
    check "an object without CET is told" unmarked
fi

# ---- the image of a container: found by its magic number, because readelf needs it in a file of its own ----

echo 'kernel k(in f32 x, out f32 y) { y <- x; } pipeline main(in f32 x, out f32 y) { x -> k -> y; }' >k.pipe
"$PIPEC" k.pipe -o k.pbc
at=$(grep -abo $'\x7fELF' k.pbc | head -n 1 | cut -d: -f1)
tail -c +$((at + 1)) k.pbc >image.so
for reader in has_relro binds_now stack_is_data no_segment_is_both no_text_relocations no_search_path $cet; do
    check "the image of a container: $reader" "$reader" image.so
done
