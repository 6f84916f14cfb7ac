/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plane is one block: a run of equal bytes by the fixed codes, other planes by codes made for them, or as they are
 * where that is shorter. Where many bytes equal the one before, runs become matches at distance 1.
 */
#include "base/planes.h"

#include "base/assert.h"
#include "dlsim/memory.h"

#include <endian.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    END = 256,         /* of a block */
    SYMBOLS = 286,     /* bytes, END, lengths of matches */
    LENGTHS = 19,      /* and those of which the table of their codes is made */
    CODE_MOST = 12,    /* bits, so that four fit in a word */
    LENGTH_MOST = 7,
    RUN_LEAST = 3,
    RUN_MOST = 258,
    SLACK = 16         /* a word may be written behind the end */
};

/* Of an alphabet: how often, and the code. */
typedef struct code {
    uint32_t count[SYMBOLS];
    uint16_t bits[SYMBOLS]; /* the first one lowest */
    uint8_t len[SYMBOLS];
} code;

typedef struct stream {
    unsigned char *at;
    uint64_t hold;
    unsigned n; /* bits of it */
} stream;

static inline void put(stream *s, uint64_t bits, unsigned n)
{
    s->hold |= bits << s->n;
    s->n += n;
}

/* Whole bytes go out; at most 7 bits stay. */
static inline void flush(stream *s)
{
    const uint64_t word = htole64(s->hold);
    memcpy(s->at, &word, sizeof word);
    s->at += s->n >> 3;
    s->hold >>= s->n & 56;
    s->n &= 7;
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* From counts in ascending order to lengths of a Huffman code, in place (Moffat and Katajainen 1995). */
static void huffman(uint32_t *a, int n)
{
    int root = 0, leaf = 2;
    a[0] += a[1];
    for (int next = 1; next < n - 1; next++) {
        uint32_t sum = 0;
        for (int k = 0; k < 2; k++) {
            if (leaf >= n || (root < next && a[root] < a[leaf])) {
                sum += a[root];
                a[root++] = (uint32_t)next;
            } else {
                sum += a[leaf++];
            }
        }
        a[next] = sum;
    }
    a[n - 2] = 0;
    for (int next = n - 3; next >= 0; next--) {
        a[next] = a[a[next]] + 1;
    }
    int open = 1, next = n - 1;
    root = n - 2;
    for (uint32_t depth = 0; open > 0; depth++) {
        int inner = 0;
        for (; root >= 0 && a[root] == depth; root--) {
            inner++;
        }
        for (; open > inner; open--) {
            a[next--] = depth;
        }
        open = 2 * inner;
    }
}

/* Lengths of at most `most` bits, of a complete code: the sum of 2^-length stays 1. */
static void limit(uint32_t *len, int n, uint32_t most)
{
    int of[CODE_MOST + 1] = {0}, over = -(1 << most);
    for (int i = 0; i < n; i++) {
        const uint32_t at = len[i] < most ? len[i] : most;
        of[at]++;
        over += 1 << (most - at);
    }
    for (; over > 0; over--) { /* one leaf moves down and takes one of the lowest beside it */
        uint32_t at = most - 1;
        while (of[at] == 0) {
            at--;
        }
        of[at]--;
        of[at + 1] += 2;
        of[most]--;
    }
    for (uint32_t at = most, i = 0; at > 0; at--) { /* the rarest first */
        for (; of[at] > 0; of[at]--) {
            len[i++] = at;
        }
    }
}

static uint16_t reversed(uint32_t bits, uint8_t len)
{
    bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
    bits = (bits & 0x0F0F) << 4 | (bits >> 4 & 0x0F0F);
    return (uint16_t)(__builtin_bswap16((uint16_t)bits) >> (16 - len));
}

/* A code for n symbols by their counts, two of which are not 0. */
static void make_code(code *c, int n, uint32_t most)
{
    dls_keyed pairs[SYMBOLS], spare[SYMBOLS];
    uint32_t len[SYMBOLS], first = 0, of[CODE_MOST + 2] = {0}, next[CODE_MOST + 2];
    int used = 0;
    for (int s = 0; s < n; s++) {
        if (c->count[s] > 0) {
            pairs[used++] = (dls_keyed){c->count[s], (uint32_t)s};
        }
    }
    DLS_ASSERT(used >= 2);
    const dls_keyed *sorted = dls_radix_sort(pairs, spare, (size_t)used);
    for (int i = 0; i < used; i++) {
        len[i] = (uint32_t)sorted[i].key;
    }
    huffman(len, used);
    limit(len, used, most);
    memset(c->len, 0, sizeof c->len);
    for (int i = 0; i < used; i++) {
        c->len[sorted[i].value] = (uint8_t)len[i];
        of[len[i]]++;
    }
    for (uint32_t k = 1; k <= most; k++) {
        next[k] = first;
        first = (first + of[k]) << 1;
    }
    for (int s = 0; s < n; s++) {
        c->bits[s] = c->len[s] > 0 ? reversed(next[c->len[s]]++, c->len[s]) : 0;
    }
}

/* ---- the table of a block's codes ------------------------------------------------------------ */

typedef struct table {
    code lengths;
    uint8_t item[SYMBOLS + 1], extra[SYMBOLS + 1]; /* symbols of `lengths` and what follows them */
    int n, symbols, listed;                        /* items, symbols of the block's code, lengths in the file's order */
} table;

static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

static unsigned extra_bits(uint8_t item)
{
    return item == 16 ? 2 : item == 17 ? 3 : item == 18 ? 7 : 0;
}

static void add_item(table *t, int item, int extra)
{
    t->item[t->n] = (uint8_t)item;
    t->extra[t->n++] = (uint8_t)extra;
    t->lengths.count[item]++;
}

/* The lengths of a code, and of that of distances: one distance, or none. Bits that it takes. */
static size_t make_table(table *t, const code *c, bool runs)
{
    uint8_t len[SYMBOLS + 1];
    size_t bits = 5 + 5 + 4;
    memset(&t->lengths.count, 0, sizeof t->lengths.count);
    t->n = 0;
    for (t->symbols = SYMBOLS; c->len[t->symbols - 1] == 0; t->symbols--) {
    }
    memcpy(len, c->len, (size_t)t->symbols);
    len[t->symbols] = runs;
    for (int i = 0, n = t->symbols + 1, k; i < n; i += k) {
        for (k = 1; i + k < n && len[i + k] == len[i] && k < (len[i] > 0 ? 7 : 138); k++) {
        }
        if (len[i] == 0 && k >= 11) {
            add_item(t, 18, k - 11);
        } else if (len[i] == 0 && k >= 3) {
            add_item(t, 17, k - 3);
        } else {
            add_item(t, len[i], 0);
            if (len[i] > 0 && k >= 4) {
                add_item(t, 16, k - 4);
            } else {
                k = 1;
            }
        }
    }
    t->lengths.count[0] += t->lengths.count[t->item[0]] == (uint32_t)t->n; /* a code has two symbols */
    t->lengths.count[1] += t->lengths.count[0] == (uint32_t)t->n + 1;
    make_code(&t->lengths, LENGTHS, LENGTH_MOST);
    for (t->listed = LENGTHS; t->lengths.len[order[t->listed - 1]] == 0; t->listed--) {
    }
    bits += 3 * (size_t)t->listed;
    for (int i = 0; i < t->n; i++) {
        bits += t->lengths.len[t->item[i]] + extra_bits(t->item[i]);
    }
    return bits;
}

static void put_table(stream *s, const table *t)
{
    put(s, (uint64_t)(t->symbols - 257), 5);
    put(s, 0, 5);
    put(s, (uint64_t)(t->listed - 4), 4);
    flush(s);
    for (int i = 0; i < t->listed; i++) {
        put(s, t->lengths.len[order[i]], 3);
        flush(s);
    }
    for (int i = 0; i < t->n; i++) {
        put(s, t->lengths.bits[t->item[i]], t->lengths.len[t->item[i]]);
        put(s, t->extra[i], extra_bits(t->item[i]));
        flush(s);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct match {
    int symbol;
    unsigned extra, n_extra;
} match;

static inline match match_of(size_t len)
{
    const unsigned l = (unsigned)len - RUN_LEAST;
    if (len == RUN_MOST) {
        return (match){285, 0, 0};
    }
    const unsigned n = 29 - (unsigned)__builtin_clz(l | 4); /* three bits stay */
    return (match){257 + (int)(4 * n + (l >> n)), l & ((1U << n) - 1), n};
}

/* All n bytes are equal: the first, then matches, by the codes that need no table. */
static void put_constant(stream *s, unsigned char byte, size_t n, bool last)
{
    const uint32_t literal = byte < 144 ? 48U + byte : 256U + byte; /* 400 + byte - 144 */
    put(s, last, 1);
    put(s, 1, 2);
    put(s, reversed(literal, byte < 144 ? 8 : 9), byte < 144 ? 8 : 9);
    for (size_t left = n - 1; left > 0;) {
        size_t len = left < RUN_MOST ? left : RUN_MOST;
        if (len < RUN_LEAST) {
            put(s, reversed(literal, byte < 144 ? 8 : 9), byte < 144 ? 8 : 9);
            len = 1;
        } else {
            const match m = match_of(len);
            const bool low = m.symbol < 280;
            put(s, reversed((uint32_t)(low ? m.symbol - END : 192 + m.symbol - 280), low ? 7 : 8), low ? 7 : 8);
            put(s, m.extra, m.n_extra);
            put(s, 0, 5); /* distance 1 */
        }
        left -= len;
        flush(s);
    }
    put(s, 0, 7); /* END */
    flush(s);
}

static size_t constant_most(size_t n)
{
    return 8 + 4 * (n / RUN_MOST + 3);
}

/* How many bytes equal to byte i follow it, up to RUN_MOST; 0: too few for a match. */
static inline size_t run_behind(const unsigned char *bytes, size_t i, size_t n)
{
    uint32_t four;
    if (n - i <= RUN_LEAST || (memcpy(&four, bytes + i, sizeof four), four != (four << 8 | four >> 24))) {
        return 0;
    }
    const size_t most = n - i <= RUN_MOST ? n : i + 1 + RUN_MOST;
    const uint64_t same = (uint64_t)four << 32 | four;
    size_t end = i + 1 + RUN_LEAST;
    for (uint64_t word; end + sizeof word <= most; end += sizeof word) {
        memcpy(&word, bytes + end, sizeof word);
        if (word != same) {
            break;
        }
    }
    while (end < most && bytes[end] == bytes[i]) {
        end++;
    }
    return end - i - 1;
}

/* ---- planes ---------------------------------------------------------------------------------- */

static void count_all(code *c, const unsigned char *bytes, size_t n)
{
    uint32_t other[3][256] = {{0}};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) { /* tables of their own do not wait for each other */
        c->count[bytes[i]]++;
        other[0][bytes[i + 1]]++;
        other[1][bytes[i + 2]]++;
        other[2][bytes[i + 3]]++;
    }
    for (; i < n; i++) {
        c->count[bytes[i]]++;
    }
    for (int s = 0; s < 256; s++) {
        c->count[s] += other[0][s] + other[1][s] + other[2][s];
    }
}

/* A byte, or from 256 on a match of that many bytes less. */
typedef uint16_t token;

/* Matches too, in token[n]; *bits more than their codes they need. */
static size_t find_runs(code *c, const unsigned char *bytes, size_t n, token *to, size_t *bits)
{
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        to[tokens++] = bytes[i];
        c->count[bytes[i]]++;
        const size_t len = run_behind(bytes, i, n);
        if (len > 0) {
            const match m = match_of(len);
            to[tokens++] = (token)(256 + len);
            c->count[m.symbol]++;
            *bits += m.n_extra + 1;
            i += len;
        }
    }
    return tokens;
}

static void put_all(stream *to, const code *c, const unsigned char *bytes, size_t n)
{
    stream s = *to; /* in registers */
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            put(&s, c->bits[bytes[i + k]], c->len[bytes[i + k]]);
        }
        flush(&s);
    }
    for (; i < n; i++) {
        put(&s, c->bits[bytes[i]], c->len[bytes[i]]);
        flush(&s);
    }
    *to = s;
}

