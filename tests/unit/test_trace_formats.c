/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formats of simulators and logs on a few invented rows: recognition, units, flags, what is left
 * out and why.
 */
#include "support/test.h"
#include "trace_util.h"

TEST(tiresias)
{
    static const char *const files[] = {
        "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\r\n"
        "0,4,0,500,resnet50,900.7,45\r\n1,1,45,120,vgg16,300,10\r\n",
        "job_id num_gpu submit_time iterations model_name duration interval\n"
        "0  4 0 500 resnet50 900 45\n1 1 45 120 vgg16 300 10",
        "job_id,num_gpu,submit_time,start_time,duration,model_size,aggr_interval,model_name,"
        "model_scale\n0,4,0,0,900,1,1,resnet50,2\n1,1,45,0,300,1,1,vgg16,1\n",
    };
    for (size_t k = 0; k < 3; k++) {
        dls_trace *t = parse_as(files[k], "tiresias");
        const dls_trace_columns *c = dls_trace_cols(t);
        assert_int_equal(c->n, 2);
        assert_int_equal(c->gpus[0], 4);
        assert_true(c->duration_us[0] == S(900)); /* cut to whole seconds, as there */
        assert_true(c->submit_us[1] == S(45));
        assert_string_equal(dls_trace_model(t, c->model[1]), "vgg16");
        assert_int_equal(dls_trace_about(t)->rows_changed, k == 0);
        assert_int_equal(dls_trace_i64(c->iterations, 0), k == 2 ? -1 : 500);
        assert_int_equal(strstr(dls_trace_about(t)->notes, "model_scale not used: 1") != NULL,
                         k == 2);
        dls_trace_destroy(t);
    }
    /* With columns that Tiresias does not have it is our own table. */
    dls_trace *t =
        parse_as("job_id,num_gpu,submit_time,iterations,model_name,duration,interval,vc\n"
                 "0,4,0,500,resnet50,900.5,45,a\n",
                 "native");
    assert_true(dls_trace_cols(t)->duration_us[0] == S(900.5));
    dls_trace_destroy(t);
}

TEST(muri)
{
    dls_trace *t =
        parse_as("job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
                 "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\r\n"
                 "0,2,1500,10000,bert,4,1900000,5000,190,0.5,163,18,1\r\n"
                 "1,1,2000,10,vgg16,8,1,5000,0.1,0.5,163,18,0\r\n",
                 "muri");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_true(c->submit_us[0] == S(1.5));
    assert_true(c->duration_us[0] == S(1900));
    assert_true(c->duration_us[1] == 1000);
    assert_int_equal(c->flags[0], DLS_JOB_SYNTHETIC_MODEL);
    assert_int_equal(c->priority[0], 0); /* opportunistic */
    assert_int_equal(c->priority[1], 1); /* guaranteed */
    assert_int_equal(c->batch[0], 8);    /* 4 on each of 2 GPUs */
    dls_trace_destroy(t);
}

/* Muri runs iterations x iteration_time; what its testbed took stands in `duration`. */
TEST(muri_runs_its_iterations)
{
#define MURI "num_gpu,submit_time,duration,resource_time_0,iterations,iteration_time\n"
    dls_trace *t = parse_as(MURI "8,0,5095000,0.6,10956,437\n8,1534000,281000,82,1463,214\n"
                                 "1,1534000,10000,1,40,249.75\n1,1534000,7500,1,,249.75\n"
                                 "1,1534000,7500,1,30,\n",
                            "muri");
    static const int64_t want_us[] = {4787772000, 313082000, 9990000, 7500000, 7500000};
    for (int i = 0; i < 5; i++) {
        assert_true(dls_trace_cols(t)->duration_us[i] == want_us[i]);
    }
    assert_non_null(strstr(dls_trace_about(t)->notes,
                           "duration is not iterations x iteration_time, not used: 2"));
    dls_trace_destroy(t);
    must_refuse(MURI "1,0,1,1,9223372036854775807,1000\n",
                strlen(MURI "1,0,1,1,9223372036854775807,1000\n"), NULL, "t:2:9",
                "column 'iterations': ");
}

