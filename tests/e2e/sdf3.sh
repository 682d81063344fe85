#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# Graphs in SDF3 XML, in and out (lang/sdf3.md). literature.sh compares those of tests/literature with their figures.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
sources=$ROOT/tests/literature

# ---- reading ----

cat >good.xml <<'END'
<?xml version="1.0"?>
<sdf3 type="csdf">
 <applicationGraph name='the graph'>
  <csdf name='g' type='G'>
   <actor name='a(0)' type='A'>
    <port type='out' name='o-1' rate='1,2*3'/>
    <port type='in' name='s_in' rate='3*1'/>
    <port type='out' name='s_out' rate='1'/>
    <port type='out' name='open' rate='1'/>
   </actor>
   <actor name='b' type='B'>
    <port type='in' name='in' rate='7'/>
    <port type='out' name='out' rate='1,1'/>
    <port type='in' name='back' rate='1'/>
   </actor>
   <channel name='a->b' srcActor='a(0)' srcPort='o-1' dstActor='b' dstPort='in' initialTokens=' 2 '/>
   <channel name='own' srcActor='a(0)' srcPort='s_out' dstActor='a(0)' dstPort='s_in' initialTokens='1'/>
   <channel name='loop' srcActor='b' srcPort='out' dstActor='b' dstPort='back' initialTokens='2'/>
  </csdf>
  <csdfProperties>
   <actorProperties actor='a(0)'>
    <processor type='slow'><executionTime time='9'/></processor>
    <processor type='fast' default='true'><executionTime time='2,4,2'/><memory><stateSize max='1'/></memory></processor>
   </actorProperties>
   <actorProperties actor='b'><processor type='fast'><executionTime time='0'/></processor></actorProperties>
   <graphProperties/>
  </csdfProperties>
 </applicationGraph>
</sdf3>
END
check "it is inspected" says 0 'pipeline the graph' "$PIPEC" inspect good.xml
check "an ignored element is named" grep -q "good.xml:2:1: note: elements that are not used: 'memory', 'graphProperties'" text
check "a name that is none of the language" grep -q "good.xml:5:17: note: 'a(0)' is no name of the language: its kernel is called 'a_0__0'" text
check "a port's name" grep -q "good.xml:6:28: note: 'o-1' is no name of the language: this port is called 'o_1_0'" text
check "a port without a channel" grep -q "good.xml:9:28: note: the port 'open' of 'a(0)' has no channel" text
check "times that differ" grep -q "good.xml:23:64: note: the phases of 'a(0)' take 2 to 4 cycles: each gets 4" text
check "no time" grep -q "good.xml:25:75: note: the actor 'b' takes no time: it gets 1 cycle" text
check "the notes can be silenced" says 0 '^pipeline the graph' "$PIPEC" inspect -Wno-sdf3-difference good.xml
check "and are silent" sh -c '! grep -q note: text'
check "or made errors" says 1 'error: elements that are not used' "$PIPEC" inspect -Werror=sdf3-difference good.xml
"$PIPEC" inspect --json -q -Wno-sdf3-difference good.xml >good.json 2>err
check "as JSON" parses good.json
check "nodes have places in the XML" sh -c 'grep -A4 "\"name\": \"b\"" good.json | grep -q "\"line\": 11"'
check "one token to itself is a state" sh -c 'grep -A40 "\"name\": \"a(0)\"" good.json | grep -q "\"stateful\": true"'
check "two tokens are not" sh -c 'grep -A40 "\"name\": \"b\"" good.json | grep -q "\"stateful\": false"'
check "repetitions count firings" sh -c 'grep -A40 "\"name\": \"b\"" good.json | grep -q "\"repetitions\": 2"'
"$PIPEC" graph --format=cmds -Wno-sdf3-difference good.xml >good.cmds
check "as a command list" says 0 'a->b' "$PIPEC" graph good.cmds
check "rates in a list" grep -q 'out u8 o_1_0 push {1, 3, 3}' good.cmds
check "initial tokens" grep -q 'set "a->b" init 2 x .*0;' good.cmds
check "lists of different lengths" sh -c 'sed "s/rate=.7./rate=\"7,7,0\"/" good.xml >six.xml && "$0" graph --format=cmds -q six.xml | grep -q "pop {7, 7, 0, 7, 7, 0}"' "$PIPEC"
check "from standard input" sh -c '"$0" inspect -Wno-sdf3-difference - <good.xml | grep -q "^pipeline the graph"' "$PIPEC"
check "it is linted" says 0 . "$PIPEC" lint good.xml
"$PIPEC" -q -Wno-sdf3-difference "$sources/cd_to_dat.xml" -o run.pbc
check "and runs" "$PIPERUN" -q --firings 147 run.pbc
check "every point of the trade-off" says 0 '1/7' "$PIPEC" inspect --pareto "$sources/three_actors.xml"
check "no deadlock" says 0 'no deadlock' "$PIPEC" inspect --trace-deadlock "$sources/modem.xml"
sed 's/ initialTokens="2"//' "$sources/mp3_playback.xml" >dead.xml
check "a deadlock has its place in the XML" says 1 'dead.xml:[0-9]+:[0-9]+: error: .*\[deadlock\]' "$PIPEC" inspect dead.xml
check "the help is for XML" grep -q "^help: write initialTokens=\"1\" in the channel 'ch3': 1 initial packet is enough, 0 are not" text
cp dead.xml alive.xml
check "it has no fix, which would not fit" sh -c '"$0" -q --fix alive.xml 2>fixing; cmp alive.xml dead.xml && ! grep fixed fixing' "$PIPEC"
sed 's/name="ch3"/& initialTokens="1"/' dead.xml >alive.xml
check "with it the graph is accepted" says 0 'pipeline mp3playback' "$PIPEC" inspect alive.xml
check "a deadlock is traced" says 1 'app' "$PIPEC" inspect --trace-deadlock dead.xml
sed 's/rate="441"/rate="442"/; s/srcActor="app" srcPort="out0"/srcActor="src" srcPort="out0"/' "$sources/mp3_playback.xml" >twice.xml
check "fmt leaves XML" says 1 'laid out by' "$PIPEC" fmt "$sources/modem.xml"
printf 'import "good.xml";\n' >imports.pipe
check "XML is not imported" says 1 'compiled by itself' "$PIPEC" imports.pipe