static void put_runs(stream *to, const code *c, const token *tokens, size_t n)
{
    stream s = *to;
    for (size_t i = 0; i < n; i++) {
        if (tokens[i] < 256) {
            put(&s, c->bits[tokens[i]], c->len[tokens[i]]);
        } else {
            const match m = match_of(tokens[i] - 256U);
            put(&s, c->bits[m.symbol], c->len[m.symbol]);
            put(&s, m.extra, m.n_extra);
            put(&s, 0, 1); /* the only distance */
        }
        flush(&s);
    }
    *to = s;
}

static void put_stored(stream *s, const unsigned char *bytes, size_t n, bool last)
{
    put(s, last, 3); /* and 00 */
    s->n = (s->n + 7) & ~7U;
    put(s, n, 16);
    put(s, ~n & 0xFFFF, 16);
    flush(s);
    memcpy(s->at, bytes, n);
    s->at += n;
}

static size_t equal_neighbours(const unsigned char *bytes, size_t n)
{
    size_t equal = 0;
    for (size_t at = 1, end; at < n; at = end) {
        unsigned char some = 0; /* narrow, so that many are compared at a time */
        end = n - at < 128 ? n : at + 128;
        for (size_t i = at; i < end; i++) {
            some = (unsigned char)(some + (bytes[i] == bytes[i - 1]));
        }
        equal += some;
    }
    return equal;
}

