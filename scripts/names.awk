# SPDX-License-Identifier: MIT
# Reads C sources as .clang-format writes them and reports each name of a function that functions of several files have, and
# each that is one word: a name is a noun and a verb.  A definition begins at column 0, and its brace follows on a line of
# its own.  Within one file a name may occur twice: for two kinds of machine or library.

BEGIN {
    reason["main"] = "each program has one"
    reason["yyerror"] = "Bison calls it"
    reason["compose"] = reason["consteval"] = reason["evaluate"] = reason["plural"] = "the function of a module of that name"
    # min64, add63: arithmetic on numbers of so many bits.
}

# The name that a head declares: the word before the first parenthesis that opens parameters.
function name_of(head) {
    gsub(/__attribute__\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", head)
    sub(/\(.*/, "", head)
    sub(/^.*[^A-Za-z0-9_]/, "", head)
    return head
}

FNR == 1 { head = "" }
/^[A-Za-z_].*\(/ && !/[;{}=]/ { head = $0; next }
/^\{/ && head != "" {
    name = name_of(head)
    if (!(name in reason) && name !~ /_|[0-9]$/) {
        printf "%s:%d: %s(): a name of one word; say of what\n", FILENAME, FNR, name
        bad = 1
    }
    if (name != "main" && (name in file) && file[name] != FILENAME) {
        printf "%s:%d: %s() is also a function of %s: a name belongs to one function\n", FILENAME, FNR, name, file[name]
        bad = 1
    }
    file[name] = FILENAME
}
/^[^ ]/ { head = "" }

END { exit bad }