# ---- mistakes ----

# wrong NAME PATTERN EDIT: the edited good.xml is refused.
wrong() {
    sed "$3" good.xml >wrong.xml
    check "$1" says 1 "$2" "$PIPEC" inspect wrong.xml
}
wrong "not well-formed" 'wrong.xml:[0-9]+:[0-9]+: error: this is not well-formed XML: mismatched tag \[sdf3\]' 's|</csdf>|</sdf>|'
wrong "cut short" 'error: this is not well-formed XML' '/<.csdf>/,$d'
wrong "another root" "wrong.xml:2:1: error: this is XML, but no graph of SDF3: its root is 'graph'" 's|sdf3|graph|'
wrong "another type" "wrong.xml:2:13: error: a graph of the type 'fsmsadf' is not read" 's|type="csdf"|type="fsmsadf"|'
wrong "no type" "this element has no attribute 'type'" 's|<sdf3 type="csdf"|<sdf3|'
wrong "an entity" "wrong.xml:2:1: error: a declaration of the document's type is not read" '2s|^|<!DOCTYPE sdf3 [<!ENTITY x SYSTEM "/etc/passwd">]>|'
wrong "an undefined entity" 'undefined entity' "s|name='b'|name='\&b;'|"
wrong "no number" "wrong.xml:6:39: error: 'rate' is no number of 64 bits" "s|1,2\*3|1,x|"
wrong "a negative number" "'rate' is no number" "s|rate='7'|rate='-7'|"
wrong "an empty phase" "'rate' is no number" "s|1,2\*3|1,,3|"
wrong "no phases" "'rate' is no number" "s|1,2\*3|0*3|"
wrong "a number beyond 64 bits" "'rate' is no number of 64 bits" "s|rate='7'|rate='18446744073709551616'|"
wrong "a rate beyond the limit" "wrong.xml:12:[0-9]+: error: 'pop' is at most 2147483648" "s|rate='7'|rate='4294967296'|"
wrong "a rate of nothing" "wrong.xml:12:[0-9]+: error: .*invalid-rate" "s|rate='7'|rate='0'|"
wrong "too many phases" "'rate' has more than 1024 phases" "s|1,2\*3|1025*3|"
wrong "too many in common" "wrong.xml:[0-9]+:[0-9]+: error: .*1024" "s|1,2\*3|1023*3|; s|3\*1|1022*1|; s|Tokens='1'|Tokens='2'|"
wrong "tokens that are no number" "wrong.xml:16:[0-9]+: error: 'initialTokens' is no number" "s|' 2 '|'two'|"
wrong "too many tokens" "wrong.xml:16:[0-9]+: error: a buffer takes 0 to 2147483647" "s|' 2 '|'2147483648'|"
wrong "a time beyond the limit" "wrong.xml:23:64: error: a cost is 1 to" "s|2,4,2|9999999999999|"
wrong "an unknown actor" "wrong.xml:16:[0-9]+: error: no actor is called 'c'" "s|dstActor='b' dstPort='in'|dstActor='c' dstPort='in'|"
wrong "an unknown port" "'b' has no port 'inn'" "s|dstPort='in'|dstPort='inn'|"
wrong "a port of the wrong kind" "'out' is an out-port" "s|dstPort='in'|dstPort='out'|"
wrong "two channels at a port" "the port 'back' has two channels" "s|dstPort='in'|dstPort='back'|"
wrong "properties of nothing" "no actor is called 'z'" "s|Properties actor='b'|Properties actor='z'|"
wrong "two actors of a name" "two actors are called 'b'" "s|name='a(0)'|name='b'|"
wrong "two ports of a name" "two ports are called 's_in'" "s|name='s_out'|name='s_in'|"
wrong "two channels of a name" "two channels are called 'loop'" "s|name='own'|name='loop'|"
wrong "an empty name" "the attribute 'name' is empty" "s|name='b'|name=''|"
wrong "no name" "this element has no attribute 'name'" "s|channel name='own'|channel|"
wrong "a port that is neither" "a port is 'in' or 'out', not 'inout'" "s|type='in' name='back'|type='inout' name='back'|"
wrong "no actors" 'the graph has no actors' '/<actor /,/<.csdf>/d; s|<csdfProperties>|</csdf>&|; /Properties/,$!b; /^  <csdfP/,/^  <.csdfP/{/actorP/,/actorP/d}'
wrong "an actor without channels" "the actor 'c' has no channel" "s|<channel name='own'|<actor name='c' type='c'/>&|"
wrong "two graphs" 'the file has a second graph' "s|<csdfProperties>|<csdf/>&|"
deep=$(printf '<x>%.0s' $(seq 70))
check "too deep" says 1 'nested more than 63 deep' sh -c 'printf "<sdf3 type=\"sdf\">%s" "$1" >deep.xml; "$0" inspect deep.xml' "$PIPEC" "$deep"
check "no file" says 2 "cannot read 'no.xml'" "$PIPEC" inspect no.xml

