/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Streams of planes, as zlib reads them: every kind of block, codes as long as the format has them, lengths of
 * runs around every border, and too little room.
 */
#include "base/planes.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST = 8 * DLS_PLANE_BYTES, GUARD = 64 };

static unsigned char planes[MOST], out[2 * MOST], back[MOST];
static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * below >> 32);
}

/* Bytes of the stream; what zlib makes of it are the planes again. */
static size_t there_and_back(size_t rows, size_t width)
{
    const size_t n = rows * width, size = dls_planes_deflate(planes, rows, width, out, sizeof out);
    uLongf got = sizeof back;
    assert_true(size > 0);
    assert_int_equal(uncompress(back, &got, out, size), Z_OK);
    assert_int_equal(got, n);
    assert_memory_equal(back, planes, n);
    return size;
}

/* All sizes of columns: constant planes are small, noise is a few bytes longer, two bits a byte take two. */
TEST(kinds_of_planes)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 257, 258, 259, 5000, DLS_PLANE_BYTES};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t rows = sizes[k];
        memset(planes, 7, 8 * rows);
        assert_in_range(there_and_back(rows, 8), 1, 60 + rows / 100);
        for (size_t i = 0; i < rows; i++) {
            planes[i] = (unsigned char)draw(256);
            planes[3 * rows + i] = (unsigned char)(64 * draw(4));
            planes[7 * rows + i] = (unsigned char)draw(256);
        }
        assert_in_range(there_and_back(rows, 8), 1, 2 * rows + rows / 4 + rows / 25 + 200);
        assert_in_range(there_and_back(rows, 1), 1, rows + 80);
    }
}

/* A plane with runs of each length and each distance to its end. */
TEST(runs)
{
    for (size_t run = 1; run < 1100; run += run < 300 ? 1 : 97) {
        const size_t rows = run + 40;
        for (size_t i = 0; i < rows; i++) {
            planes[i] = (unsigned char)(i < 20 || i >= 20 + run ? i : 255);
        }
        for (size_t cut = 0; cut < 21; cut++) {
            there_and_back(rows - cut, 1);
        }
    }
}

/* Fibonacci's numbers as counts make the longest codes: without the limit of 15 bits one of 18. */
TEST(long_codes)
{
    size_t n = 0;
    uint32_t count = 1, before = 0;
    for (unsigned char byte = 0; n + count <= DLS_PLANE_BYTES; byte++) {
        for (uint32_t i = 0; i < count; i++) {
            planes[n++] = byte;
        }
        const uint32_t sum = count + before;
        before = count;
        count = sum;
    }
    for (size_t i = n - 1; i > 0; i--) { /* no runs */
        const size_t k = draw((uint32_t)i + 1);
        const unsigned char byte = planes[i];
        planes[i] = planes[k];
        planes[k] = byte;
    }
    assert_in_range(there_and_back(n, 1), n / 4, n / 3);
}

/* Random columns: how many values a plane has, and how often it repeats the one before, differ. */
TEST(random_planes)
{
    for (int k = 0; k < FEWER(2000); k++) {
        const size_t rows = 1 + draw(k % 10 ? 600 : DLS_PLANE_BYTES), width = 1 + draw(8);
        for (size_t w = 0; w < width; w++) {
            const uint32_t values = 1 + draw(draw(2) ? 256 : 5), repeat = draw(12);
            for (size_t i = 0; i < rows; i++) {
                unsigned char *at = &planes[w * rows + i];
                *at = (unsigned char)(i > 0 && draw(12) < repeat ? at[-1] : draw(values) * draw(3));
            }
        }
        there_and_back(rows, width);
    }
}

/* In less room than the stream takes there is none, and nothing is written behind it. */
TEST(room)
{
    const size_t rows = 700, width = 4;
    for (size_t i = 0; i < rows * width; i++) {
        planes[i] = (unsigned char)(i < rows ? draw(256) : i < 2 * rows ? draw(9) : 1);
    }
    const size_t size = there_and_back(rows, width);
    for (size_t room = 0; room < size + GUARD; room++) {
        memset(out, 0xA5, sizeof out);
        const size_t got = dls_planes_deflate(planes, rows, width, out, room);
        assert_true(got == 0 || (got == size && room >= size));
        for (size_t i = room; i < room + GUARD; i++) {
            assert_int_equal(out[i], 0xA5);
        }
    }
    assert_int_equal(dls_planes_deflate(planes, rows, width, out, size + GUARD), size);
}
