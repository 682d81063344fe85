#!/bin/sh
# SPDX-License-Identifier: MIT
# seeds.sh PIPEC FOLDER: compiles the pipelines of tests/fuzz/containers.pipe, each in debug mode as well, to seeds of the
# container fuzzer.  They are without their native code, which the fuzzer does not execute; it puts lengths and checksum
# right.
set -eu

pipec=$1
folder=$2
source=$(dirname "$0")/containers.pipe

# without_image FILE: the image is the last section of a header of 64 bytes and records of 24: kind, 0, offset, size.  The
# section before it has one record, which ends with the size of the image.
without_image() {
    perl -0777 -pi -e '
        my $image = 64 + 24 * (unpack("x12 V", $_) - 1);
        my $offset = unpack("Q<", substr($_, $image + 8, 8));
        my ($images, $bytes) = unpack("Q< Q<", substr($_, $image - 16, 16));
        substr($_, $images + $bytes - 8, 8) = pack("Q<", 0);
        substr($_, $image + 16, 8) = pack("Q<", 0);
        substr($_, 16, 8) = pack("Q<", $offset);
        $_ = substr($_, 0, $offset);' "$1"
}

mkdir -p "$folder"
sed -n 's/^pipeline \([a-z]*\).*/\1/p' "$source" | while read -r pipeline; do
    for mode in -O2 --debug-mode; do
        seed=$folder/$pipeline$mode.pbc
        "$pipec" "$mode" -p "$pipeline" --device sim4 --min-level=error "$source" -o "$seed"
        without_image "$seed"
    done
done
