#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec doctor: a machine with everything, and ones that lack something; --version=json of both programs.
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"
mkdir tmp
export TMPDIR=$TMP/tmp
check "here all that is needed works" says 0 "All that is needed works" "$PIPEC" doctor
for name in piperun llvm linker sim16 cpu; do check "$name is looked at" grep -qE "^ok +$name " text; done
check "optional things are named" test "$(grep -cE '^(ok|missing) +(cuda|sndfile|asound|microhttpd|dot|cc|pkg-config|libpipert) ' text)" = 8
check "devices to compile for are listed" grep -q "^pipec compiles for cpu, .* sim16, sim4, and for descriptions of your own" text
check "as JSON, too" says 0 '"works": true' "$PIPEC" doctor --json
check "which is JSON" parses text
check "each finding says whether it is there and needed" test "$(grep -cE '"name": "[a-z0-9-]+", "there": (true|false), "needed": (true|false), "text": ".+"' text)" -ge 12
check "and the devices are listed" grep -q '^    "sim16",$' text
check "nothing is left in the temporary folder" test -z "$(ls tmp)"

mkdir alone old
cp "$PIPEC" alone/pipec
cp "$PIPEC" old/pipec
check "without piperun something is wrong" says 1 "^WRONG +piperun +it runs what pipec compiles: install it" env PATH=/nowhere alone/pipec doctor
check "and says so" grep -q 'Something that is needed does not work' text
check "what is optional and missing has a package" grep -qE "^missing +dot +.*install the package graphviz" text
printf '#!/bin/sh\necho "piperun 0.0.9"\n' >old/piperun
chmod +x old/piperun
check "another version of piperun is wrong" says 1 "piperun 0.0.9, but pipec is version" old/pipec doctor
printf '#!/bin/sh\nkill -9 $$\n' >old/piperun
check "one that crashes, too" says 1 "WRONG +piperun" old/pipec doctor
cat >old/piperun <<END
#!/bin/sh
case "\$*" in
*--device=cuda) exit 0 ;;
--list-devices) echo "cuda:0  132  128 equally; NVIDIA H9, compute capability 9.0" ;;
*) exec "$PIPERUN" "\$@" ;;
esac
END
check "GPUs of the machine are listed" says 0 "^ok +cuda +a pipeline compiles and runs" old/pipec doctor
check "with their names" grep -qE "^ok +cuda:0 +NVIDIA H9, compute capability 9.0$" text
mkdir lacks
ln -s "$PIPERUN" lacks/piperun
sed 's/ld\.bfd/ld.non/g; s/ld\.lld/ld.non/g' "$PIPEC" >lacks/pipec
chmod +x lacks/pipec
check "without a linker something is wrong" says 1 "^WRONG +linker +makes an image of the code: install the package binutils" env PATH=/nowhere lacks/pipec doctor
check "and a pipeline does not compile, with the reason" grep -qE "^WRONG +sim16 +a pipeline does not compile and run: cannot run the linker" text
check "but LLVM is there" grep -qE "^ok +llvm " text
if grep -qa 'libLLVM[.-][^ ]*so' "$PIPEC"; then
    sed 's/libLLVM\([.-]\)/libNONE\1/g' "$PIPEC" >lacks/pipec
    check "without LLVM something is wrong" says 1 "^WRONG +llvm +generates code: install the package libllvm[0-9]+: libNONE" lacks/pipec doctor
else
    echo "skip without LLVM this pipec is linked with it"
fi
check "without pkg-config libpipert is not found" says 1 "^missing +libpipert +.*install the package libpipert-dev" env PATH=/nowhere lacks/pipec doctor
check "a temporary folder that cannot be written" says 2 "cannot write" env TMPDIR=/nowhere "$PIPEC" doctor
check "an argument is refused" says 2 "unknown argument 'x'" "$PIPEC" doctor x
check "an unknown option is refused" says 2 "unknown option '--no'" "$PIPEC" doctor --no

for tool in "$PIPEC" "$PIPERUN"; do
    name=$(basename "$tool")
    check "--version=json of $name" says 0 "\"tool\": \"$name [0-9.]+\".*\"commit\": (null|\"[0-9a-f]+\").*\"libraries\": \{.*\"jansson\": \"[0-9.]+\".*\"devices\": \[.*\"sim16\".*\"license\": \"MIT\"" "$tool" --version=json
    check "of $name is JSON" parses text
    check "--version=xml of $name is refused" says 2 "the only form is json" "$tool" --version=xml
done
