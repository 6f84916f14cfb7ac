/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim.
 */
#include "dlsim/program.h"

#include <hdf5.h>

int main(int argc, char **argv)
{
    (void)H5dont_atexit(); /* every file is closed by whoever opened it; what is left goes with the process */
    return dls_main(argc, argv);
}