# ---- writing ----

"$PIPEC" graph --format=sdf3 -q good.xml >once.xml
"$PIPEC" graph --format=sdf3 -q once.xml >again.xml
check "the type of graph" grep -q '<sdf3 type="csdf"' once.xml
check "phases" grep -q 'name="o_1_0" rate="1,3,3"' once.xml
check "times of all phases" grep -q 'time="4,4,4"' once.xml
check "tokens" grep -q 'name="a->b".* initialTokens="2"\|name="a-&#62;b".* initialTokens="2"' once.xml
check "state" grep -q 'name="a(0).state" .*initialTokens="1"' once.xml
if command -v xmllint >/dev/null; then check "it is XML" xmllint --noout once.xml; fi
check "read and written again it is the same" cmp once.xml again.xml
for graph in "$sources"/*.xml; do
    "$PIPEC" graph --format=sdf3 -q "$graph" >one.xml && "$PIPEC" graph --format=sdf3 one.xml >two.xml 2>err
    check "$(basename "$graph") comes back" cmp one.xml two.xml
    check "$(basename "$graph") without notes" test ! -s err
done
cat >two.pipe <<'END'
kernel count(out i32 y) { state i32 n; y <- n++; }
kernel sum(in i32 x, in i32 z) { state i32 s; s += x + z; }
kernel half(in i32 x, out i32 y) { y <- x / 2; }
pipeline main(out i32 seen) {
    buffer i32 y;
    count( -> y) cost 3;
    y -> half -> seen;
    sum(y, y -> );
}
END
check "several readers" says 0 'channel name="y.3" srcActor="count" srcPort="y.3" dstActor="sum" dstPort="z"' "$PIPEC" graph --format=sdf3 two.pipe
check "a port is left out" grep -q "two.pipe:4:[0-9]*: note: the out-port 'seen' of the pipeline is left out" text
"$PIPEC" graph --format=sdf3 -q -o two.xml two.pipe
check "several readers come back" says 0 'pipeline main' "$PIPEC" inspect two.xml
# refused NAME PATTERN KERNEL: between a source and a sink.
refused() {
    printf 'kernel count(out i32 y) { state i32 n; y <- n++; }\n%s\nkernel sum(in i32 x) { state i32 s; s += x; }\npipeline main() { count -> k -> sum; }\n' "$3" >refused.pipe
    rm -f refused.xml
    check "$1" says 1 "$2" "$PIPEC" graph --format=sdf3 -o refused.xml refused.pipe
    check "$1: nothing is written" test ! -e refused.xml
}
refused "a bounded rate" "refused.pipe:4:[0-9]+: error: the port 'y' of 'k' has no form in SDF3: the packets of a firing vary" 'kernel k(in i32 x, out i32 y) { if (x > 0) y <- x; }'
refused "a window" "the port 'x' of 'k' has no form in SDF3: a firing sees more" 'kernel k(in i32 x peek 3, out i32 y) { y <- x[2]; }'
refused "packets of finish only" "only 'finish' appends" 'kernel k(in i32 x, out i32 y) { state i32 s; s += x; finish { y <- s; } }'
check "--embed is another form's" says 2 'goes with --format=cmds' "$PIPEC" graph --format=sdf3 --embed two.pipe
check "completion" says 0 '^--format=sdf3$' "$PIPEC" complete -- pipec graph --format=