/* false: there is no room up to `end`. */
static bool put_plane(stream *s, const unsigned char *bytes, size_t n, bool last, const unsigned char *end)
{
    code c;
    table t;
    token tokens[DLS_PLANE_MOST];
    size_t n_tokens = 0, bits = 0;
    memset(c.count, 0, sizeof c.count);
    const bool runs = equal_neighbours(bytes, n) > n / 2;
    if (runs) {
        n_tokens = find_runs(&c, bytes, n, tokens, &bits);
    } else {
        count_all(&c, bytes, n);
    }
    c.count[END] = 1;
    make_code(&c, SYMBOLS, CODE_MOST);
    bits += 3 + make_table(&t, &c, runs);
    for (int k = 0; k < SYMBOLS; k++) {
        bits += (size_t)c.count[k] * c.len[k];
    }
    const bool stored = bits / 8 >= n + 4;
    if ((stored ? n + 5 : bits / 8 + 1) + SLACK > (size_t)(end - s->at)) {
        return false;
    }
    if (stored) {
        put_stored(s, bytes, n, last);
        return true;
    }
    put(s, last, 1);
    put(s, 2, 2);
    put_table(s, &t);
    if (runs) {
        put_runs(s, &c, tokens, n_tokens);
    } else {
        put_all(s, &c, bytes, n);
    }
    put(s, c.bits[END], c.len[END]);
    flush(s);
    return true;
}

