#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `scripts/lint.sh structure` reports each kind of violation, on a small tree that is clean before.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
mkdir -p scripts base core/time model lang compiler/target compiler/plan compiler/codegen/x86 compiler/emit runtime/load tools tests
cp "$ROOT"/scripts/{lint.sh,flow.awk,headers.pl,names.awk,stale.pl,licence.sh} scripts
header='/* SPDX-License-Identifier: MIT */'
file() { printf '%s\n' "$header" "${@:2}" >"$1"; }
file compiler/codegen/x86/x86.h
file compiler/codegen/x86/x86.c '#include "compiler/codegen/x86/x86.h"'
file compiler/target/target.c 'int f(const struct devdesc *device) { return device->host; }'
file compiler/plan/plan.c 'int hosts;'
check "a clean tree passes" scripts/lint.sh structure

# planted CLAIM MESSAGE FILE LINE: the file with that line is refused, and the tree is clean again without it.
planted() {
    file "$3" "$4"
    check "$1" says 1 "$2" scripts/lint.sh structure
    rm "$3"
}
planted "the kind of device, through a pointer" 'only compiler/target asks' compiler/plan/kind.c 'int f(struct devdesc *d) { return d->host; }'
planted "the kind of device, in a struct" 'only compiler/target asks' compiler/plan/kind.h 'static int f(struct devdesc d) { return d.host; }'
planted "a name of one instruction set" 'name an instruction set' compiler/emit/emit.c 'const char *triple = "x86_64-pc-linux-gnu";'
planted "a header of one instruction set" 'belongs to one instruction set' compiler/emit/emit.c '#include "compiler/codegen/x86/x86.h"'
planted "an include against the flow" 'against the flow' compiler/target/back.c '#include "compiler/plan/plan.h"'
planted "an include from the other half" 'meet in lang/, base/, core/ and model/ only' runtime/load/load.c '#include "compiler/plan/plan.h"'
planted "an include of the core from a half" 'core/ includes lang/ and core/ only' core/time/cycles.h '#include "base/status.h"'
planted "an include of a half from the model" "meet in lang/, base/, core/ and model/ only" model/load.h '#include "runtime/load/reader.h"'
planted "a library that opens files itself" 'waits for the other end of a named pipe' tools/load.c 'json_t *f(void) { return json_load_file("a", 0, 0); }'
planted "a file name that exists twice" 'not unique.*plan.c' runtime/load/plan.c 'int load;'
# A function of a library for one kind of machine or another has two definitions in one file.
file base/clock.h '#if A' 'static inline int clock_read(void)' '{' '    return 1;' '}' '#else' 'static inline int clock_read(void)' '{' '    return 2;' '}' '#endif'
file compiler/plan/place.c 'static enum status settle_run(int a,' '                              int b)' '{' '    return a + b;' '}' 'int main(void)' '{' '    return place(1);' '}'
file tools/run.c 'int main(void);' 'int main(void)' '{' '    return 0;' '}' 'static void settle_run(void);' 'int add63(void)' '{' '    return 0;' '}'
check "names that belong to one function, and main" scripts/lint.sh structure
planted "a name of functions in two files" 'run.c:.*: settle_run.. is also a function of compiler/plan/place.c' tools/run.c 'static int settle_run(int a)
{
    return a;
}'
planted "a name of one word" 'run.c:.*: settled..: a name of one word' tools/run.c 'static int settled(int a)
{
    return a;
}'
planted "a name that a function of a header has" 'also a function of base/clock.h' runtime/load/clock.c '__attribute__((format(printf, 1, 2))) static int clock_read(const char *format, ...)
{
    return 0;
}'
file base/named.h '/* settle_run, base/clock.h, the product n_i and sched_code of place.c */' 'int sched_code;'
check "a comment that names what exists" scripts/lint.sh structure
planted "a comment that names a function that is gone" "gone.h:2: 'settle_gone': nothing has this name" base/gone.h '/* As settle_gone.  settle_run is there. */'
# many N LINE: N lines; & in LINE is their number.
many() { seq "$1" | sed "s/.*/$2/"; }
planted "a header of too many prototypes" 'many.h: 37 prototypes' base/many.h "$(many 37 'int f&(int);')"
planted "a struct of too many members" 'struct many has 31 members' base/many.h "struct many {
$(many 31 '    int m&;')
};"
file base/many.h "/* One header because it says so. */" "$(many 37 'int f&(int);')" "/* One
 * struct because it says so. */
struct many {
$(many 31 '    int m&;')
};"
check "both with a reason" scripts/lint.sh structure
check "the tree is clean again" scripts/lint.sh structure
