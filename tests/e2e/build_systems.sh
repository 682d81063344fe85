#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pipec in make, ninja, CMake and meson: a project builds, does nothing the second time, and builds again when an
# import changes; and the options for this, -M and its kin, --write-if-changed and @FILE.
# shellcheck disable=SC1003,SC2016,SC2317 # '$' and '\' stand in names and in makefiles; functions called by verdict
set -u
export PIPEC
unset MAKEFLAGS MAKELEVEL MFLAGS
cd "$TMP" || exit 1
# verdict NAME COMMAND...; the command is to succeed.
verdict() {
    if "${@:2}" >"$TMP/said" 2>&1; then
        echo "ok $1"
    else
        echo "not ok $1"
        cat "$TMP/said"
        return 1
    fi
}
refused() { "$PIPEC" "${@:2}" >out 2>err </dev/null; [ $? -eq "$1" ]; }
holds() { printf '%s\n' "${@:2}" | diff -u - "$1"; }
absent() { for name in "$@"; do [ ! -e "$name" ] || { echo "there is $name"; return 1; }; done; }
unchanged() { [ ! "$1" -nt "$2" ] && [ ! "$1" -ot "$2" ]; }

# project FOLDER: a source in `a b`, which imports two files, one through the other, of names with $mark.
mark='#$'
project() {
    mkdir -p "$1/a b/l${mark}b"
    printf '%s\n' "import \"l${mark}b/scale$mark.pipe\";" \
        'pipeline main(in f32 x, out f32 y) { x -> scale(2) -> y; }' >"$1/a b/m$mark.pipe"
    printf '%s\n' 'import "two words.pipe";' \
        'kernel scale(in f32 x, out f32 y; f32 by) { y <- by * x + offset; }' >"$1/a b/l${mark}b/scale$mark.pipe"
    printf 'const f32 offset = 1;\n' >"$1/a b/l${mark}b/two words.pipe"
}
result() { [ "$("$PIPERUN" "$1" x=gen:ramp:2 y=-,csv | tail -n 1)" = "$2" ]; }

# builds SYSTEM CONTAINER COMMAND...: what is asked of every build system.
builds() {
    local system=$1 container=$2 library="a b/l${mark}b"
    shift 2
    verdict "$system builds" "$@"
    verdict "$system: it runs" result "$container" 3
    sleep 0.05
    touch before
    verdict "$system runs a second time" "$@"
    verdict "$system: nothing was made" [ "$container" -ot before ]
    printf 'const f32 offset = 5;\n' >"$library/two words.pipe"
    verdict "$system builds again when an import changes" "$@"
    verdict "$system: the change is in" result "$container" 7
    sed -i s/two/three/ "$library/scale$mark.pipe"
    mv "$library/two words.pipe" "$library/three words.pipe"
    verdict "$system goes on when an import is renamed" "$@"
    verdict "$system: it runs again" result "$container" 7
}

# ---- the rule itself ----

