/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is deflated plane by plane, zlib inflates to the same bytes: planes of all kinds, each beside others, in as much
 * room as they need and in less.
 */

#include "base/planes.h"
#include "base/rng.h"
#include "support/test.h"

#include <string.h>
#include <zlib.h>

enum { PLANES = 8, KINDS = 9 };

static unsigned char drawn[PLANES * DLS_PLANE_MOST], packed[PLANES * DLS_PLANE_MOST + 256],
    again[PLANES * DLS_PLANE_MOST + 1];

/* Bytes of one kind: equal ones, noise, few values, skewed ones (codes beyond the limit), runs of all lengths. */
static void draw(dls_rng *rng, uint64_t kind, unsigned char *to, size_t n)
{
    const unsigned char one = (unsigned char)dls_rng_below(rng, 256);
    unsigned char byte = one;
    for (size_t i = 0, left = 0; i < n; i++) {
        switch (kind) {
        case 0:
        case 1:
            byte = kind == 0 ? 0 : one;
            break;
        case 2:
            byte = (unsigned char)dls_rng_below(rng, 256);
            break;
        case 3:
            byte = (unsigned char)(64 * dls_rng_below(rng, 4));
            break;
        case 4: /* half of them 0, a quarter 1, .. */
            for (byte = 0; byte < 200 && dls_rng_below(rng, 2); byte++) {
            }
            break;
        case 5: /* one other byte */
            byte = (unsigned char)(one + (i == n / 2));
            break;
        default:
            if (left-- == 0) {
                byte = (unsigned char)dls_rng_below(rng, kind == 6 ? 2 : 256);
                left = dls_rng_below(rng, kind == 8 ? 600 : 8);
            }
        }
        to[i] = byte;
    }
}

static void inflates(size_t size, size_t bytes)
{
    uLongf n = sizeof again;
    assert_int_equal(uncompress(again, &n, packed, size), Z_OK);
    assert_int_equal(n, bytes);
    assert_memory_equal(again, drawn, bytes);
}

TEST(zlib_gets_them_back)
{
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 31);
    size_t fits = 0, tight = 0;
    for (int round = 0; round < 3000; round++) {
        const size_t planes = 1 + dls_rng_below(&rng, PLANES);
        const uint64_t size = dls_rng_below(&rng, 4);
        const size_t n = size == 0 ? 1 + dls_rng_below(&rng, 600)
                                   : size == 1 ? DLS_PLANE_MOST : 1 + dls_rng_below(&rng, 6000);
        for (size_t p = 0; p < planes; p++) {
            draw(&rng, dls_rng_below(&rng, KINDS), drawn + p * n, n);
        }
        const size_t all = planes * n, got = dls_planes_deflate(drawn, planes, n, packed, all + 64);
        if (got > 0) {
            inflates(got, all);
            fits++;
        }
        /* Less room: the same, or nothing, and nothing behind it. */
        const size_t room = got > 40 ? got - 40 + dls_rng_below(&rng, 80) : 0;
        memset(packed + room, 0xA5, 64);
        const size_t less = dls_planes_deflate(drawn, planes, n, packed, room);
        for (size_t i = room; i < room + 64; i++) {
            assert_int_equal(packed[i], 0xA5);
        }
        assert_true(less == 0 || less == got);
        if (less > 0) {
            inflates(less, all);
            tight++;
        }
    }
    assert_true(fits > 2900 && tight > 500);
}

/* Each kind by itself takes no more than it has to. */
TEST(they_are_small)
{
    static const size_t most[KINDS] = {120, 120, 16500, 4700, 4300, 150, 2400, 7000, 400};
    dls_rng rng = dls_rng_stream(2, DLS_RNG_TEST, 31);
    for (size_t kind = 0; kind < KINDS; kind++) {
        draw(&rng, kind, drawn, DLS_PLANE_MOST);
        const size_t got = dls_planes_deflate(drawn, 1, DLS_PLANE_MOST, packed, sizeof packed);
        if (got == 0 || got > most[kind]) {
            fail_msg("kind %zu takes %zu bytes", kind, got);
        }
        inflates(got, DLS_PLANE_MOST);
    }
}

