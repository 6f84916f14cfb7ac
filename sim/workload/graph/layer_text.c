/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads networks that are written as texts.
 */
#include "workload/graph/layer_text.h"

#include "base/assert.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int32_t number(const char **at)
{
    char *end;
    const long value = strtol(*at, &end, 10);
    *at = end;
    return (int32_t)value;
}

/* The number behind a character, which may be missing. */
static int32_t behind(const char **at, char mark, int32_t otherwise)
{
    if (**at != mark) {
        return otherwise;
    }
    ++*at;
    return number(at);
}

static dls_layer_word word_at(const char **at)
{
    dls_layer_word w = {.kind = isdigit((unsigned char)**at) ? 'c' : *(*at)++};
    w.kernel_h = number(at);
    w.kernel_w = behind(at, 'x', w.kernel_h);
    w.valid = **at == 'v';
    *at += w.valid;
    w.stride = behind(at, '/', 1);
    w.out = behind(at, ':', 0);
    return w;
}

static const char *items(const dls_layer_reader *r, const char *text, dls_layer_at *at);

static const char *branches(const dls_layer_reader *r, const char *text, char how, dls_layer_at *at)
{
    dls_layer_at branch[DLS_LAYER_BRANCHES];
    int n = 0;
    do {
        const char *from = text + 1 + strspn(text + 1, " ");
        const bool first = *from == '^';
        dls_layer_at one = *at;
        DLS_ASSERT(n < DLS_LAYER_BRANCHES);
        text = items(r, from + first, &one);
        memmove(branch + 1, branch, first ? (size_t)n * sizeof *branch : 0);
        branch[first ? 0 : n] = one;
        n++;
    } while (*text == '|');
    *at = r->join(r->user, how, *at, branch, n);
    return text + 1;
}

static const char *items(const dls_layer_reader *r, const char *text, dls_layer_at *at)
{
    while (*(text += strspn(text, " ")) != '\0' && *text != '|' && *text != ']') {
        const size_t digits = strspn(text, "0123456789");
        const int32_t times = text[digits] == '*' ? number(&text) : 1;
        const char *const from = text + (*text == '*');
        const size_t mark = from[0] != '[' && from[1] == '[';
        for (int32_t i = 0; i < times; i++) {
            text = from;
            if (text[mark] == '[') {
                text = branches(r, text + mark, *from, at);
            } else {
                const dls_layer_word w = word_at(&text);
                *at = r->layer(r->user, *at, &w);
            }
        }
    }
    return text;
}

dls_layer_at dls_layer_text(const dls_layer_reader *reader, const char *text, dls_layer_at at)
{
    items(reader, text, &at);
    return at;
}
