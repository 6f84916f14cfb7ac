/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SHA-256 against the published examples, and the same digest for any division of the input.
 */

#include "base/sha256.h"
#include "support/test.h"

#include <string.h>

/* The examples of FIPS 180-4 as published by NIST. */
TEST(published_examples)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char hex[DLS_SHA256_HEX];
    dls_sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    dls_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    dls_sha256_hex(two_blocks, sizeof two_blocks - 1, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(a_million_times_a)
{
    char block[1000], hex[DLS_SHA256_HEX];
    memset(block, 'a', sizeof block);
    dls_sha256 sha;
    dls_sha256_init(&sha);
    for (int i = 0; i < 1000; i++) {
        dls_sha256_update(&sha, block, sizeof block);
    }
    dls_sha256_final(&sha, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Any cut into pieces gives the digest of the whole, for every length around the block size. */
TEST(pieces_give_the_same)
{
    unsigned char text[200];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)(i * 7 + 3);
    }
    for (size_t n = 0; n <= sizeof text; n++) {
        char whole[DLS_SHA256_HEX], pieces[DLS_SHA256_HEX];
        dls_sha256_hex(text, n, whole);
        dls_sha256 sha;
        dls_sha256_init(&sha);
        for (size_t at = 0, step = 1; at < n; at += step, step = step % 70 + 1) {
            step = at + step > n ? n - at : step;
            dls_sha256_update(&sha, text + at, step);
            if (at + step == n) {
                break;
            }
        }
        dls_sha256_final(&sha, pieces);
        assert_string_equal(pieces, whole);
    }
}
