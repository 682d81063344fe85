# Reads `FILE:LINE:#include "PATH"` and reports includes against the flow (CONTRIBUTING.md, "How the tree is cut").
# A module includes its own half's earlier modules, itself, and lang/; lang/ includes itself.

BEGIN {
    FS = ":"
    split("compiler/support compiler/target compiler/syntax compiler/format compiler/sema compiler/graph compiler/analysis compiler/lint compiler/fuse compiler/plan " \
          "compiler/describe compiler/codegen compiler compiler/commands", order, " ")
    for (i in order) rank[order[i]] = i + 0
    rank["runtime/load"] = 2
    rank["runtime/sched"] = rank["runtime/device"] = 3
    rank["runtime/backend"] = rank["tools/piperun/io"] = 4
    rank["runtime"] = rank["runtime/observe"] = rank["runtime/debug"] = 5
    rank_of_file["runtime/status"] = rank_of_file["runtime/observer"] = rank_of_file["runtime/field"] = 1
    rank_of_file["runtime/piperun"] = 6
    # Elaboration builds the graph, so sema knows it; the graph knows the typed kernels.
    allowed["compiler/sema compiler/ir/graph.h"] = 1
    # The driver hands a command's word over.
    allowed["compiler compiler/commands/commands.h"] = 1
}

function module(path) { sub(/\/[^\/]*$/, "", path); return path }
function half(path) { sub(/\/.*/, "", path); return path }
function place(path, stem) {
    stem = path
    sub(/\.[a-z]*$/, "", stem)
    return stem in rank_of_file ? rank_of_file[stem] : rank[module(path)]
}
function report(reason) {
    printf "%s:%s: includes \"%s\": %s\n", $1, $2, target, reason
    bad = 1
}

{
    target = $0
    sub(/^[^"]*"/, "", target)
    sub(/".*/, "", target)
    if (target !~ /^(compiler|runtime|lang)\//)
        report("write the path from the root of the tree")
    else if (half(target) == "lang")
        next
    else if (half(target) != half($1))
        report("compiler/, runtime/ and lang/ meet in lang/ only")
    else if (target ~ /syntax\/ast/ && module($1) !~ /^compiler(\/syntax|\/sema|\/lint|\/commands)?$/)
        report("sema and lint are the last to see the AST")
    else if (place(target) > place($1) && !((module($1) " " target) in allowed))
        report("against the flow")
}

END { exit bad }
