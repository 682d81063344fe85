#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# counts.sh: prints 1, 2, 4, ... up to the number of processors, and that number.
set -eu
all=$(nproc)
counts=()
for ((n = 1; n < all; n *= 2)); do counts+=("$n"); done
echo "${counts[@]}" "$all"
