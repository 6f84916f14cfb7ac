/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Undefined behaviour that a sanitized build must not let pass: a sum too large for its type. Started without
 * arguments it is the largest int and one.
 */
#include <limits.h>

int main(int argc, char **argv)
{
    volatile int most = INT_MAX;
    (void)argv;
    return most + argc < 0;
}