TEST(elasticflow)
{
    static const char *const files[] = {
        "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
        "0,0,80000,resnet50,5400,256,2,4500,0\n1,300,4000,bert,2100,64,1,1500,1\n",
        "job_id,submission_time,real_iteration,model_name,deadline,batch_size,num_gpu,"
        "real_duration,num_iteration\n0,0,80000,resnet50,5400,256,2,4500,80000\n"
        "1,300,4000,bert,2100,64,1,1500,4000\n",
    };
    for (int k = 0; k < 2; k++) {
        dls_trace *t = must_parse(files[k], k == 0 ? NULL : "elasticflow", NULL);
        const dls_trace_columns *c = dls_trace_cols(t);
        assert_string_equal(dls_trace_about(t)->format, "elasticflow");
        assert_true(c->deadline_us[0] == S(5400));
        assert_true(c->deadline_us[1] == (k == 0 ? DLS_ABSENT : S(2100)));
        assert_true(c->duration_us[0] == S(4500));
        assert_int_equal(c->iterations[1], 4000);
        assert_int_equal(c->flags[1], DLS_JOB_SYNTHETIC_MODEL);
        if (k == 0) {
            assert_string_equal(dls_trace_class(t, c->job_class[0]), "slo");
            assert_string_equal(dls_trace_class(t, c->job_class[1]), "best_effort");
        }
        dls_trace_destroy(t);
    }
}

TEST(pollux)
{
    dls_trace *t = parse_as("name,time,application,num_replicas,batch_size,category\n"
                            "cifar10-0,107,cifar10,6,2048,rigid\nbert-1,811.5,bert,12,384,\n",
                            "pollux");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->gpus[0], 6);
    assert_true(c->submit_us[1] == S(811.5));
    assert_int_equal(c->batch[1], 384);
    assert_int_equal(c->flags[0], DLS_JOB_NO_DURATION);
    assert_string_equal(dls_trace_class(t, c->job_class[0]), "rigid");
    dls_trace_destroy(t);
}

TEST(gavel)
{
    dls_trace *t =
        parse_as("A3C\tcd %s/rl && python3 main.py\t--max-steps\t0\t20000\t33.000000\t1\n"
                 "LM (batch size 80)\t\"x\tn\t1\t7\t34.5\t2\n",
                 "gavel");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_string_equal(dls_trace_model(t, c->model[0]), "A3C");
    assert_int_equal(c->batch[0], -1);
    assert_string_equal(dls_trace_model(t, c->model[1]), "LM");
    assert_int_equal(c->batch[1], 160); /* 80 on each of 2 GPUs */
    assert_int_equal(c->iterations[0], 20000);
    assert_true(c->submit_us[1] == S(34.5));
    assert_int_equal(c->flags[0], DLS_JOB_SYNTHETIC_MODEL | DLS_JOB_NO_DURATION);
    dls_trace_destroy(t);

    t = parse_as("ResNet-18 (batch size 64)\tpython3\timg\t--num_steps\t1\t50000\t2\t1\t1.5\t120\n",
                 "gavel");
    c = dls_trace_cols(t);
    assert_int_equal(c->gpus[0], 2);
    assert_true(c->submit_us[0] == S(120));
    assert_int_equal(c->priority[0], 1);
    assert_int_equal(c->flags[0], DLS_JOB_NO_DURATION);
    assert_string_equal(dls_trace_about(t)->notes, "service level not used: 1\n");
    dls_trace_destroy(t);

    t = parse_as("LM (batch size 10)\tp\tw\t--steps\t1\t90000\t1\tgns\t1\t-1.000000\t950\t64\r\n",
                 "gavel");
    c = dls_trace_cols(t);
    assert_true(c->duration_us[0] == S(950));
    assert_true(c->submit_us[0] == S(64));
    assert_string_equal(dls_trace_class(t, c->job_class[0]), "gns");
    assert_int_equal(c->flags[0], 0);
    dls_trace_destroy(t);
}

