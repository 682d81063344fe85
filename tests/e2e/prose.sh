#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/prose.pl reports each of its words and sentences in each kind of text, and nothing in plain text.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
prose=$ROOT/scripts/prose.pl

# One bad sentence for each rule: its name, then the sentence.
cat >bad <<'E'
what|A stage waits.  What it waits for is known.
circle|The nodes are in a circle.
mend|This mends the graph.
endless-wait|Then there is an endless wait.
standstill|The run comes to a standstill.
behind|The packet behind it is read.
alone|Its reader alone frees room.
least|Give it the least depth.
most|Declare the most that a firing appends.
who|The lock says who has begun.
tell|The exit status tells the result.
item|It fills in-ports. - It empties out-ports.
that-which|It frees that which was read.
E

# finds RULE FILE LINE...: the reports are of that rule, one for each of these lines.
finds() {
    rule=$1 file=$2
    shift 2
    "$prose" "$file" >said && return 1
    if [ "$(sed -n "s/^$file:\([0-9]*\): .*\[$rule]$/\1/p" said | xargs)" = "$*" ] && [ "$(wc -l <said)" -eq $# ]; then return; fi
    cat said
    return 1
}
while IFS='|' read -r rule sentence; do
    printf '/* %s */\nint x;\n' "$sentence" >comment.c
    check "$rule in a comment of C" finds "$rule" comment.c 1
    printf 'int f(void)\n{\n    return puts("%s");\n}\n' "$sentence" >message.c
    check "$rule in a message" finds "$rule" message.c 3
    printf '# Page\n\n%s\n' "$sentence" >page.md
    check "$rule in a page" finds "$rule" page.md 3
    # shellcheck disable=SC2016 # the marks of a block
    printf '```sh\ntrue # %s\n```\n```pipe\n// %s\n```\n' "$sentence" "$sentence" >block.md
    check "$rule in the comments of code in a page" finds "$rule" block.md 2 5
    printf '.Dd today\n.Sh DESCRIPTION\n%s\n' "$sentence" >page.1
    check "$rule in a man page" finds "$rule" page.1 3
    printf 'kernel k(in i32 x, out i32 y) { y <- x; } // %s\n' "$sentence" >program.pipe
    check "$rule in a comment of pipec's language" finds "$rule" program.pipe 1
    printf '#!/bin/sh\ntrue # %s\n' "$sentence" >script.sh
    check "$rule in a comment of a script" finds "$rule" script.sh 2
done <bad
rules=$(sed -n "s/^    \['\([a-z-]*\)', qr.*/\1/p" "$prose" | sort)
check "every rule has its sentence" test "$rules" = "$(cut -d'|' -f1 bad | sort)"

cat >wrapped.c <<'W'
/*
 * A sentence that ends. What
 * follows begins the next one, and the
 * least of it is on two lines.
 */
const char *text = "two parts of one message: an endless "
                   "wait";
W
wrapped() {
    "$prose" wrapped.c >said && return 1
    [ "$(cut -d: -f1,2 said | sort | tr '\n' ' ')" = "wrapped.c:2 wrapped.c:4 wrapped.c:7 " ] || { cat said; return 1; }
}
check "a sentence that goes on in the next line" wrapped

cat >good.c <<'W'
/* What is a cycle?  A closed path.  Of `self_driven.c` only the name is old.  The most recent packet is read. */
static const char circle[] = "circle"; /* an id, no sentence */
const char *behind(int who) { return who ? "the cycle around 'a'" : circle; }
W
cat >good.md <<'W'
## The text of a page

The word `circle` is code. An author who knows the data decides.

```
standstill # not checked: an output
```
```sh
what who behind # the words of commands are code
```
W
check "plain text passes" "$prose" good.c good.md

# The list of exceptions, on a small tree.
mkdir -p tree/scripts tree/lib
cp "$prose" tree/scripts
printf '/* Behind it. */\nint f(void) { return puts("not behind it"); }\n' >tree/lib/a.c
listed() { printf '%s\n' "$1" >tree/scripts/prose.txt && tree/scripts/prose.pl; }
check "a tree without exceptions" says 1 '^lib/a.c:1' listed ''
check "an exception of a folder" listed 'lib/ # to be rewritten'
check "an exception of comments" says 1 '^lib/a.c:2' listed 'lib/ comments'
check "an exception of a file" listed 'lib/a.c'
check "an exception without use" says 1 'nothing needs the exception of lib/b.c' listed $'lib/\nlib/b.c'
