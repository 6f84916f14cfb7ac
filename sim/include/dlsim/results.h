/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading results files (docs/results.md): the columns, names and numbers of a run that was written, as
 * dlsim/run.h gives them of one that has just been simulated.
 *
 * A file may be anybody's: one that is cut short, damaged, of another format, or whose tables
 * are not what its digests say is an error (EINPUT) that names the file and the object.
 *
 *      #include <dlsim/results.h>
 *      #include <stdio.h>
 *
 *      dls_status print_numbers(const char *path, dls_error *err)
 *      {
 *          dls_saved *run;
 *          dls_result_number number;
 *          DLS_TRY(dls_saved_open(path, NULL, &run, err));
 *          for (size_t i = 0; dls_saved_number_at(run, i, &number); i++) {
 *              printf("%s %g %s\n", number.name, number.value, number.unit);
 *          }
 *          dls_saved_close(run);
 *          return DLS_OK;
 *      }
 */
#ifndef DLSIM_RESULTS_H
#define DLSIM_RESULTS_H

#include "dlsim/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One run of a file, read whole. */
typedef struct dls_saved dls_saved;

/* run: its name in the file; NULL: the first in order of name. Errors: EINPUT, ENOMEM. O(size of the run). */
DLS_API dls_status dls_saved_open(const char *path, const char *run, dls_saved **out,
                                  dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_saved_close(dls_saved *saved); /* NULL-safe */
/* Close the run and open another of the same file, by its name; what was borrowed is gone, but for names of runs.
 * Cheaper than to open the file for each of many runs, which lists all of them. After an error only dls_saved_close
 * may be called. Errors: as dls_saved_open. O(size of the run). */
DLS_API dls_status dls_saved_turn(dls_saved *saved, const char *run, dls_error *err) DLS_MUST_CHECK;
/* The runs of the file that it comes from, in order of name; NULL: past the last. */
DLS_API const char *dls_saved_run(const dls_saved *saved, size_t i);
/* An attribute of the run (docs/results.md) as text: "scheduler", "digest", "config_text"; "": there is none. */
DLS_API const char *dls_saved_text(const dls_saved *saved, const char *attribute);
/* Its attributes in order of name; NULL: past the last. */
DLS_API const char *dls_saved_attribute(const dls_saved *saved, size_t i);
/* As dls_simulation_report, with the table for people also by gang size, class and outcome. */
DLS_API dls_status dls_saved_report(dls_saved *saved, bool json, const char **text,
                                    dls_error *err) DLS_MUST_CHECK;

/* Rows of a table; 0 for one that was not recorded. O(1). */
DLS_API size_t dls_saved_rows(const dls_saved *saved, dls_table table);
/* Columns; false: past the last. data is valid until the run is closed. O(1). */
DLS_API bool dls_saved_column_at(const dls_saved *saved, dls_table table, size_t i,
                                 dls_result_column *out);
/* The same by name; false: there is none. */
DLS_API bool dls_saved_column(const dls_saved *saved, dls_table table, const char *name,
                              dls_result_column *out);
/* The name of a job in the trace; "" past the last. O(1). */
DLS_API const char *dls_saved_id(const dls_saved *saved, size_t job);
/* As dls_simulation_name. O(1). */
DLS_API const char *dls_saved_name(const dls_saved *saved, const char *column, uint32_t code);
/* Numbers of the summary; false: past the last. */
DLS_API bool dls_saved_number_at(const dls_saved *saved, size_t i, dls_result_number *out);

#ifdef __cplusplus
}
#endif
#endif
