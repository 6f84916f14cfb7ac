/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Status codes and error reports.
 *
 * Every function that can fail returns a dls_status and fills a dls_error that the caller owns
 * (NULL is allowed: the status alone comes back). The library never prints and never exits.
 * Thread safety: a dls_error belongs to one thread; everything else here is stateless.
 *
 *      #include <dlsim/error.h>
 *
 *      static dls_status half(int n, int *out, dls_error *err)
 *      {
 *          if (n % 2) {
 *              return dls_fail(err, DLS_EINPUT, "numbers.csv:3", "%d is odd", n);
 *          }
 *          *out = n / 2;
 *          return DLS_OK;
 *      }
 *
 *      dls_status quarter(int n, int *out, dls_error *err)
 *      {
 *          DLS_TRY(half(n, out, err));
 *          return half(*out, out, err);
 *      }
 */
#ifndef DLSIM_ERROR_H
#define DLSIM_ERROR_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DLS_API __attribute__((visibility("default")))
#define DLS_MUST_CHECK __attribute__((warn_unused_result))
#define DLS_PRINTF(fmt_pos, arg_pos) __attribute__((format(printf, fmt_pos, arg_pos)))
#else
#define DLS_API
#define DLS_MUST_CHECK
#define DLS_PRINTF(fmt_pos, arg_pos)
#endif

/* XX(name, exit code of the command line tool, text) */
#define DLS_STATUS_MAP(XX)                                                                         \
    XX(OK, 0, "success")                                                                           \
    XX(ERUN, 1, "the run failed")                                                                  \
    XX(ENOMEM, 1, "out of memory")                                                                 \
    XX(EPOLICY, 1, "a policy asked for something illegal")                                         \
    XX(EUSAGE, 2, "wrong usage")                                                                   \
    XX(ECONFIG, 3, "invalid configuration")                                                        \
    XX(EINPUT, 4, "invalid input file")                                                            \
    XX(EOUTPUT, 5, "output could not be written")                                                  \
    XX(EPREDICTOR, 6, "predictor or device failure")                                               \
    XX(EINTERRUPTED, 130, "interrupted")

typedef enum dls_status {
#define XX(name, code, text) DLS_##name,
    DLS_STATUS_MAP(XX)
#undef XX
} dls_status;

/* What went wrong and where: "file:line", "file:line:column", a key path or a row; "" if unknown. */
typedef struct dls_error {
    dls_status status;
    char where[256];
    char msg[1024];
} dls_error;

/* "EINPUT", "invalid input file", 4. Never NULL. */
DLS_API const char *dls_status_name(dls_status status);
DLS_API const char *dls_status_str(dls_status status);
DLS_API int dls_status_exit_code(dls_status status);

/* Fill err (may be NULL) and return status, so that "return dls_fail(...)" reports and leaves.
 * where may be NULL. Text that does not fit is cut, always terminated. */
DLS_API dls_status dls_fail(dls_error *err, dls_status status, const char *where, const char *fmt,
                            ...) DLS_PRINTF(4, 5);
DLS_API dls_status dls_vfail(dls_error *err, dls_status status, const char *where, const char *fmt,
                             va_list ap) DLS_PRINTF(4, 0);

/* Leave the function with the status of a failed call. */
#define DLS_TRY(expr)                                                                              \
    do {                                                                                           \
        const dls_status dls_try_status_ = (expr);                                                 \
        if (dls_try_status_ != DLS_OK) {                                                           \
            return dls_try_status_;                                                                \
        }                                                                                          \
    } while (0)

/* Go on with the next call if all went well so far: for steps with something to release behind them. */
#define DLS_THEN(status, expr) ((status) = (status) == DLS_OK ? (expr) : (status))

#ifdef __cplusplus
}
#endif
#endif
