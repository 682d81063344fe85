#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/licence.sh finds each source without the licence's line, and adds the line where it belongs.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
mkdir -p scripts lang/std tests build .ci
cp "$ROOT/scripts/licence.sh" scripts
scripts/licence.sh --write
check "its own line is there" scripts/licence.sh

printf 'int x;\n' >a.c
printf '#!/usr/bin/env python3\npass\n' >b.py
printf 'all:\n' >Makefile
printf '// Heading.\nkernel k(in i32 x, out i32 y) { y <- x; }\n' >lang/std/d.pipe
for file in a.c b.py Makefile lang/std/d.pipe; do
    check "$file without the line" says 1 "^$file: no '.*SPDX-License-Identifier: MIT" scripts/licence.sh
done
cp a.c build/a.c
cp lang/std/d.pipe tests/d.pipe
chmod +x b.py
scripts/licence.sh --write
check "all files have it then" scripts/licence.sh
check "first in C" test "$(head -n 1 a.c)" = "/* SPDX-License-Identifier: MIT */"
check "after the interpreter" test "$(sed -n 1,2p b.py | tr '\n' ' ')" = "#!/usr/bin/env python3 # SPDX-License-Identifier: MIT "
check "the mode stays" test -x b.py
check "first in a makefile" test "$(head -n 1 Makefile)" = "# SPDX-License-Identifier: MIT"
check "last in a program" test "$(tail -n 1 lang/std/d.pipe)" = "// SPDX-License-Identifier: MIT"
check "its first comment stays" test "$(head -n 1 lang/std/d.pipe)" = "// Heading."
check "none in built files and in programs of tests" sh -c '! grep -q SPDX build/a.c tests/d.pipe'
cat a.c b.py Makefile lang/std/d.pipe >before
scripts/licence.sh --write
cat a.c b.py Makefile lang/std/d.pipe >after
check "twice is as once" cmp before after
sed -i '1d' a.c
check "a line that is taken away is missed" says 1 '^a.c:' scripts/licence.sh
