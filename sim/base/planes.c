/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A writer of zlib streams (RFC 1950) of deflated blocks (RFC 1951; its sections are named below). A block
 * is a plane that varies, or the constant planes between two of them: their bytes as they are, or literals
 * and matches at distance 1 in a Huffman code of the block's own.
 */
#include "base/planes.h"

#include "base/assert.h"
#include "base/radix.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    /* Symbols of literals and lengths (3.2.5) */
    END = 256, /* of the block */
    LITERALS_AND_LENGTHS = 286,
    CODE_BITS = 15,
    /* Tokens: a literal is its byte, END the end, a run of n repeated bytes RUN + n */
    RUN = 256,
    RUN_LEAST = 3,
    RUN_MOST = 258,
    TOKENS = RUN + RUN_MOST + 1,
    /* Symbols of code lengths (3.2.7): a length is itself */
    FEW_ZEROS = 17, /* 3 to 10, in 3 bits */
    ZEROS = 18,     /* 11 to 138, in 7 bits */
    LENGTH_SYMBOLS = 19,
    LENGTH_CODE_BITS = 7,
    /* What of a plane is looked at, to see whether it is noise */
    PIECES = 8,
    PIECE = 256,
    /* Of a stream and of a block of stored bytes */
    HEADER = 2,
    TRAILER = 4,
    STORED_HEADER = 5
};

/* ---- bits ------------------------------------------------------------------------------------ */

/* The lowest bit first (3.1.1). Whoever writes has seen that there is room, 8 bytes more than needed. */
typedef struct bits {
    unsigned char *at;
    uint64_t waiting;
    unsigned n; /* bits that wait, below 32 between calls */
} bits;

/* n: at most 32 */
static inline void put(bits *b, uint32_t value, unsigned n)
{
    b->waiting |= (uint64_t)value << b->n;
    b->n += n;
    if (b->n >= 32) {
        for (int k = 0; k < 4; k++) {
            b->at[k] = (unsigned char)(b->waiting >> 8 * k);
        }
        b->at += 4;
        b->waiting >>= 32;
        b->n -= 32;
    }
}

static void put_to_byte(bits *b)
{
    while (b->n > 0) {
        *b->at++ = (unsigned char)b->waiting;
        b->waiting >>= 8;
        b->n = b->n > 8 ? b->n - 8 : 0;
    }
}

/* ---- Huffman codes --------------------------------------------------------------------------- */

/* How many codes of each length, `most` at most, symbols of these weights [n] get, n at least 2, ascending.
 * Lengths without a limit by two passes over the weights, which are lost (Moffat, Katajainen: In-place
 * calculation of minimum-redundancy codes, 1995); those beyond it are cut, and pairs of codes moved down until
 * the code is complete again. */
static void share_lengths(uint32_t *a, size_t n, unsigned most, uint32_t codes[CODE_BITS + 1])
{
    /* Joining the two lightest: what was joined is its weight until it is joined, then its parent's place. */
    size_t joined = 0, leaf = 0;
    for (size_t next = 0; next + 1 < n; next++) {
        uint32_t sum = 0;
        for (int k = 0; k < 2; k++) {
            if (leaf >= n || (joined < next && a[joined] < a[leaf])) {
                sum += a[joined];
                a[joined++] = (uint32_t)next;
            } else {
                sum += a[leaf++];
            }
        }
        a[next] = sum;
    }
    /* Depths of what was joined, from the root down; of a level's places those that are left are leaves. */
    a[n - 2] = 0;
    for (size_t i = n - 2; i-- > 0;) {
        a[i] = a[a[i]] + 1;
    }
    memset(codes, 0, (CODE_BITS + 1) * sizeof *codes);
    size_t places = 1, inner = n - 1;
    for (uint32_t depth = 0; places > 0; depth++) {
        size_t here = 0;
        while (inner > 0 && a[inner - 1] == depth) {
            inner--;
            here++;
        }
        codes[depth < most ? depth : most] += (uint32_t)(places - here);
        places = 2 * here;
    }
    uint32_t used = 0; /* of 2^most codes of `most` bits */
    for (unsigned l = 1; l <= most; l++) {
        used += codes[l] << (most - l);
    }
    for (; used > 1U << most; used--) {
        unsigned l = most - 1;
        while (codes[l] == 0) {
            l--;
        }
        codes[l]--;
        codes[l + 1] += 2;
        codes[most]--;
    }
}

