#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `make install` leaves is complete: the programs run from there, and a C program finds header and library
# through pkg-config, shared and static.  The shared library exports what the public headers declare and nothing else.
# shellcheck disable=SC2046,SC2317 # word lists from pkg-config; functions called by verdict
set -eu

case $VARIANT in release | debug) ;; *) echo "not with a sanitized library"; exit 77 ;; esac
prefix=$TMP/prefix
make --no-print-directory -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" \
    PREFIX="$prefix" install >/dev/null

verdict() { if "${@:2}"; then echo "ok $1"; else echo "not ok $1"; status=1; fi; }
status=0

# Another spelling of the build folder is no other build: this test, and every test beside it, would see it made anew.
flags_of() { make --no-print-directory -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$1" flags; }
one_folder() {
    [ "$(flags_of nowhere)" = "$(flags_of ./nowhere/)" ] && [ "$(flags_of nowhere)" = "$(flags_of "$ROOT/nowhere")" ] &&
        [ "$(flags_of "$TMP/nowhere")" != "$(flags_of nowhere)" ]
}
verdict one_folder_however_it_is_spelt one_folder

programs_start() { "$prefix/bin/pipec" --version && "$prefix/bin/piperun" --version; }
verdict programs_start programs_start

# Declared: by the compiler's own account of a program that includes the installed headers and uses none of them.
nm -D --defined-only "$prefix/lib/libpipert.so" | awk '$2 != "A" { print $3 }' >"$TMP/versioned"
sed 's/@@PIPERT_0$//' "$TMP/versioned" | sort >"$TMP/exports"
headers=$prefix/include/pipec
declared() {
    printf '#include <pipert.h>\n#include <pipert_debug.h>\n#include <pipert_queue.h>\n' |
        gcc -I"$headers" -x c -S -o /dev/null -aux-info "$TMP/declarations" - &&
        grep -E "^/\* $headers/[^ ]*:NC \*/ extern" "$TMP/declarations" |
        sed -E 's/.*[ *]([a-z_0-9]+) \(.*/\1/' | sort -u >"$TMP/declared"
}
exports_what_is_declared() {
    declared && [ "$(wc -l <"$TMP/declared")" -gt 50 ] && diff "$TMP/declared" "$TMP/exports"
}
verdict exports_what_is_declared exports_what_is_declared

# The readers of files belong to piperun: a program that embeds the runtime needs no library for pictures or sound.
# Sanitizers are libraries, too, but this test does not run with them.
needs_few_libraries() {
    local others
    others=$(readelf -d "$prefix/lib/libpipert.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -Ev '^(libc|libm|libdl|libpthread|libhwloc|libxxhash|ld-linux[-a-z0-9_]*)\.so\.') || true
    [ -z "$others" ] || { echo "# libpipert.so needs $others"; return 1; }
    ! nm "$prefix/lib/libpipert.a" 2>/dev/null | grep -E ' U (png_|gz|deflate|inflate|sf_)' &&
        ! sed '/^prefix=/d' "$prefix/lib/pkgconfig/pipert.pc" | grep -E 'png|-lz|sndfile' # the prefix is a random name
}
verdict the_library_needs_hwloc_and_xxhash_only needs_few_libraries

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# Takes the address of every exported function that the headers declare, so that all must link.
{
    echo '#include <pipert.h>'
    echo '#include <pipert_debug.h>'
    echo '#include <pipert_queue.h>'
    echo 'int main(void) { void (*all[])(void) = {'
    grep -ohE '\bprt_[a-z0-9_]+\(' "$prefix"/include/pipec/pipert{,_debug,_queue}.h | tr -d '(' | sort -u |
        grep -xFf "$TMP/exports" | sed 's/.*/(void (*)(void))&,/'
    echo '}; return all[0] == 0; }'
} >"$TMP/user.c"

links_shared() {
    gcc "$TMP/user.c" -o "$TMP/shared" $(pkg-config --cflags --libs pipert) &&
        LD_LIBRARY_PATH=$prefix/lib "$TMP/shared"
}
links_static() {
    gcc "$TMP/user.c" -o "$TMP/static" $(pkg-config --cflags pipert) "$prefix/lib/libpipert.a" \
        $(pkg-config --static --libs pipert | sed 's/-lpipert//') && "$TMP/static"
}
# Opens a device, partitions it, queries and releases it, with installed files only.
cat >"$TMP/devices.c" <<'END'
#include <pipert.h>
#include <stdio.h>
int main(void)
{
    struct prt_device_tree *tree;
    struct prt_device_figures figures;
    struct prt_device_information half;
    struct prt_device_handle made[2], device;
    struct prt_error error;
    const int64_t next[] = {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_NEXT_PARTITIONABLE, 0};
    int64_t type[3];
    size_t length;
    uint32_t count;
    if (prt_device_open("sim17", NULL, NULL, &tree, NULL, &error) != PRT_E_USAGE) return 1;
    if (prt_device_open("sim16", NULL, NULL, &tree, &figures, &error) != PRT_OK) return 2;
    device = prt_device_tree_root(tree);
    if (prt_create_sub_devices(tree, device, next, 2, made, &count) != PRT_OK) return 3;
    if (prt_device_partition_type(tree, made[1], type, 3, &length) != PRT_OK) return 4;
    if (prt_device_retain(tree, made[1]) != PRT_OK) return 5;
    if (prt_device_query(tree, made[1], &half) != PRT_OK) return 6;
    printf("%u of %s: %u CUs, level %d, %u references\n", count, figures.name, half.cu_count,
           (int)type[1], half.reference_count);
    if (prt_device_release(tree, made[1]) != PRT_OK) return 7;
    if (prt_device_release(tree, made[1]) != PRT_OK) return 8;
    if (prt_device_release(tree, made[1]) != PRT_E_INVALID_DEVICE) return 9;
    prt_device_tree_destroy(tree);
    return 0;
}
END
partitions_devices() {
    gcc -Wall -Wextra -Werror "$TMP/devices.c" -o "$TMP/devices" $(pkg-config --cflags --libs pipert) &&
        LD_LIBRARY_PATH=$prefix/lib "$TMP/devices" >"$TMP/said" &&
        grep -qx '2 of sim16: 8 CUs, level 4, 2 references' "$TMP/said"
}
verdict partitions_devices partitions_devices

# Compiles for half of a device; runs there on a handle, and a kernel of it in queues on both halves, side by side.  The
# headers are C++, too.
cat >"$TMP/queues.c" <<'END'
#include <pipert.h>
#include <pipert_queue.h>
#include <stdio.h>
static int on_handle(struct prt_program *program, struct prt_device_tree *tree, struct prt_device_handle part)
{
    int x[3] = {1, 2, 3}, y[3] = {0, 0, 0};
    size_t count = 0;
    struct prt_run_options options = prt_run_options();
    struct prt_run *run = NULL;
    struct prt_error error;
    options.tree = tree;
    options.part = part;
    if (prt_run_create(program, &options, &run, &error) != PRT_OK) return 1;
    if (prt_run_bind_input_memory(run, 0, x, 3, &error) != PRT_OK) return 2;
    if (prt_run_bind_output_memory(run, 1, y, 3, &count, &error) != PRT_OK) return 3;
    if (prt_run_execute(run, &error) != PRT_OK) return 4;
    prt_run_destroy(run);
    return count == 3 && y[2] == 9 ? 0 : 5;
}
int main(int argc, char **argv)
{
    struct prt_device_tree *tree;
    struct prt_program *program;
    struct prt_device_handle halves[2];
    struct prt_command_queue *queues[2] = {NULL, NULL};
    struct prt_command_event events[2];
    struct prt_error error;
    int x[100], y[2][100], i;
    const int64_t by_l3[] = {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_L3, 0};
    if (argc < 2 || prt_program_load_file(argv[1], &program, &error) != PRT_OK) return 1;
    if (prt_device_open("sim16", NULL, NULL, &tree, NULL, &error) != PRT_OK) return 2;
    if (prt_create_sub_devices(tree, prt_device_tree_root(tree), by_l3, 2, halves, NULL) != PRT_OK) return 3;
    if (on_handle(program, tree, halves[1]) != 0) return 4;
    for (i = 0; i < 100; i++) x[i] = i;
    for (i = 0; i < 2; i++) {
        struct prt_command_queue_options options = prt_command_queue_options();
        struct prt_command command = prt_command();
        struct prt_command_input in = {x, 100};
        struct prt_command_output out = {y[i], 100, NULL};
        options.beside = queues[0];
        command.kernel = "square";
        command.firings = 100;
        command.inputs = &in;
        command.outputs = &out;
        command.input_count = command.output_count = 1;
        if (prt_command_queue_create(program, tree, halves[i], &options, &queues[i], &error) != PRT_OK) return 5;
        if (prt_command_queue_enqueue(queues[i], &command, &events[i], &error) != PRT_OK) return 6;
    }
    prt_device_tree_destroy(tree);
    for (i = 0; i < 2; i++)
        if (prt_command_queue_wait(queues[i], &error) != PRT_OK) return 7;
    printf("%d %d, both from cycle %d on: %d\n", y[0][99], y[1][99], (int)events[0].begin_cycles,
           events[1].begin_cycles == events[0].begin_cycles && events[0].end_cycles == events[1].end_cycles);
    for (i = 0; i < 2; i++) prt_command_queue_destroy(queues[i]);
    prt_program_free(program);
    return 0;
}
END
queues_execute_side_by_side() {
    local name language
    echo 'kernel square(in i32 x, out i32 y) { y <- x * x; } pipeline main(in i32 x, out i32 y) { x -> square -> y; }' >"$TMP/q.pipe"
    (cd "$TMP" && "$prefix/bin/piperun" partition sim16 by-affinity l3 --describe 1 >half.dev &&
        "$prefix/bin/pipec" -q --device half.dev q.pipe -o q.pbc) || return 1
    sed -E 's/= (prt_[a-z_]+)\(\);/= {0};/' "$TMP/queues.c" >"$TMP/queues_c.c"
    for language in c c++; do
        name=$TMP/queues_c.c
        [ "$language" = c ] || name=$TMP/queues.c
        gcc -x "$language" -Wall -Wextra -Werror "$name" -o "$TMP/queues" $(pkg-config --cflags --libs pipert) || return 1
        [ "$(LD_LIBRARY_PATH=$prefix/lib "$TMP/queues" "$TMP/q.pbc")" = '9801 9801, both from cycle 0 on: 1' ] || return 1
    done
}
verdict queues_execute_side_by_side queues_execute_side_by_side
verdict links_shared links_shared
verdict links_static links_static

# The same with libraries in another folder, as Debian has it.
libraries_of_another_folder() {
    local other=$TMP/other
    make --no-print-directory -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" DESTDIR="$other" \
        PREFIX=/usr LIBDIR=/usr/lib/some-linux-gnu install >/dev/null &&
        [ ! -e "$other/usr/lib/pkgconfig" ] && [ -e "$other/usr/lib/some-linux-gnu/libpipert.so.0" ] &&
        grep -qx 'libdir=/usr/lib/some-linux-gnu' "$other/usr/lib/some-linux-gnu/pkgconfig/pipert.pc" &&
        grep -q '"/usr/lib/some-linux-gnu/libpipert.so.0"' "$other/usr/lib/some-linux-gnu/cmake/Pipec/PipecConfig.cmake" &&
        ! grep -r '@[A-Z]*@' "$other/usr/lib" --include='*.pc' --include='*.cmake' &&
        make --no-print-directory -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" DESTDIR="$other" \
            PREFIX=/usr LIBDIR=/usr/lib/some-linux-gnu uninstall >/dev/null &&
        [ -z "$(find "$other" ! -type d)" ]
}
verdict libraries_of_another_folder libraries_of_another_folder
completes_command_lines() {
    local share=$prefix/share
    bash -c "PATH=$prefix/bin; . $share/bash-completion/completions/piperun; complete -p pipec" | grep -q -- '-F _pipec' &&
        grep -q '^#compdef pipec piperun' "$share/zsh/site-functions/_pipec" && [ -s "$share/fish/vendor_completions.d/piperun.fish" ]
}
verdict completes_command_lines completes_command_lines
names_the_programs() {
    [ "$(pkg-config --variable=pipec pipec)" = "$prefix/bin/pipec" ] && [ -x "$(pkg-config --variable=piperun pipec)" ] &&
        [ -e "$(pkg-config --variable=stddir pipec)/dsp.pipe" ] && [ -e "$(pkg-config --variable=devicedir pipec)/sim16.dev" ]
}
verdict names_the_programs names_the_programs

uninstall_removes_all() {
    make --no-print-directory -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" \
        PREFIX="$prefix" uninstall >/dev/null
    [ -z "$(find "$prefix" ! -type d)" ]
}
verdict uninstall_removes_all uninstall_removes_all
exit $status