TEST(pai_sim)
{
    dls_trace *t = parse_as("job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user,"
                            "wait_time,user_dur,group_gpu_dur,group_dur\n"
                            "0,2.0,0,6.0,0.5,T4,320,0a1b,12.5,1,,3\n"
                            "1,,12,,1.0,V100,-5,1234,,1,2,3\n"
                            "2,1.0,12,8.0,0,CPU,5400,1234,,,,\n",
                            "pai-sim");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->n, 2);
    assert_int_equal(c->gpus[0], 1);
    assert_int_equal(c->cpu_milli[0], 12000);
    assert_true(c->queue_us[0] == S(12.5));
    assert_true(c->estimate_us[0] == S(3));
    assert_string_equal(dls_trace_gpu_types(t, c->gpu_types[0]), "T4");
    assert_true(c->duration_us[1] == S(1));
    assert_int_equal(c->flags[1], DLS_JOB_ZERO_DURATION);
    assert_true(c->estimate_us[1] == S(2));
    assert_string_equal(dls_trace_user(t, c->user[1]), "1234");
    dls_trace_destroy(t);
}

TEST(spot)
{
    dls_trace *t = parse_as("job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,"
                            "submit_time,duration,job_type\n"
                            "900001,13,A10,16.0,1.0,94,0,86400,HP\n"
                            "900002,57,H800,15.0,0.5,1,3600,5400.0,Spot\n"
                            "900003,57,H800,15.0,0,1,3600,5400,Spot\n",
                            "spot");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->n, 2);
    assert_int_equal(c->gpus[0], 94);
    assert_int_equal(c->cpu_milli[0], 94 * 16000);
    assert_int_equal(c->priority[0], 1);
    assert_string_equal(dls_trace_vc(t, c->vc[0]), "13");
    assert_string_equal(dls_trace_gpu_types(t, c->gpu_types[1]), "H800");
    assert_string_equal(dls_trace_class(t, c->job_class[1]), "Spot");
    assert_int_equal(c->priority[1], 0);
    assert_int_equal(c->flags[1], DLS_JOB_FRACTIONAL_GPUS);
    dls_trace_destroy(t);
}

TEST(rubick)
{
    dls_trace *t = parse_as("name,submission_time,duration,application,num_gpus,num_cpus,bandwidth,"
                            "exec_plan,steps,is_sla\nvit-0,7,1800.5,vit,2,16,0,zero-dp,21000,1\n",
                            "rubick");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_string_equal(dls_trace_id(t, 0), "vit-0");
    assert_true(c->submit_us[0] == S(7));
    assert_true(c->duration_us[0] == S(1800.5));
    assert_int_equal(c->gpus[0], 2);
    assert_int_equal(c->cpu_milli[0], 16000);
    assert_int_equal(c->iterations[0], 21000);
    assert_int_equal(c->priority[0], 1);
    dls_trace_destroy(t);
}

TEST(swf)
{
    static const char text[] =
        "; Version: 2.2\n; UnixStartTime: 1600000000\n; TimeZoneString: Europe/Rome\n; Note: \"x\n"
        "    1       0      5    600    8   590.2    -1   16   3600  1025   1   3   1   2   1   1 "
        "-1 "
        "-1\n"
        "    2      42     -1     -1   -1      -1    -1    4    600    -1   5   4   1  -1   1  1 "
        "-1 "
        "-1\n"
        "    3      43      0      0    4      -1    -1   -1     -1    -1   0   4   1  -1  -1  2 "
        "-1 "
        "-1\n"
        "\t4 44 0 9 4 -1 -1 4 -1 -1 3 4 1 -1 1 1 -1 -1\n"
        "    5      45      0      9    4      -1    -1    4     -1    -1  -1  -1   1  -1   1  1 "
        "-1 "
        "-1\n";
    const dls_trace_options asked = {.swf_processor_is_gpu = true};
    dls_trace *t = must_parse(text, NULL, &asked);
    const dls_trace_columns *c = dls_trace_cols(t);
    const dls_trace_info *info = dls_trace_about(t);
    assert_string_equal(info->format, "swf");
    assert_string_equal(info->epoch, "2020-09-13 12:26:40Z (Europe/Rome)");
    assert_string_equal(info->notes, "cancelled before it started: 1\n"
                                     "zero or negative duration raised to 1 s: 1\n"
                                     "part of a checkpointed job: 1\n");
    assert_int_equal(c->n, 3);
    assert_int_equal(c->gpus[0], 16); /* the request, not the allocation */
    assert_true(c->limit_us[0] == S(3600));
    assert_true(c->queue_us[0] == S(5));
    assert_int_equal(c->mem_mib[0], 17); /* 16 x 1025 KB */
    assert_string_equal(dls_trace_id(t, 0), "1");
    assert_string_equal(dls_trace_user(t, c->user[0]), "3");
    assert_string_equal(dls_trace_model(t, c->model[0]), "2");
    assert_string_equal(dls_trace_vc(t, c->vc[0]), "1");
    assert_int_equal(c->outcome[0], DLS_OUTCOME_COMPLETED);
    assert_int_equal(c->gpus[1], 4);
    assert_string_equal(dls_trace_vc(t, c->vc[1]), "2"); /* no queue: the partition */
    assert_int_equal(c->outcome[1], DLS_OUTCOME_FAILED);
    assert_true(c->limit_us[1] == DLS_ABSENT);
    assert_int_equal(c->outcome[2], DLS_OUTCOME_UNKNOWN);
    assert_int_equal(c->user[2], -1);
    dls_trace_destroy(t);

    dls_error err = {0};
    assert_int_equal(dls_trace_parse("t", text, sizeof text - 1, NULL, NULL, &t, &err), DLS_EUSAGE);
    assert_non_null(strstr(err.msg, "swf_processor_is_gpu"));
}

