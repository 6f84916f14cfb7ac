/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names out of files, fit for a terminal.
 */
#include "base/printable.h"

#include <stdbool.h>

/* U+0080 to U+009F are C2 80 to C2 9F in UTF-8. */
static bool is_control(const unsigned char *s)
{
    return *s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0);
}

const char *dls_printable(const char *text, char buf[DLS_PRINTABLE_BYTES])
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s && !is_control(s)) {
        s++;
    }
    if (!*s) {
        return text;
    }
    size_t n = 0;
    for (s = (const unsigned char *)text; *s && n + 5 < DLS_PRINTABLE_BYTES; s++) {
        if (is_control(s)) {
            s += *s == 0xc2;
            n += (size_t)snprintf(buf + n, 5, "\\x%02x", *s);
        } else {
            buf[n++] = (char)*s;
        }
    }
    buf[n] = '\0';
    return buf;
}

/* Characters of UTF-8, each of which takes one place of most scripts. */
static int places_of(const char *text)
{
    int n = 0;
    for (; *text; text++) {
        n += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return n;
}

enum { WIDTH_MAX = 60 };

int dls_printable_width(const char *text, int width)
{
    char buf[DLS_PRINTABLE_BYTES];
    const int n = places_of(dls_printable(text, buf));
    return n < WIDTH_MAX ? n > width ? n : width : WIDTH_MAX;
}

void dls_printable_cell(FILE *out, const char *text, int width)
{
    char buf[DLS_PRINTABLE_BYTES];
    const char *shown = dls_printable(text, buf);
    const int n = places_of(shown);
    fprintf(out, "%s%*s", shown, n < width ? width - n : 0, "");
}