static bool all_equal(const unsigned char *bytes, size_t n)
{
    return memcmp(bytes, bytes + 1, n - 1) == 0;
}

size_t dls_planes_deflate(const unsigned char *bytes, size_t planes, size_t n, unsigned char *out, size_t room)
{
    DLS_ASSERT(planes > 0 && n > 0 && n <= DLS_PLANE_MOST);
    const unsigned char *end = out + room;
    stream s = {.at = out + 2};
    if (room < 2 + SLACK) {
        return 0;
    }
    out[0] = 0x78; /* a window of 32 KiB */
    out[1] = 0x01;
    for (size_t p = 0, next; p < planes; p = next) {
        const unsigned char *plane = bytes + p * n;
        next = p + 1;
        if (!all_equal(plane, n)) {
            if (!put_plane(&s, plane, n, next == planes, end)) {
                return 0;
            }
            continue;
        }
        while (next < planes && bytes[next * n] == plane[0] && all_equal(bytes + next * n, n)) {
            next++;
        }
        if (constant_most((next - p) * n) + SLACK > (size_t)(end - s.at)) {
            return 0;
        }
        put_constant(&s, plane[0], (next - p) * n, next == planes);
    }
    s.n = (s.n + 7) & ~7U;
    flush(&s);
    const uint32_t sum = libdeflate_adler32(1, bytes, planes * n);
    for (int b = 3; b >= 0; b--) {
        *s.at++ = (unsigned char)(sum >> 8 * b);
    }
    return (size_t)(s.at - out) <= room ? (size_t)(s.at - out) : 0;
}