project rule
cd rule || exit 1
main='a b/m#$.pipe'
prerequisites=('  a\ b/l\#$$b/scale\#$$.pipe \' '  a\ b/l\#$$b/two\ words.pipe')
verdict "-MD" "$PIPEC" -MD "$main" -o 'x y.pbc'
verdict "the rule stands beside the output" holds 'x y.d' 'x\ y.pbc: a\ b/m\#$$.pipe \' "${prerequisites[@]}"
verdict "-MF, -MT, -MQ, -MP" "$PIPEC" "$main" -MMD -MFf.d -MP -MT '$(T) t' -MQ '$q' -MQ 'c:' -o x.pbc
verdict "targets are in order, imports have rules" holds f.d '$(T) t $$q c\:: a\ b/m\#$$.pipe \' "${prerequisites[@]}" \
    'a\ b/l\#$$b/scale\#$$.pipe:' 'a\ b/l\#$$b/two\ words.pipe:'
for option in -M -MM; do
    "$PIPEC" $option "$main" >m.d
    verdict "$option" holds m.d 'm\#$$.pbc: a\ b/m\#$$.pipe \' "${prerequisites[@]}"
done
verdict "-M does not depend on the pipeline" "$PIPEC" -M -p absent "$main" -MF absent.d
verdict "the rule is the same" cmp m.d absent.d
verdict "-M -o" "$PIPEC" -M "$main" -o m2.d
verdict "it is the same" cmp m.d m2.d
"$PIPEC" -MD -MF - "$main" -o x.pbc >m3.d
verdict "-MF -" grep -q '^x.pbc: a' m3.d
verdict "-MD without an output" "$PIPEC" -MD "$main"
verdict "is named after the source" cmp m.d 'm#$.d'
"$PIPEC" --emit=graph:g.txt -MD "$main"
verdict "--emit has a rule" grep -q '^g.txt: a' g.d
"$PIPEC" --emit=ast:t.txt -MD "$main"
verdict "--emit=ast too" grep -q '^t.txt: a' t.d
"$PIPEC" inspect -MD -MF i.d -MT i "$main" >out
verdict "inspect too" grep -q '^i: a' i.d
cp "$ROOT/lang/devices/sim4.dev" four.dev
"$PIPEC" --device four.dev -M "$main" >m4.d
verdict "a device description is listed" grep -q '^  four.dev ' m4.d
cat >std.pipe <<'END'
import "std/math.pipe";
kernel k(in f32 x, out f32 y) { y <- sin(x); }
pipeline main(in f32 x, out f32 y) { x -> k -> y; }
END
"$PIPEC" -M std.pipe >std.d
verdict "the built-in library is not" holds std.d 'std.pbc: std.pipe'
"$PIPEC" -M - <std.pipe >std.d
verdict "nor is standard input" holds std.d '-:'
# shellcheck disable=SC2002 # a pipe is meant
cat std.pipe | "$PIPEC" -MD -MFstd.d -MQ'a b' -
verdict "nor is a pipe" holds std.d 'a\ b:'
rm -f ./*.d ./*.pbc

verdict "-MF without -M is refused" refused 2 -MF f.d std.pipe
verdict "-MP without -M is refused" refused 2 -MP std.pipe
verdict "-MT without a value is refused" refused 2 -MD std.pipe -MT
verdict "-MX is refused" refused 2 -MX std.pipe
verdict "output and dependencies in one file are refused" refused 2 -MD std.pipe -o std.d
verdict "both on standard output are refused" refused 2 -MD -MF - std.pipe -o -
verdict "dependencies over the source are refused" refused 2 -MD -MF std.pipe std.pipe -o std.pbc
verdict "dependencies over an import are refused" refused 2 -MD -MF 'a b/l#$b/two words.pipe' "$main" -o x.pbc
verdict "a stream without a name needs -MF" refused 2 -MD -
verdict "a line break in a name is refused" refused 2 -MD -MQ $'a\nb' std.pipe -o std.pbc
verdict "nothing was left" absent ./*.d ./*.pbc

# ---- whole or nothing ----

printf 'pipeline main(in f32 x, out f32 y) { x -> nothing -> y; }\n' >bad.pipe
printf 'import "no.pipe";\n' >lost.pipe
verdict "a program is refused" refused 1 -MD bad.pipe -o bad.pbc
verdict "an import is missing" refused 1 -MD lost.pipe -o bad.pbc
verdict "an import is missing, -M" refused 1 -M -MF bad.d lost.pipe
verdict "a rule that cannot be written" refused 2 -MD -MF no/folder.d std.pipe -o bad.pbc
verdict "an output that cannot be written" refused 2 -MD -MF bad.d std.pipe -o no/bad.pbc
verdict "neither output nor rule appears" absent bad.pbc bad.d
verdict "no temporary file stays" absent ./*.d.?????? ./*.pbc.??????
cat >warned.pipe <<'END'
kernel cut(in u8 x, out u8 y) { u8 n = 300; y <- n; }
pipeline main(in u8 x, out u8 y) { x -> cut -> y; }
END
verdict "a warning that counts" refused 1 -MD -MF bad.d --fail-on=warning warned.pipe
verdict "it is only a warning" "$PIPEC" warned.pipe
verdict "no rule appears" absent bad.d
verdict "-M -MF goes before -o" "$PIPEC" -M -MF both.d -o both.pbc std.pipe
verdict "nothing is written to -o" absent both.pbc
echo old >bad.pbc
echo old >bad.d
"$PIPEC" -MD bad.pipe -o bad.pbc 2>err
verdict "an earlier rule stays" holds bad.d old
verdict "an earlier output stays" holds bad.pbc old

# ---- --write-if-changed ----

"$PIPEC" -MD std.pipe -o std.pbc
touch -d 2001-01-01 std.pbc std.d old
"$PIPEC" -MD --write-if-changed std.pipe -o std.pbc
verdict "an equal output keeps its time" unchanged std.pbc old
verdict "equal dependencies keep their time" unchanged std.d old
"$PIPEC" -MD --write-if-changed -p main --device sim4 std.pipe -o std.pbc
verdict "an output that differs is new" [ std.pbc -nt old ]
verdict "beside dependencies that are equal" unchanged std.d old
touch -d 2001-01-01 std.pbc
"$PIPEC" -MD -MP -MT t --write-if-changed --device sim4 std.pipe -o std.pbc
verdict "dependencies that differ are new" [ std.d -nt old ]
verdict "beside an output that is equal" unchanged std.pbc old
"$PIPEC" --device sim4 std.pipe -o std.pbc
verdict "without it an equal output is new" [ std.pbc -nt old ]
verdict "--write-if-changed makes a file" "$PIPEC" --write-if-changed std.pipe -o new.pbc
verdict "that is whole" "$PIPERUN" verify new.pbc
verdict "no temporary file stays behind" absent ./*.d.?????? ./*.pbc.??????

# ---- @FILE ----

cat >arguments <<'END'
-MD "-MF" r.d
 -MQ 'r r' @further
END
printf '%s' '-o re\ sult.pbc "a b/"m\#\$.pipe' >further
verdict "@FILE" "$PIPEC" @arguments
verdict "quotes, backslashes and nested files" grep -q '^r\\ r: a' r.d
verdict "arguments with spaces" result 're sult.pbc' 3
printf 'inspect' >first
"$PIPEC" @first "$main" >out
verdict "a command from a file" grep -q 'pipeline main' out
: >nothing
verdict "an empty file" "$PIPEC" @nothing std.pipe
verdict "a missing file is refused" refused 2 @missing std.pipe
verdict "it is named" grep -q "'missing': No such file" err
verdict "a folder is refused" refused 2 @. std.pipe
printf '\0' >binary
verdict "a file that is not text is refused" refused 2 @binary std.pipe
echo '@self @self' >self
verdict "a file that names itself is refused" refused 2 @self std.pipe
verdict "the reason is told" grep -q 'response files' err
cd ..

# ---- build systems ----

# has NAME PROGRAM: skipped by name where it is not installed.
has() {
    command -v "$2" >"$TMP/which" && return
    echo "skip $1 there is no $2"
    return 1
}

if has make make; then
    project make
    cd make || exit 1
    cat >Makefile <<'END'
my\ out\#$$.pbc:
	"$$PIPEC" -MD -MP 'a b/m#$$.pipe' -o 'my out#$$.pbc'
-include my\ out\#$$.d
END
    builds make 'my out#$.pbc' make
    cd ..
fi

if has ninja ninja; then
    project ninja
    cd ninja || exit 1
    cat >build.ninja <<'END'
rule pipec
  command = "$$PIPEC" -MD -MF $out.d --write-if-changed $in -o $out
  depfile = $out.d
  deps = gcc
  restat = 1
rule copy
  command = cp $in $out
build my$ out#$$.pbc: pipec a$ b/m#$$.pipe
build copy.pbc: copy my$ out#$$.pbc
END
    builds ninja 'my out#$.pbc' ninja
    sleep 0.05
    touch 'a b/m#$.pipe' before
    verdict "ninja runs where nothing came of a change" sh -c 'ninja -v >log'
    verdict "ninja: pipec ran" grep -q -e '-MD' log
    verdict "ninja: the copy was not made again" [ copy.pbc -ot before ]
    cd ..
fi

# CMake 3.25 reads '#' and '$' in dependencies, but loses their quoting when it rewrites them for ninja.
mark=' '

# cmake_builds NAME GENERATOR
cmake_builds() {
    project "$1"
    cd "$1" || exit 1
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(example LANGUAGES NONE)
set(source "${CMAKE_SOURCE_DIR}/a b/m .pipe")
add_custom_command(OUTPUT main.pbc
    COMMAND $ENV{PIPEC} -MD -MP -MF main.d ${source} -o main.pbc
    DEPENDS ${source} DEPFILE main.d VERBATIM)
add_custom_target(container ALL DEPENDS main.pbc)
END
    verdict "$1 configures" cmake -G "$2" -S . -B build
    builds "$1" build/main.pbc cmake --build build
    cd ..
}
# Installs once: the files for CMake and meson come from `make install`.
installed() {
    [ -d "$TMP/prefix" ] && return
    case $VARIANT in release | debug) ;; *) return 1 ;; esac
    make -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" PREFIX="$TMP/prefix" install >"$TMP/said" 2>&1
}

# package_builds NAME GENERATOR: find_package(Pipec) and pipec_add_pipeline().
package_builds() {
    project "$1"
    cd "$1" || exit 1
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(example C)
find_package(Pipec 0.1 REQUIRED)
pipec_add_pipeline(main SOURCE "a b/m .pipe" OPTIONS --policy=auto)
pipec_add_pipeline(named SOURCE "a b/m .pipe" OUTPUT "two words.pbc" PIPELINE main DEVICE sim4)
file(WRITE ${CMAKE_BINARY_DIR}/user.c "#include <pipert.h>\nint main(void) { struct prt_program *p = 0; struct prt_error e; return prt_program_load_file(\"/nowhere\", &p, &e) == PRT_OK; }\n")
add_executable(user ${CMAKE_BINARY_DIR}/user.c)
target_link_libraries(user Pipec::pipert)
get_target_property(container named PIPEC_CONTAINER)
file(WRITE ${CMAKE_BINARY_DIR}/container "${container}")
END
    verdict "$1 configures" cmake -G "$2" -S . -B build -DCMAKE_PREFIX_PATH="$TMP/prefix"
    builds "$1" build/main.pbc cmake --build build
    verdict "$1: the library is linked" build/user
    verdict "$1: a target knows its container" [ -e "$(cat build/container)" ]
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(example LANGUAGES NONE)
find_package(Pipec REQUIRED)
pipec_add_pipeline(main)
END
    verdict "$1: a pipeline without a source is refused" bash -c "! cmake -G '$2' -S . -B wrong -DCMAKE_PREFIX_PATH='$TMP/prefix' >out 2>&1 && grep -q 'SOURCE is missing' out"
    sed -i 's/Pipec REQUIRED/Pipec 0.2 REQUIRED/' CMakeLists.txt
    verdict "$1: another minor version is refused" bash -c "! cmake -G '$2' -S . -B other -DCMAKE_PREFIX_PATH='$TMP/prefix' >out 2>&1 && grep -q 'version: 0.1.0' out"
    cd ..
}
# `make check` takes one generator for each, and meson as it is installed; `make check-long` all.
long=${LONG-}
if [ -n "$long" ] && has cmake-make cmake && has cmake-make make; then cmake_builds cmake-make 'Unix Makefiles'; fi
if has cmake-ninja cmake && has cmake-ninja ninja; then cmake_builds cmake-ninja Ninja; fi

if has package-make cmake && has package-make make && installed; then package_builds package-make 'Unix Makefiles'; fi
if [ -n "$long" ] && has package-ninja cmake && has package-ninja ninja && installed; then package_builds package-ninja Ninja; fi

if [ -n "$long" ] && has meson meson && has meson ninja; then
    project meson
    cd meson || exit 1
    cat >meson.build <<'END'
project('example')
pipec = find_program(run_command('printenv', 'PIPEC', check: true).stdout().strip())
custom_target('main', input: 'a b/m .pipe', output: 'main.pbc', depfile: 'main.d', build_by_default: true,
    command: [pipec, '-MD', '-MF', '@DEPFILE@', '@INPUT@', '-o', '@OUTPUT@'])
END
    verdict "meson configures" meson setup build
    builds meson build/main.pbc meson compile -C build
    cd ..
fi
if has meson-package meson && has meson-package pkg-config && installed; then
    project meson-package
    cd meson-package || exit 1
    cat >meson.build <<'END'
project('example')
pipec = find_program(dependency('pipec').get_variable('pipec'))
custom_target('main', input: 'a b/m .pipe', output: 'main.pbc', depfile: 'main.d', build_by_default: true,
    command: [pipec, '-MD', '-MF', '@DEPFILE@', '@INPUT@', '-o', '@OUTPUT@'])
END
    verdict "meson-package configures" env PKG_CONFIG_PATH="$TMP/prefix/lib/pkgconfig" meson setup build
    builds meson-package build/main.pbc meson compile -C build
    cd ..
fi
exit 0
