# SPDX-License-Identifier: MIT
# Reads `FILE:LINE:#include "PATH"` and reports includes against the flow (CONTRIBUTING.md, "How the tree is cut").
# The folders of each half stand in one order: a folder includes itself, earlier folders of its half, model/, core/, lang/
# and base/.  So no folders can include each other in a cycle.  core/ is freestanding: it includes itself and lang/.

BEGIN {
    FS = ":"
    split("base lang core core/time core/resident model " \
          "compiler/support compiler/diagnostics compiler/context compiler/target compiler/syntax compiler/format compiler/ir compiler/sema " \
          "compiler/bodies compiler/liveness compiler/pace compiler/lint compiler/optimize/compose compiler/optimize/fuse " \
          "compiler/optimize/region compiler/optimize compiler/plan compiler/codegen/common compiler/codegen/x86 compiler/codegen/ptx compiler/emit compiler/describe " \
          "compiler/driver compiler/editor compiler/commands " \
          "runtime/load runtime/verify runtime/device runtime/backend/null runtime/backend/sim runtime/backend/cpu runtime/backend/cuda " \
          "runtime/sched runtime/host runtime/observe runtime/debug tools/piperun/io tools/piperun/watch tools/piperun", order, " ")
    for (i in order) rank[order[i]] = i + 0
    half["base"] = "base"
    half["lang"] = "lang"
    half["core"] = half["core/time"] = half["core/resident"] = "core"
    half["model"] = "model"
    for (i in order)
        if (!(order[i] in half)) half[order[i]] = order[i] ~ /^compiler/ ? "compiler" : "runtime"
}

function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
function report(reason) {
    printf "%s:%s: includes \"%s\": %s\n", $1, $2, target, reason
    bad = 1
}

{
    target = $0
    sub(/^[^"]*"/, "", target)
    sub(/".*/, "", target)
    from = folder($1)
    to = folder(target)
    if (from == "base/entry") next
    if (!(from in rank))
        report("scripts/flow.awk has no row for the folder " from)
    else if (!(to in rank))
        report("write the path from the root of the tree, of a folder that scripts/flow.awk lists")
    else if (half[from] == "core" && half[to] != "core" && half[to] != "lang")
        report("core/ includes lang/ and core/ only")
    else if (half[to] != "base" && half[to] != "lang" && half[to] != "core" && half[to] != "model" && half[to] != half[from])
        report("compiler/ and runtime/ meet in lang/, base/, core/ and model/ only")
    else if (target ~ /syntax\/ast/ && from !~ /^compiler\/(syntax|sema|lint|driver|editor|commands)$/)
        report("after sema and lint only driver, editor and commands see the AST")
    else if (rank[to] > rank[from])
        report("against the flow")
}

END { exit bad }
