#!/bin/sh
# SPDX-License-Identifier: MIT
# The pipeline's cipher text is that of RFC 8439, section 2.4.2; deciphering gives the text back.
set -eu
here=$ROOT/examples/cipher
cd "$TMP"
printf '%s' "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it." >text.u8
wanted=6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b\
f91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8\
07ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736\
5af90bbf74a35be6b40b8eedf2785e42874d

"$PIPEC" "$here/chacha20.pipe" -o chacha20.pbc
"$PIPERUN" chacha20.pbc text=text.u8 cipher=cipher.u8
if [ "$(od -An -v -tx1 cipher.u8 | tr -d ' \n')" = "$wanted" ]; then
    echo "ok the cipher text of RFC 8439"
else
    echo "not ok the cipher text of RFC 8439: $(od -An -v -tx1 cipher.u8 | tr -d ' \n')"
fi

"$PIPERUN" chacha20.pbc text=cipher.u8 cipher=back.u8
if cmp -s text.u8 back.u8; then
    echo "ok deciphering gives the text back"
else
    echo "not ok deciphering gives the text back"
fi

# Lengths around a block, and a megabyte, against another implementation where there is one.
if command -v openssl >/dev/null 2>&1; then
    key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
    for size in 1 63 64 65 127 128 1000000; do
        head -c $size /dev/zero | tr '\0' 'p' >plain.u8
        openssl enc -chacha20 -K $key -iv 01000000000000000000004a00000000 <plain.u8 >theirs.u8
        "$PIPERUN" chacha20.pbc text=plain.u8 cipher=ours.u8
        if cmp -s ours.u8 theirs.u8; then
            echo "ok $size bytes as openssl"
        else
            echo "not ok $size bytes as openssl"
        fi
    done
else
    echo "skip other lengths: openssl is not installed"
fi
