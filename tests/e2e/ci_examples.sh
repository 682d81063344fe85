#!/bin/bash
# SPDX-License-Identifier: MIT
# What other projects copy or name: the hooks of .pre-commit-hooks.yaml, the action of action.yml, the workflow of
# packaging/github. Their commands pass on a good project and find what is wrong with a bad one.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
mkdir bin good bad
ln -s "$PIPEC" bin/pipec
ln -s "$PIPERUN" bin/piperun
export PATH=$TMP/bin:$PATH
pipec new -q good/smooth.pipe
{
    sed 's/^    f32 sum/  f32 sum/' good/smooth.pipe
    printf '%s\n' '' 'const i32 unused = 1;' '' 'test wrong of main { samples = {0..7}; expect smooth == {1}; }'
} >bad/smooth.pipe

# ---- the hooks ----
hooks=$ROOT/.pre-commit-hooks.yaml
check "each hook names the sources" test "$(grep -c 'files: \\.pipe\$$' "$hooks")" = "$(grep -c '^- id: ' "$hooks")"
sed -n 's/^  entry: //p' "$hooks" >entries
check "there are hooks" test "$(wc -l <entries)" = 3
while read -r entry; do
    # shellcheck disable=SC2086 # the words of the entry
    check "$entry passes a good project" $entry good/smooth.pipe </dev/null
done <entries
check "the hook lint finds what is wrong" says 1 unused-item pipec lint bad/smooth.pipe
check "the hook test finds what fails" says 1 "test .wrong." pipec test -q bad/smooth.pipe
cp -R bad laid
check "the hook fmt changes the file, which pre-commit reports" bash -c 'pipec fmt laid/smooth.pipe >text 2>&1; ! cmp -s laid/smooth.pipe bad/smooth.pipe'
if command -v pre-commit >which && command -v git >which; then
    cp -R good project
    try() { (cd project && git init -q . && git add . && HOME=$TMP pre-commit try-repo "$ROOT" --all-files >../text 2>&1) || { cat text; return 1; }; }
    check "pre-commit runs the hooks" try
else
    echo "skip pre-commit it is not installed"
fi

# ---- the workflow ----
workflow=$ROOT/packaging/github/pipelines.yml
sed -nE 's/^ +run: (.*)/\1/p' "$workflow" >steps
check "the workflow has steps" test "$(wc -l <steps)" = 4
while read -r step; do
    check "the workflow's '$step' passes a good project" bash -c "cd good; $step >../text 2>&1"
    check "and reports a bad one" bash -c "cd bad; ! { $step >../text 2>&1; } || { test -s pipec.sarif && grep -q smooth.pipe pipec.sarif; }"
done <steps
check "findings stand beside the lines" bash -c 'pipec lint --diagnostics=github bad | grep -q "^::warning file=bad/smooth.pipe,line="'

# ---- the action, with the installation of this tree in the place of the machine's ----
version=$(make -s -C "$ROOT" print-VERSION)
check "the workflow names this version" grep -q "OWNER/pipec@v$version\$" "$workflow"
case $VARIANT in release | debug) ;; *) echo "skip the action not with a sanitized library"; exit 0 ;; esac
awk '/run: \|/ { inside = 1; next } inside' "$ROOT/action.yml" | sed 's/^        //' >action
# shellcheck disable=SC2016 # for the shims
{
    mkdir shims
    printf '#!/bin/sh\nexec "$@"\n' >shims/sudo
    printf '#!/bin/sh\nexit 0\n' >shims/ldconfig
    chmod +x shims/sudo shims/ldconfig
}
acts() {
    GITHUB_ACTION_PATH=$ROOT PREFIX=$TMP/prefix BUILD=$(dirname "$BUILD") PATH=$TMP/shims:$TMP/prefix/bin:$PATH \
        bash -euo pipefail action >text 2>&1 || { cat text; return 1; }
}
check "the action has commands" test "$(wc -l <action)" -ge 5
check "the action installs pipec" acts
check "which works then" grep -q "All that is needed works" text
check "it is in the folder of the installation" test -x prefix/bin/pipec
check "yaml is well-formed" bash -c 'python3 -c "import yaml" 2>which || exit 0; python3 -c "import sys, yaml; [yaml.safe_load(open(f)) for f in sys.argv[1:]]" "$@"' - "$hooks" "$workflow" "$ROOT/action.yml"