/* Bits of each symbol's code, 0 for what does not occur, at most `most`. At least two symbols occur. */
static void code_lengths(const uint32_t *count, size_t symbols, unsigned most, uint8_t *length)
{
    dls_keyed keys[LITERALS_AND_LENGTHS], spare[LITERALS_AND_LENGTHS];
    uint32_t weights[LITERALS_AND_LENGTHS], codes[CODE_BITS + 1];
    size_t n = 0;
    memset(length, 0, symbols);
    for (size_t s = 0; s < symbols; s++) {
        keys[n] = (dls_keyed){count[s], (uint32_t)s};
        n += count[s] > 0;
    }
    DLS_ASSERT(n >= 2);
    const dls_keyed *sorted = dls_radix_sort(keys, spare, n);
    for (size_t i = 0; i < n; i++) {
        weights[i] = (uint32_t)sorted[i].key;
    }
    share_lengths(weights, n, most, codes);
    for (size_t i = 0, l = most; i < n; i++) {
        while (codes[l] == 0) {
            l--;
        }
        codes[l]--;
        length[sorted[i].value] = (uint8_t)l;
    }
}

/* Codes of these lengths (3.2.2), their highest bit first. */
static void codes_of(const uint8_t *length, size_t symbols, uint16_t *code)
{
    uint32_t count[CODE_BITS + 1] = {0}, next[CODE_BITS + 1] = {0};
    for (size_t s = 0; s < symbols; s++) {
        count[length[s]] += length[s] > 0;
    }
    for (unsigned l = 1; l <= CODE_BITS; l++) {
        next[l] = (next[l - 1] + count[l - 1]) << 1;
    }
    for (size_t s = 0; s < symbols; s++) {
        uint32_t c = length[s] > 0 ? next[length[s]]++ : 0, reversed = 0;
        for (unsigned b = 0; b < length[s]; b++, c >>= 1) {
            reversed = reversed << 1 | (c & 1);
        }
        code[s] = (uint16_t)reversed;
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

typedef struct block {
    size_t n; /* tokens */
    uint32_t count[TOKENS];
    uint16_t token[DLS_PLANE_BYTES];
} block;

static void begin(block *b)
{
    b->n = 0;
    memset(b->count, 0, sizeof b->count);
}

static inline void add(block *b, unsigned token)
{
    b->token[b->n++] = (uint16_t)token;
    b->count[token]++;
}

static size_t run_length(const unsigned char *p, size_t n, unsigned char byte)
{
    size_t i = 0;
    const uint64_t same = 0x0101010101010101U * byte;
    for (uint64_t word; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        if (word != same) {
            break;
        }
    }
    while (i < n && p[i] == byte) {
        i++;
    }
    return i;
}

static void add_plane(block *b, const unsigned char *p, size_t n)
{
    size_t i = 0;
    while (i + RUN_LEAST < n) {
        const unsigned char byte = p[i++];
        add(b, byte);
        if (p[i] != byte || p[i + 1] != byte || p[i + 2] != byte) {
            continue;
        }
        size_t left = run_length(p + i, n - i, byte);
        i += left;
        while (left >= RUN_LEAST) {
            const size_t run = left < RUN_MOST ? left : RUN_MOST;
            add(b, RUN + (unsigned)run);
            left -= run;
        }
        for (; left > 0; left--) {
            add(b, byte);
        }
    }
    while (i < n) {
        add(b, p[i++]);
    }
}

/* The symbol of a run's length, and the bits that follow its code (3.2.5). */
static unsigned length_symbol(unsigned run, unsigned *extra, unsigned *extra_bits)
{
    const unsigned l = run - RUN_LEAST;
    *extra = *extra_bits = 0;
    if (run == RUN_MOST) {
        return 285;
    }
    if (l < 8) {
        return 257 + l;
    }
    while (l >> *extra_bits >= 8) {
        ++*extra_bits;
    }
    *extra = l & ((1U << *extra_bits) - 1);
    return 257 + 4 * *extra_bits + (l >> *extra_bits);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* How a block's code is described (3.2.7). */
typedef struct preface {
    uint8_t symbol[LITERALS_AND_LENGTHS + 1], zeros[LITERALS_AND_LENGTHS + 1];
    size_t n, literals, lengths; /* of the above; described codes; and those of the description */
    uint8_t length[LENGTH_SYMBOLS];
    uint16_t code[LENGTH_SYMBOLS];
    size_t bits;
} preface;

static const uint8_t length_order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                     11, 4,  12, 3, 13, 2, 14, 1, 15};

static void describe(preface *p, const uint8_t *length)
{
    uint8_t all[LITERALS_AND_LENGTHS + 1];
    uint32_t count[LENGTH_SYMBOLS] = {0};
    p->literals = LITERALS_AND_LENGTHS;
    while (length[p->literals - 1] == 0) { /* END has one */
        p->literals--;
    }
    memcpy(all, length, p->literals);
    all[p->literals] = 1; /* of distance 1 */
    p->n = 0;
    for (size_t i = 0; i <= p->literals; p->n++) {
        size_t zeros = 0;
        while (zeros < 138 && all[i + zeros] == 0) { /* the last is none */
            zeros++;
        }
        const unsigned symbol = zeros > 10 ? ZEROS : zeros > 2 ? FEW_ZEROS : all[i];
        p->symbol[p->n] = (uint8_t)symbol;
        p->zeros[p->n] = (uint8_t)zeros;
        i += symbol >= FEW_ZEROS ? zeros : 1;
        count[symbol]++;
    }
    code_lengths(count, LENGTH_SYMBOLS, LENGTH_CODE_BITS, p->length);
    codes_of(p->length, LENGTH_SYMBOLS, p->code);
    p->lengths = LENGTH_SYMBOLS;
    while (p->length[length_order[p->lengths - 1]] == 0) { /* a code has a symbol of 1 to 15 */
        p->lengths--;
    }
    p->bits = 5 + 5 + 4 + 3 * p->lengths + 3 * count[FEW_ZEROS] + 7 * count[ZEROS];
    for (size_t s = 0; s < LENGTH_SYMBOLS; s++) {
        p->bits += count[s] * p->length[s];
    }
}

static void put_preface(bits *to, const preface *p)
{
    put(to, (uint32_t)(p->literals - 257), 5);
    put(to, 0, 5); /* one distance */
    put(to, (uint32_t)(p->lengths - 4), 4);
    for (size_t i = 0; i < p->lengths; i++) {
        put(to, p->length[length_order[i]], 3);
    }
    for (size_t i = 0; i < p->n; i++) {
        const unsigned symbol = p->symbol[i];
        put(to, p->code[symbol], p->length[symbol]);
        if (symbol == ZEROS) {
            put(to, p->zeros[i] - 11U, 7);
        } else if (symbol == FEW_ZEROS) {
            put(to, p->zeros[i] - 3U, 3);
        }
    }
}

/* bytes [n], at most 65535, as they are. false: no room before `end` */
static bool put_stored(bits *to, const unsigned char *end, const unsigned char *bytes, size_t n, bool last)
{
    if ((size_t)(end - to->at) < n + STORED_HEADER + 8) {
        return false;
    }
    put(to, last, 3); /* 3.2.4: kind 0 */
    put_to_byte(to);
    for (int k = 0; k < 4; k++) { /* their number, and its complement */
        *to->at++ = (unsigned char)((k < 2 ? n : ~n) >> 8 * (k % 2));
    }
    memcpy(to->at, bytes, n);
    to->at += n;
    return true;
}

/* Empties it. false: no room before `end` */
static bool put_block(bits *to, const unsigned char *end, block *b, bool last)
{
    uint32_t count[LITERALS_AND_LENGTHS] = {0}, code[TOKENS];
    uint8_t length[LITERALS_AND_LENGTHS], n_bits[TOKENS];
    uint16_t symbols[LITERALS_AND_LENGTHS];
    preface p;
    b->count[END] = 1;
    memcpy(count, b->count, (END + 1) * sizeof *count);
    unsigned extra, extra_bits;
    for (unsigned run = RUN_LEAST; run <= RUN_MOST; run++) {
        if (b->count[RUN + run] > 0) {
            count[length_symbol(run, &extra, &extra_bits)] += b->count[RUN + run];
        }
    }
    code_lengths(count, LITERALS_AND_LENGTHS, CODE_BITS, length);
    codes_of(length, LITERALS_AND_LENGTHS, symbols);
    describe(&p, length);
    size_t all = 3 + p.bits;
    for (unsigned t = 0; t < TOKENS; t++) {
        if (b->count[t] == 0) {
            continue;
        }
        const unsigned s = t <= END ? t : length_symbol(t - RUN, &extra, &extra_bits);
        code[t] = symbols[s];
        n_bits[t] = length[s];
        if (t > END) { /* then distance 1: a zero */
            code[t] |= extra << length[s];
            n_bits[t] = (uint8_t)(length[s] + extra_bits + 1);
        }
        all += (size_t)b->count[t] * n_bits[t];
    }
    if ((size_t)(end - to->at) < all / 8 + 16) {
        return false;
    }
    put(to, (uint32_t)last | 2 << 1, 3);
    put_preface(to, &p);
    for (size_t i = 0; i < b->n; i++) {
        put(to, code[b->token[i]], n_bits[b->token[i]]);
    }
    put(to, code[END], n_bits[END]);
    begin(b);
    return true;
}

/* ---- planes ---------------------------------------------------------------------------------- */

typedef enum kind { CONSTANT, NOISE, CODED } kind;

/* NOISE: bytes of a sample are so evenly spread that a code saves some 7 % at most, less its description, and
 * takes most of the time. The sum of squares gives Renyi's entropy of the second order, which is at most
 * Shannon's: the half leaves 0.58 bits of 8, the last term is what chance adds. */
static kind kind_of(const unsigned char *p, size_t n)
{
    if (memcmp(p, p + 1, n - 1) == 0) {
        return CONSTANT;
    }
    uint32_t count[256] = {0};
    uint64_t looked = 0, squares = 0;
    for (size_t from = 0; from < n; from += n / PIECES + 1) {
        const size_t to = n - from < PIECE ? n : from + PIECE;
        for (size_t i = from; i < to; i++) {
            count[p[i]]++;
        }
        looked += to - from;
    }
    for (size_t s = 0; s < 256; s++) {
        squares += (uint64_t)count[s] * count[s];
    }
    return 256 * squares <= looked * looked + looked * looked / 2 + 256 * looked ? NOISE : CODED;
}

size_t dls_planes_deflate(const unsigned char *planes, size_t rows, size_t width, unsigned char *out,
                          size_t room)
{
    DLS_ASSERT(rows > 0 && rows <= DLS_PLANE_BYTES && width > 0);
    const size_t few = rows / RUN_MOST + RUN_LEAST + 1; /* tokens of a constant plane at most */
    if (room < HEADER + TRAILER) {
        return 0;
    }
    const unsigned char *end = out + room - TRAILER;
    bits to = {.at = out + HEADER};
    out[0] = 0x78; /* RFC 1950, 2.2: a window of 32 KiB, the fastest algorithm */
    out[1] = 0x01;
    block b;
    kind before = NOISE;
    begin(&b);
    for (size_t w = 0; w < width; w++) {
        const unsigned char *p = planes + w * rows;
        const kind here = kind_of(p, rows);
        const bool joins = here == CONSTANT && before == CONSTANT && b.n + few <= DLS_PLANE_BYTES;
        if (b.n > 0 && !joins && !put_block(&to, end, &b, false)) {
            return 0;
        }
        if (here != NOISE) {
            add_plane(&b, p, rows);
        } else if (!put_stored(&to, end, p, rows, w + 1 == width)) {
            return 0;
        }
        before = here;
    }
    if (b.n > 0 && !put_block(&to, end, &b, true)) {
        return 0;
    }
    put_to_byte(&to);
    const uint32_t sum = libdeflate_adler32(1, planes, rows * width);
    for (int k = 0; k < TRAILER; k++) {
        *to.at++ = (unsigned char)(sum >> (24 - 8 * k));
    }
    return (size_t)(to.at - out);
}
