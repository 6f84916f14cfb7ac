/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds rows by name, and the candidate nearest to a misspelt word: edit distance with
 * transpositions (optimal string alignment), within about a third of the word's length. A word of four
 * letters or more of which the end is missing is as near as two edits.
 */
#include "base/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 63

size_t dls_named(const void *rows, size_t n, size_t size, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        const char *own;
        memcpy(&own, (const char *)rows + i * size, sizeof own);
        if (!own || strcmp(own, name) == 0) {
            return own ? i : n;
        }
    }
    return n;
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t dls_edit_distance(const char *a, const char *b, size_t most)
{
    const size_t len_a = strlen(a), len_b = strlen(b);
    if (len_a > WORD_MAX || len_b > WORD_MAX) {
        return len_a > len_b ? len_a : len_b;
    }
    size_t row[3][WORD_MAX + 1]; /* the last two rows of the table and the one being filled */
    for (size_t j = 0; j <= len_b; j++) {
        row[0][j] = j;
    }
    for (size_t i = 1; i <= len_a; i++) {
        size_t *now = row[i % 3];
        const size_t *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        size_t smallest = now[0] = i;
        for (size_t j = 1; j <= len_b; j++) {
            const size_t differ = lower(a[i - 1]) != lower(b[j - 1]);
            now[j] = least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + differ);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
            smallest = least(smallest, now[j]);
        }
        if (smallest > most) { /* a transposition goes on from the row before, at most one less, and
                                  adds one */
            return smallest;
        }
    }
    return row[len_a % 3][len_b];
}

/* The characters of a word, a bit each. */
static uint64_t characters(const char *word)
{
    uint64_t all = 0;
    for (; *word; word++) {
        const unsigned char c = lower(*word);
        all |= UINT64_C(1) << ((c & 31) | (c < 64 ? 32 : 0));
    }
    return all;
}

/* An edit brings at most one character that the other word has not, or takes one away. */
static bool may_be_within(uint64_t a, uint64_t b, size_t edits)
{
    return (size_t)__builtin_popcountll(a & ~b) <= edits && (size_t)__builtin_popcountll(b & ~a) <= edits;
}

const char *dls_suggest(const char *word, const char *const *candidates)
{
    const size_t len = strlen(word);
    const uint64_t own = characters(word);
    size_t nearest = len < 6 ? 1 : len / 3;
    const char *best = NULL, *begun = NULL;
    for (; len > 0 && *candidates; candidates++) {
        const size_t length = strlen(*candidates), differ = length > len ? length - len : len - length;
        begun = !begun && len > 3 && strncasecmp(word, *candidates, len) == 0 ? *candidates : begun;
        if (differ > nearest || !may_be_within(own, characters(*candidates), nearest)) {
            continue; /* more edits */
        }
        const size_t edits = dls_edit_distance(word, *candidates, nearest);
        if (edits < len && (edits < nearest || (edits == nearest && !best))) {
            nearest = edits;
            best = *candidates;
        }
    }
    return best && (nearest <= 2 || !begun) ? best : begun;
}

const char *dls_did_you_mean(const char *near, char *buf, size_t n)
{
    if (near) {
        snprintf(buf, n, " (did you mean '%s'?)", near);
    }
    return near ? buf : "";
}
