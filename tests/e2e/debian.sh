#!/bin/bash
# SPDX-License-Identifier: MIT
# Debian packages are built, twice to the same bytes; lintian finds nothing; their own tests pass in a copy of this system, and
# they are removed without a trace. Both builds have the same objects: tests/e2e/reproducible_build.sh compares
# compilations.
# shellcheck disable=SC2016,SC2317 # scripts of inner shells; functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
[ -n "${LONG-}" ] || { echo "it builds everything again: make check-long"; exit 77; }
[ "$VARIANT" = release ] || { echo "what ships is VARIANT=release"; exit 77; }
for tool in dpkg-buildpackage dh; do command -v $tool >which || { echo "there is no $tool"; exit 77; }; done
dpkg-checkbuilddeps "$ROOT/packaging/debian/control" 2>missing || { cat missing; exit 77; }

# packages FOLDER WORD...: builds them there, with these words before the command.
packages() {
    local folder=$1
    shift
    "$@" BUILD="$TMP/objects" "$ROOT/scripts/deb.sh" "$folder" >log 2>&1 || { tail -n 30 log; return 1; }
}
check "packages are built" packages "$TMP/one" env
check "in another folder, too" bash -c "umask 077; $(declare -f packages); packages '$TMP/two/other' env TZ=Asia/Tokyo LC_ALL=C HOME=/nonexistent"
ls one/*.deb >packages.list || true
check "there are those that the control file names" test "$(grep -vc dbgsym packages.list)" = "$(grep -c '^Package:' "$ROOT/packaging/debian/control")"
for file in one/*.deb one/*.tar.xz one/*.dsc; do
    check "the same bytes: ${file#one/}" cmp "$file" "two/other/${file#one/}"
done
for package in pipec libpipert0 libpipert-dev; do
    dpkg-deb -x one/${package}_*.deb "root-$package"
done
check "the library is where Debian has libraries" test -e root-libpipert0/usr/lib/*/libpipert.so.0
check "the commands depend on what they load" bash -c "dpkg-deb -f one/pipec_*.deb Depends | grep -q 'libllvm[0-9]'"
check "the library depends on hwloc and xxhash only" test "$(dpkg-deb -f one/libpipert0_*.deb Depends | sed 's/ ([^)]*)//g')" = "libc6, libhwloc15, libxxhash0"
if command -v lintian >which; then
    silent() { lintian --allow-root --fail-on error,warning one/*.changes >text 2>&1 || { cat text; return 1; }; }
    check "lintian finds nothing" silent
else
    echo "skip lintian it is not installed"
fi

# In a copy of this system, in memory: changes of it are lost.
isolated() {
    unshare -m --propagation private sh -euc '
        mount -t tmpfs copy /mnt && mkdir /mnt/upper /mnt/work /mnt/root
        mount -t overlay copy -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
        for folder in proc sys dev; do mount --rbind /$folder /mnt/root/$folder; done
        mkdir -p /mnt/root/packages && cp -R "$0"/. /mnt/root/packages
        chroot /mnt/root sh -euc "cd /packages; $1"' "$@"
}
if [ "$(id -u)" != 0 ] || ! isolated "$TMP/one" true 2>log; then
    echo "skip installed packages a copy of the system needs root and overlayfs"
    exit 0
fi
cp -R "$ROOT/packaging/debian/tests" one/tests
installed='dpkg -i libpipert0_*.deb libpipert-dev_*.deb pipec_*.deb >/log 2>&1 || { cat /log; exit 1; }'
# passes TEST: one of the tests of the packages.
passes() { isolated "$TMP/one" "$installed; AUTOPKGTEST_TMP=\$(mktemp -d) sh -eu tests/$1" >text 2>&1 || { tail -n 30 text; return 1; }; }
sed -n 's/^Tests: //p' one/tests/control >tests
while read -r test; do
    check "the packages pass their test $test" passes "$test"
done <tests
leaves_nothing() {
    isolated "$TMP/one" "$installed"'; files=$(dpkg -L pipec libpipert0 libpipert-dev)
        dpkg --purge libpipert-dev libpipert0 pipec >/log
        for file in $files; do [ -d "$file" ] || [ ! -e "$file" ] || { echo "there is $file"; exit 1; }; done' >text 2>&1 || { cat text; return 1; }
}
check "the packages leave nothing" leaves_nothing
if ! command -v autopkgtest >which; then
    echo "skip autopkgtest it is not installed"
else
    # It asks the network for packages; without one the test bed fails (status 16), which says nothing about these.
    status=0
    # Its apt-get would read its folders as another user, which a copy of this system may refuse.
    isolated "$TMP/one" 'echo "APT::Sandbox::User \"root\";" >/etc/apt/apt.conf.d/90root
        autopkgtest --timeout-factor=10 --output-dir /results *.deb pipec_*.dsc -- null >/log 2>&1 || { s=$?; tail -n 40 /log; exit $s; }
        cat /results/summary' >text 2>&1 || status=$?
    passed() { if [ "$status" != 0 ] || [ "$(grep -c 'PASS$' text)" != "$(wc -l <tests)" ]; then cat text; return 1; fi; }
    if [ "$status" = 16 ]; then
        echo "skip autopkgtest $(tail -n 1 text)"
    else
        check "autopkgtest runs them" passed
    fi
fi
