/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program dlsim as a function, for programs that bring policies of their own to its commands: whatever
 * the program's arguments may be, --plugin=FILE included.
 *
 *      #include <dlsim/program.h>
 *
 *      int main(int argc, char **argv)
 *      {
 *          return dls_main(argc, argv);
 *      }
 */
#ifndef DLSIM_PROGRAM_H
#define DLSIM_PROGRAM_H

#include "dlsim/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What `dlsim` does with these arguments, argv[0] included; they may be reordered. It is meant for a
 * process of its own: unlike the rest of the library it prints, handles signals, may fork or exec, and
 * ends the process where it cannot go on. Returns the exit status. */
DLS_API int dls_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
