/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON job lists of hundreds of megabytes: the outer arrays and objects are walked, and json-c
 * makes a tree of one item at a time, so that memory is that of the text and one job. Numbers are
 * read from their text, exactly. Errors name file:line:column: of a mistake in JSON the place, of a
 * wrong member the start of its item. Nesting is limited to 64.
 *
 *      dls_walk_enter(&w, '[', err), then while (dls_walk_item(&w, ']', &more, err), more)
 *          { dls_walk_value(&w, &item, err); members of item; json_object_put(item); }
 */
#ifndef DLS_TRACES_WALK_H
#define DLS_TRACES_WALK_H

#include "base/json.h"
#include "dlsim/trace.h"


#define DLS_WALK_TEXT 256 /* room for keys, which are cut to it, and for strings, which are not */

typedef struct dls_walk {
    const dls_trace_source *src;
    const char *p, *end;
    const char *at; /* start of the item, which messages name */
    bool first;     /* no item of the open array or object was read yet */
    struct json_tokener *tokener;
} dls_walk;

dls_status dls_walk_init(dls_walk *w, const dls_trace_source *src, dls_error *err) DLS_MUST_CHECK;
void dls_walk_fini(dls_walk *w);
/* An error at the item. */
dls_status dls_walk_fail(const dls_walk *w, dls_error *err, const char *fmt, ...) DLS_PRINTF(3, 4);

/* Enter an array '[' or an object '{'. */
dls_status dls_walk_enter(dls_walk *w, char bracket, dls_error *err) DLS_MUST_CHECK;
/* Stand before its next item, or leave it by its bracket `close` (*more = false). */
dls_status dls_walk_item(dls_walk *w, char close, bool *more, dls_error *err) DLS_MUST_CHECK;
/* The same in an object: the key, and stand before its value. */
dls_status dls_walk_key(dls_walk *w, char key[DLS_WALK_TEXT], bool *more,
                        dls_error *err) DLS_MUST_CHECK;
/* The value there; json_object_put it. NULL is JSON's null. */
dls_status dls_walk_value(dls_walk *w, json_object **out, dls_error *err) DLS_MUST_CHECK;
/* An object, no other value. */
dls_status dls_walk_object(dls_walk *w, json_object **out, dls_error *err) DLS_MUST_CHECK;
/* one() for each item of an array of objects, from before the array to behind it. */
typedef dls_status (*dls_walk_fn)(void *user, dls_walk *w, json_object *item, dls_error *err);
dls_status dls_walk_objects(dls_walk *w, dls_walk_fn one, void *user, dls_error *err) DLS_MUST_CHECK;
/* Pass over the value, with a tree of no more than one of its items. */
dls_status dls_walk_skip(dls_walk *w, dls_error *err) DLS_MUST_CHECK;
/* Nothing but blanks may follow. */
dls_status dls_walk_end(dls_walk *w, dls_error *err) DLS_MUST_CHECK;

/* Members of an object: *out stays as it is where there is none, or null. A number times 10^scale
 * within min..max: more decimals are rounded at scale 6 (times) and an error otherwise. A string of
 * less than DLS_WALK_TEXT bytes, the object's. */
dls_status dls_walk_number(const dls_walk *w, json_object *of, const char *name, const char *what,
                           int scale, int64_t min, int64_t max, int64_t *out,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_walk_text(const dls_walk *w, json_object *of, const char *name, const char **out,
                         dls_error *err) DLS_MUST_CHECK;
/* dls_trace_builder_add with the item as the place. */
dls_status dls_walk_add(const dls_walk *w, dls_trace_builder *b, const dls_job_rec *rec,
                        dls_error *err) DLS_MUST_CHECK;

#endif
