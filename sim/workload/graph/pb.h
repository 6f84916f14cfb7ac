/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Protocol buffers into an arena: the binary form through protobuf-c, and the text form, which
 * protobuf-c has not. Both fill the same structs; both skip fields that the type does not have.
 *
 * The text form: https://protobuf.dev/reference/protobuf/textformat-spec/
 */
#ifndef DLS_GRAPH_PB_H
#define DLS_GRAPH_PB_H

#include "dlsim/error.h"
#include "workload/graph/arena.h"

#include <protobuf-c/protobuf-c.h>

/* Messages inside of messages, at most. */
#define DLS_PB_DEPTH_MAX 64

/* The message lives in the arena. EINPUT: not such a message, or a truncated one. ENOMEM. */
dls_status dls_pb_unpack(const char *name, const void *data, size_t size,
                         const ProtobufCMessageDescriptor *type, dls_arena *arena,
                         ProtobufCMessage **out, dls_error *err) DLS_MUST_CHECK;
/* The same from text; EINPUT says where: "name:line:column". O(size). Fields may be int32, int64,
 * float, bool, enum, string, bytes or messages. */
dls_status dls_pb_parse_text(const char *name, const char *text, size_t size,
                             const ProtobufCMessageDescriptor *type, dls_arena *arena,
                             ProtobufCMessage **out, dls_error *err) DLS_MUST_CHECK;

#endif
