/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quoting for a POSIX shell.
 */
#include "base/shell.h"

#include <string.h>

void dls_shell_word(FILE *out, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./,:@%";
    if (*s && strspn(s, plain) == strlen(s)) {
        fputs(s, out);
        return;
    }
    fputc('\'', out);
    for (; *s; s++) {
        fputs(*s == '\'' ? "'\\''" : (char[]){*s, '\0'}, out);
    }
    fputc('\'', out);
}
