#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# pipec fmt: the layout, what it keeps, what it refuses; the project's own sources are laid out by it.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# Everything that a layout decides, badly laid out and well.
cat >bad.pipe <<'END'


import   "std/math.pipe" ;
struct  pixel { u8 r,g ;
  f32 v [ 3 ]; } ;
const f32 A=1,W[2][3]={{1,2,3},
  {4,5,6}};
const f32 V[2] = {
   1, // one
      // and no more
   2 };
/// Doc.
kernel k<int N,type T>( in T x[ N ] pop 2*N peek 3 * N,out f32 y push 0 .. N + 1; f32 g=- 1, f32 another_long_name = 2.5e-3 ) group 8x8x1 { y<-x ; }
kernel one(in f32 x, out f32 y) { f32 s = 0; for (i32 i = 0; i < 4; i++) s += x; y <- s; }  // stays
kernel /* why */ two(in f32 x, out f32 y)
{   // behind the brace

    f32 s=(f32) x+- -x ;   // first
    f32 tt = - x ; /* second */
    if (s<- tt) y<-s ; else if(s==0) { y <- 1; }

    else {
        y <- 2; y <- 3;
    }


    switch (n) { case 1: case 2: y <- x?-1:+2; break;
      // before a label
      default: { n--; } }
    do { n ++ ; } while (n<3&&! b||~ c) ;
    for(;;){ if (a) continue; stop; }
    state_of_the_whole = combine(first_argument_of_it, second_argument_of_it + third_part * factor, last_one);
    for (i32 i = 0; i < 4; i++) for (i32 j = 0; j < 4; j++) {
      y <- i;
    }
    // at the end
}
pipeline p(in f32 a,out f32 b;f32 v=1)policy   priority{
    buffer f32 q depth 4 init 4 x{1}, r[2];
    l :k<( N>>1 ),f32>( a,r[1]->q ; v )importance 5;
    a->two->gain_with_a_long_name(volume)->another_kernel_with_a_long_name->a_third_kernel_of_the_chain->b;
    src(->a);
    for (int b=0;b<10;b++) if (b==3) a->r[0]; else ;
}
test quiet of p(1) { a={0..9, ..5}; expect b=={} within 1e-6; expect fault "index"; }
// the end
END
cat >good.pipe <<'END'
import "std/math.pipe";
struct pixel {
    u8 r, g;
    f32 v[3];
};
const f32 A = 1, W[2][3] = {{1, 2, 3},
                            {4, 5, 6}};
const f32 V[2] = {
    1,  // one
        // and no more
    2
};
/// Doc.
kernel k<int N, type T>(in T x[N] pop 2*N peek 3*N, out f32 y push 0..N+1; f32 g = -1,
                        f32 another_long_name = 2.5e-3) group 8x8x1 { y <- x; }
kernel one(in f32 x, out f32 y) { f32 s = 0; for (i32 i = 0; i < 4; i++) s += x; y <- s; }  // stays
kernel /* why */ two(in f32 x, out f32 y) {  // behind the brace
    f32 s = (f32)x + - -x;  // first
    f32 tt = -x;            /* second */
    if (s <- tt) y <- s;
    else if (s == 0) {
        y <- 1;
    } else {
        y <- 2;
        y <- 3;
    }

    switch (n) {
    case 1: case 2: y <- x ? -1 : +2; break;
    // before a label
    default: { n--; }
    }
    do { n++; } while (n < 3 && !b || ~c);
    for (;;) { if (a) continue; stop; }
    state_of_the_whole =
        combine(first_argument_of_it, second_argument_of_it + third_part * factor, last_one);
    for (i32 i = 0; i < 4; i++) for (i32 j = 0; j < 4; j++) {
        y <- i;
    }
    // at the end
}
pipeline p(in f32 a, out f32 b; f32 v = 1) policy priority {
    buffer f32 q depth 4 init 4 x {1}, r[2];
    l: k<(N >> 1), f32>(a, r[1] -> q; v) importance 5;
    a -> two -> gain_with_a_long_name(volume) -> another_kernel_with_a_long_name
      -> a_third_kernel_of_the_chain -> b;
    src( -> a);
    for (int b = 0; b < 10; b++) if (b == 3) a -> r[0]; else;
}
test quiet of p(1) { a = {0..9, ..5}; expect b == {} within 1e-6; expect fault "index"; }
// the end
END
sed -i 's/if (s *<- *tt)/if (s < -tt)/' bad.pipe good.pipe
"$PIPEC" fmt - <bad.pipe >out.pipe
check "everything is laid out" diff good.pipe out.pipe
"$PIPEC" fmt - <good.pipe >out.pipe
check "what is laid out stays" cmp good.pipe out.pipe

