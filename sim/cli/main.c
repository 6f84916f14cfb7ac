/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim.
 */
#include "dlsim/program.h"

int main(int argc, char **argv)
{
    return dls_main(argc, argv);
}