TEST(batsim)
{
    dls_trace *t = parse_as(
        "{\"nb_res\": 16, \"jobs\": [{\"id\": \"w0!1\", \"subtime\": 10, \"walltime\": 50, "
        "\"res\": 4, \"profile\": \"d60\"},\n"
        "{\"id\": 2, \"subtime\": 2.5, \"res\": 1, \"profile\": \"bad\", \"extra_data\": {\"a\": "
        "[1, {}, null]}},{\"id\": 3, \"subtime\": 9, \"res\": 0, \"profile\": \"d60\"}],\n"
        "\"profiles\": {\"d60\": {\"type\": \"DelayProfile\", \"delay\": 60}, \"bad\": {\"delay\": "
        "0.5, \"ret\": 1, \"type\": \"delay\"}, \"p\": {\"type\": \"parallel\", \"cpu\": [1]}}}",
        "batsim");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->n, 2);
    assert_string_equal(dls_trace_id(t, 0), "2");
    assert_true(c->duration_us[0] == S(0.5));
    assert_int_equal(c->outcome[0], DLS_OUTCOME_FAILED);
    assert_string_equal(dls_trace_id(t, 1), "w0!1");
    assert_true(c->duration_us[1] == S(50)); /* cut at the walltime */
    assert_int_equal(c->outcome[1], DLS_OUTCOME_TIMEOUT);
    assert_int_equal(c->gpus[1], 4);
    dls_trace_destroy(t);
    t = parse_as("{\"jobs\": [{\"subtime\": 4503599627.370497, \"res\": 1, \"profile\": \"d\"}], "
                 "\"profiles\": {\"d\": {\"type\": \"delay\", \"delay\": 9007199254.740993}}}",
                 "batsim");
    assert_true(dls_trace_cols(t)->submit_us[0] ==
                INT64_C(4503599627370497)); /* no double has it */
    assert_true(dls_trace_cols(t)->duration_us[0] == INT64_C(9007199254740993));
    dls_trace_destroy(t);
}

TEST(formats_have_names)
{
    size_t n = 0;
    for (const dls_trace_format *const *f = dls_trace_formats(); *f; f++, n++) {
        assert_true((*f)->name[0] && (*f)->summary[0]);
        for (const dls_trace_format *const *g = dls_trace_formats(); g < f; g++) {
            assert_string_not_equal((*f)->name, (*g)->name);
        }
    }
    assert_true(n >= 19);
    dls_trace *t = NULL;
    dls_error err = {0};
    assert_int_equal(dls_trace_parse("t", "x", 1, "fancy", NULL, &t, &err), DLS_EUSAGE);
    assert_non_null(strstr(err.msg, "native"));
}