# In place, whole or not at all.
cp bad.pipe place.pipe
check "--check lists" says 1 '^place.pipe$' "$PIPEC" fmt --check place.pipe
check "--check writes nothing" cmp bad.pipe place.pipe
"$PIPEC" fmt --diff place.pipe >place.diff
check "--diff ends with 1" test $? -eq 1
cp bad.pipe patched.pipe
if command -v patch >/dev/null; then
    patch -s patched.pipe place.diff
    check "--diff is a patch" cmp good.pipe patched.pipe
fi
chmod 640 place.pipe
check "in place" "$PIPEC" fmt place.pipe
check "the file is laid out" cmp good.pipe place.pipe
check "its mode stays" test "$(stat -c %a place.pipe)" = 640
check "--check of a good file is silent" test -z "$("$PIPEC" fmt --check place.pipe)"
check "--diff of a good file is silent" test -z "$("$PIPEC" fmt --diff place.pipe)"
touch -d @1000 place.pipe
"$PIPEC" fmt place.pipe
check "a good file is not written" test "$(stat -c %Y place.pipe)" = 1000

# Line ends, byte-order mark, the last newline.
printf '\357\273\277// caf\303\251  \r\nconst int N = 1;\t\r\n/* a \r\n   b */\r\nconst int M = 2;' >dos.pipe
printf '// caf\303\251\nconst int N = 1;\n/* a\n   b */\nconst int M = 2;\n' >unix.pipe
"$PIPEC" fmt dos.pipe
check "CRLF, mark, newline" cmp dos.pipe unix.pipe
printf '\357\273\277const int N = 1;\n' >mark.pipe
check "a mark alone is a change" says 1 mark.pipe "$PIPEC" fmt --check mark.pipe
: >empty.pipe
check "an empty file" "$PIPEC" fmt empty.pipe
check "it stays empty" test ! -s empty.pipe
printf '\n\n  // alone\n\n\n' | "$PIPEC" fmt - >alone
check "a comment alone" test "$(cat alone)" = "// alone"

# Folders; files that are refused.
mkdir -p folder/deep folder/.hidden
cp bad.pipe folder/b.pipe && cp bad.pipe folder/deep/a.pipe && cp bad.pipe folder/.hidden/c.pipe && cp bad.pipe folder/n.txt
printf 'kernel k(\n' >folder/broken.pipe
cp folder/broken.pipe broken.pipe
check "a broken file is refused" says 1 'broken.pipe:1:10: error' "$PIPEC" fmt folder
check "and left alone" cmp folder/broken.pipe broken.pipe
check "the others are laid out" cmp folder/deep/a.pipe good.pipe
check "hidden folders are left" cmp folder/.hidden/c.pipe bad.pipe
check "other files are left" cmp folder/n.txt bad.pipe
check "a file that is not there" says 2 'No such file' "$PIPEC" fmt missing.pipe
check "no file" says 2 'no input file' "$PIPEC" fmt
check "both modes" says 2 'one of them' "$PIPEC" fmt --check --diff good.pipe
check "imports are not looked for" says 0 '' sh -c 'echo "import \"nowhere.pipe\";" | "$0" fmt -' "$PIPEC"
check "help" says 0 '^usage: pipec fmt' "$PIPEC" fmt --help
check "a full device" says 2 'cannot write' sh -c '"$0" fmt --diff bad.pipe >/dev/full' "$PIPEC"
check "a full device under standard output" says 2 'cannot write to standard output: No space left' \
    sh -c '"$0" fmt - <bad.pipe >/dev/full' "$PIPEC"
