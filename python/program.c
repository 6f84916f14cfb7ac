/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program of a wheel: main.c without its word to HDF5, which lies inside the library there, out of reach.
 */
#include "dlsim/program.h"

int main(int argc, char **argv)
{
    return dls_main(argc, argv);
}
