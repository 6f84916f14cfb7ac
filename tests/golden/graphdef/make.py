#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Training graphs as TensorFlow 2.16 writes them, and the shape that TensorFlow itself finds for every
operation's first output when it reads the file again: NAME.pb and NAME.shapes ("node dim,dim,...",
"?" without rank). Needs tensorflow-cpu; the tests do not."""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.disable_control_flow_v2()


def variable(name, shape, init=None):
    init = init or tf1.truncated_normal_initializer(stddev=0.1)
    return tf1.get_variable(name, shape, initializer=init, use_resource=False)


def batch_norm(x, name):
    with tf1.variable_scope(name):
        c = x.shape[-1]
        scale = variable("gamma", [c], tf1.ones_initializer())
        offset = variable("beta", [c], tf1.zeros_initializer())
        y, mean, _ = tf1.nn.fused_batch_norm(x, scale, offset, is_training=True)[:3]
        moving = tf1.get_variable("moving_mean", [c], initializer=tf1.zeros_initializer(),
                                  trainable=False, use_resource=False)
        tf1.add_to_collection("moving", tf1.assign_sub(moving, (moving - mean) * 0.1))
        return y


def cnn():
    x = tf1.placeholder(tf.float32, [None, 28, 28, 1], name="images")
    labels = tf1.placeholder(tf.int32, [None], name="labels")
    with tf1.device("/job:worker/task:0/device:GPU:0"):
        h = tf1.nn.bias_add(tf1.nn.conv2d(x, variable("c1", [5, 5, 1, 32]), [1, 1, 1, 1], "SAME"),
                            variable("b1", [32]))
        h = tf1.nn.max_pool(tf.nn.relu(h), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        h = tf1.nn.conv2d(h, variable("c2", [3, 3, 32, 64]), [1, 2, 2, 1], "SAME")
        h = tf.nn.relu6(batch_norm(h, "bn1"))
        d = tf1.nn.depthwise_conv2d(h, variable("dw", [3, 3, 64, 1]), [1, 1, 1, 1], "SAME")
        h = tf.concat([h, batch_norm(d, "bn2"), tf.nn.relu(h) * 2.0], 3)
        h = tf1.nn.avg_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        a, b = tf.split(h, 2, axis=3)
        h = tf1.nn.lrn(tf.pad(a + tf.sigmoid(b), [[0, 0], [1, 1], [1, 1], [0, 0]]))
        width = h.shape[1] * h.shape[2] * h.shape[3]
        h = tf.reshape(h, tf.stack([tf.shape(h)[0], width]))
        h = tf.nn.relu(tf.matmul(h, variable("w1", [width, 128])) + variable("bb1", [128]))
        y = tf.matmul(tf1.nn.dropout(h, 0.5), variable("w2", [128, 10]))
        y = tf.reshape(tf.transpose(tf.expand_dims(y, 1), [0, 2, 1]), [-1, 10])
        loss = tf.reduce_mean(
            tf1.nn.sparse_softmax_cross_entropy_with_logits(logits=y, labels=labels))
        loss += sum(tf.nn.l2_loss(v) for v in tf1.trainable_variables()) * 1e-4
        step = tf1.train.AdamOptimizer().minimize(loss)
        with tf1.control_dependencies([step] + tf1.get_collection("moving")):
            tf.no_op("train_op")


def lstm():
    ids = tf1.placeholder(tf.int32, [16, 20], name="ids")
    with tf1.device("/device:GPU:0"):
        x = tf.nn.embedding_lookup(variable("emb", [1000, 64]), ids)
        w, b = variable("w", [128, 256]), variable("b", [256])

        def body(t, h, c, out):
            i, j, f, o = tf.split(tf.matmul(tf.concat([x[:, t], h], 1), w) + b, 4, 1)
            c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            h = tf.tanh(c) * tf.sigmoid(o)
            return t + 1, h, c, out.write(t, h)

        out = tf.TensorArray(tf.float32, 20)
        zero = tf.zeros([16, 64])
        out = tf1.while_loop(lambda t, *_: t < 20, body, [0, zero, zero, out])[3]
        h = tf.transpose(out.stack(), [1, 0, 2])
        h = tf.matmul(tf.nn.softmax(tf.matmul(h, h, transpose_b=True) / 8.0), h)
        h = tf.reshape(h, [320, 64])
        mean, var = tf.nn.moments(h, [-1], keepdims=True)
        h = (h - mean) * tf1.rsqrt(var + 1e-5) * variable("g", [64])
        y = tf.reshape(tf.matmul(h, variable("out", [64, 1000])), [16, 20, 1000])
        loss = tf.reduce_mean(tf1.nn.sparse_softmax_cross_entropy_with_logits(
            logits=y[:, :-1], labels=ids[:, 1:]))
        variables = tf1.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf1.gradients(loss, variables), 5.0)
        tf1.train.AdamOptimizer().apply_gradients(zip(grads, variables))


def write(name, build):
    graph = tf1.Graph()
    with graph.as_default():
        build()
    definition = graph.as_graph_def()
    tf.io.write_graph(definition, ".", name + ".pb", as_text=False)
    again = tf1.Graph()
    with again.as_default():
        tf1.import_graph_def(definition, name="")
    with open(name + ".shapes", "w", encoding="ascii") as f:
        for op in again.get_operations():
            shape = op.outputs[0].shape if op.outputs else None
            dims = "-" if shape is None else "?" if shape.rank is None else ",".join(
                str(-1 if d is None else d) for d in shape.as_list())
            print(op.name, dims or "()", file=f)


os.chdir(sys.argv[1] if len(sys.argv) > 1 else ".")
write("cnn", cnn)
write("lstm", lstm)