check "which is reported once" test "$(wc -l <text)" -eq 1

# Every source of the tree: accepted sources keep their tree (`make check` compares every fourth, `make check-long` all),
# and laying them out twice changes nothing.
mkdir tree
(cd "$ROOT" && find lang examples tests -name '*.pipe' | sort >"$TMP/sources" && tar -cf - -T "$TMP/sources") | tar -xf - -C tree
chmod -R u+w tree
"$PIPEC" fmt tree 2>refused
count=$(($(wc -l <sources) - $(sed -n 's/^\([^:]*\):[0-9:]* error.*/\1/p' refused | sort -u | wc -l)))
part=4 seen=0 changed=''
[ -z "${LONG-}" ] || part=1
while read -r source; do
    [ $(((seen += 1) % part)) = 0 ] || continue
    (cd "$ROOT" && "$PIPEC" --emit=ast "$source") >one 2>/dev/null
    (cd tree && "$PIPEC" --emit=ast "$source") >other 2>/dev/null
    cmp -s one other || changed="$changed $source"
done <sources
check "$((count / part)) sources mean the same afterwards:$changed" test -z "$changed"
"$PIPEC" fmt --check tree >moved 2>/dev/null
check "$count sources stay as they are laid out: $(tr '\n' ' ' <moved)" test ! -s moved
[ "$count" -gt 400 ] || echo "not ok only $count sources were laid out"

# The project's own.  Not those whose layout is what is tried: the forms of the grammar, seeds of the fuzzer, tokens
# close to each other.  Those that have syntax errors on purpose are left out.
"$PIPEC" fmt --check "$ROOT/lang" "$ROOT/examples" "$ROOT/tests" >own 2>/dev/null
check "the project's sources are laid out by it" sh -c \
    '! grep -vE "/tests/(syntax/|fuzz/corpus/|lang/precedence.pipe|golden/(ast_forms|silent_mistakes|widening).pipe)" own'

# Programs in the manual and in the explanations of rules.  One is about its layout; some have errors of syntax.
mkdir blocks
for page in "$ROOT"/lang/*.md "$ROOT"/README.md "$ROOT"/docs/*.md "$ROOT"/compiler/rules/*.md; do
    awk -v name="blocks/$(basename "$page" .md)" \
        '/^```pipe$/ { file = name "." NR ".pipe"; printf "" >file; next } /^```/ { file = "" } file { print >file }' "$page"
done
"$PIPEC" fmt --check blocks >own 2>/dev/null
check "the manual's programs are laid out by it: $(tr '\n' ' ' <own)" sh -c '! grep -vE "^blocks/(empty-body|misleading-indentation)" own'
[ "$(find blocks -name '*.pipe' | wc -l)" -gt 100 ] || echo "not ok few programs were found in the manual"

# Other blanks and line breaks between the tokens of a source, then another round: the text stays what it was made.
awk_respace='{ line = $0; sub(/^[ \t]+/, "", line)
  n = int(rand() * 5); lead = n == 0 ? "\t" : n == 1 ? "         " : n == 2 ? "" : "  "
  tail = rand() < 0.2 ? "   " : ""
  if (line !~ /["'"'"'\/]/) { gsub(/, /, rand() < 0.5 ? ",  " : ",", line); gsub(/ = /, rand() < 0.5 ? "=" : "  =  ", line) }
  text = line !~ /\/\*|\*\// ? lead line tail : $0 }'
mkdir spaced
(
    cd tree/tests/lang || exit
    awk -v seed=7 'FNR == 1 { srand(seed) }
'"$awk_respace"' { print text >("../../../spaced/" FILENAME) }' ./*.pipe
)
"$PIPEC" fmt spaced 2>respaced
check "respaced sources are accepted: $(head -n 3 respaced)" test ! -s respaced
check "and have the layout of the originals" diff -r tree/tests/lang spaced
