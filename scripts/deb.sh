#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh FOLDER: makes Debian packages of these sources in FOLDER, as packaging/debian describes them. The source package is made
# too. Same sources give the same bytes, wherever they are.
set -eu
case $1 in /*) folder=$1 ;; *) folder=$PWD/$1 ;; esac
cd "$(dirname "$0")/.."
for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null || { echo "pipec: there is no $tool: install the packages dpkg-dev and debhelper" >&2; exit 2; }
done
version=$(make -s print-VERSION)
packaged=$(dpkg-parsechangelog -l packaging/debian/changelog -SVersion)
[ "$version" = "$packaged" ] || { echo "pipec: packaging/debian/changelog is of version $packaged, the Makefile of $version" >&2; exit 2; }

tree=$folder/pipec-$version
rm -rf "$tree"
mkdir -p "$tree"
if [ -e .git ]; then git ls-files -z --cached --others --exclude-standard; else find . ! -type d ! -path './build/*' -print0; fi |
    tar --null --files-from=- --ignore-failed-read -cf - | tar -C "$tree" -xf -
make -s print-COMMIT >"$tree/.commit"
cp -R packaging/debian "$tree/debian"
# A source package has the times and modes of its files.
chmod -R u=rwX,go=rX "$tree"
find "$tree" -exec touch -h -d "$(dpkg-parsechangelog -l packaging/debian/changelog -SDate)" {} +
cd "$tree"
unset MAKEFLAGS MAKELEVEL MFLAGS
exec dpkg-buildpackage -us -uc
