#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fuzz_plants.sh [TARGET...]: shows that each fuzz target can fail: for each of them a bug is planted in a copy of the
# sources, and the seeds, which the target passes with the sources as they are, have to find it.  Prints a TAP line for
# each; exit 1 if one is not found.  A target that does not end within a minute has failed, too.
#
# Environment: BUILD (default build): objects are kept in BUILD/plants.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
mkdir -p "${BUILD:-build}"
build=$(realpath "${BUILD:-build}")/plants
only=" $* "
copy=$build/copy
bin=$build/debug
mkdir -p "$build"

# make_copy TARGET...: builds what the copy is now.
make_copy() { make --no-print-directory -s -C "$copy" BUILD="$build" VARIANT=debug "$@"; }

# replay TARGET: the seeds of the target; false if it fails.
replay() {
    local seeds=$copy/tests/fuzz/corpus/$1
    [ "$1" != container ] || seeds=$build/seeds
    find "$seeds" -type f -print0 | sort -z | FUZZ_SEEDS=1 xargs -0 timeout 60 "$bin/tests/replay_fuzz_$1" >/dev/null 2>&1
}

# plant TARGET FILE EXPRESSION: an expression of sed that changes FILE.
plant() {
    local target=$1 file=$2 expression=$3
    case $only in '  ' | *" $target "*) ;; *) return ;; esac
    make_copy "$bin/tests/replay_fuzz_$target"
    if ! replay "$target"; then
        echo "not ok $target: fails without a bug"
    else
        cp "$copy/$file" "$build/before"
        sed -i -E "$expression" "$copy/$file"
        if cmp -s "$copy/$file" "$build/before"; then
            echo "not ok $target: $file has changed: nothing is planted"
        else
            make_copy "$bin/tests/replay_fuzz_$target"
            if replay "$target"; then echo "not ok $target: what is planted in $file is not found"; else echo "ok $target: $file"; fi
        fi
        cp "$build/before" "$copy/$file"
    fi
}

plants() {
    plant parser compiler/syntax/ast_print.c 's/^        ast_print_expr\(to, expr\);/        ast_print_expr(to, expr->next);/'
    plant format compiler/format/format_layout.c 's/put_layout_text\(l, text, first, format_columns/put_layout_text(l, text, first > 4 ? first - 1 : first, format_columns/'
    plant devdesc lang/devdesc_text.c 's/return text\.length;/return text.length + 1;/'
    plant commands compiler/describe/graph_cmds.c 's/"depth %" PRIu64 ";\\n", buffer->depth_packets/"depth %" PRIu64 ";\\n", buffer->depth_packets + 1/'
    plant packets lang/dispatch_codec.c 's/DIFFERS\(KERNEL_OBJECT, kernel_object\) \| DIFFERS\(KERNARG_ADDRESS, kernarg_address\) \|$//'
    plant program model/block.c 's/out->target = index_at\[decoded\.operands\[i\]\];/out->target = index_at[decoded.operands[i]] + 1;/'
    plant program runtime/verify/verify_levels.c 's/^    bool all;$/    bool all, launched = x->now.done;/; /on some path to it no stage has been selected/{n;s/forget_questions\(x\);/forget_questions(x); x->now.done = true;/;}; s/x->now.done = all;/x->now.done = all || launched;/'
    plant program runtime/device/kernel_call.c 's/ \+ skip \* object->push_bytes\[i\];/;/'
    plant container core/launch.c 's/^    core_fifo_release\(&buffer->fifo, input->reader, packets\);/    core_fifo_release(\&buffer->fifo, input->reader, packets > 2 ? packets - 1 : packets);/'
    plant container runtime/verify/verify_rates.c 's/enum \{ WINDOW_SIDE_MAX = 1023 \}/enum { WINDOW_SIDE_MAX = 1 }/'
    plant plan runtime/verify/verify_indices.c 's/return is_dedicated\(a\) && is_dedicated\(b\) &&/return false \&\&/'
    plant streams tools/piperun/io/sound_header.c 's/layout->open_ended = !reader->regular;/layout->open_ended = false;/'
    plant lsp compiler/commands/lsp_server.c 's/at = newline != NULL \? newline \+ 1 : end;/at = newline + 1;/'
    plant edit compiler/editor/edit_operations.c 's/ && !lines\.has_comment//'
    plant assembler lang/sched_asm.c 's/a->line \+= newline != NULL;/a->line++;/'
    plant interleaving model/block.c 's/if \(core_stage\(core, readers\[i\]\.stage\)->queue != queue\) return false;/(void)queue;/'
    plant subdevices model/subdevice.c 's/ \|\| slot->attachment_count != 0\)/)/'
}

rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z | xargs -0 cp --parents -t "$copy"
make_copy "$bin/pipec"
"$copy/tests/fuzz/seeds.sh" "$bin/pipec" "$build/seeds"
plants | tee "$build/found"
! grep -q '^not ok' "$build/found"
