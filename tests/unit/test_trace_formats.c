/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formats of simulators and logs on a few invented rows: recognition, units, flags, what is left
 * out and why.
 */
#include "support/must.h"
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
        DLS_HOLD(dls_trace_destroy) dls_trace *t = parse_as(files[k], "tiresias");
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
    }
    /* With columns that Tiresias does not have it is our own table. */
    reads("job_id,num_gpu,submit_time,iterations,model_name,duration,interval,vc\n"
          "0,4,0,500,resnet50,900.5,45,a\n",
          "native", NULL,
          ", 1 rows, 0 left out, 0 changed\n"
          "column 'interval' not used: 1\n"
          "0: 4 GPUs at 0 duration=900.5 iterations=500 model=resnet50 vc=a unknown\n");
}

TEST(muri)
{
    /* Priority 0 is opportunistic, 1 guaranteed; the batch of the first is 4 on each of 2 GPUs. */
    reads("job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
          "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\r\n"
          "0,2,1500,10000,bert,4,1900000,5000,190,0.5,163,18,1\r\n"
          "1,1,2000,10,vgg16,8,1,5000,0.1,0.5,163,18,0\r\n",
          "muri", NULL,
          ", 2 rows, 0 left out, 0 changed\n"
          "0: 2 GPUs at 1.5 duration=1900 iterations=10000 batch=8 priority=0 model=bert "
          "SYNTHETIC_MODEL unknown\n"
          "1: 1 GPUs at 2 duration=0.001 iterations=10 batch=8 priority=1 model=vgg16 "
          "SYNTHETIC_MODEL unknown\n");
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
        DLS_HOLD(dls_trace_destroy) dls_trace *t = must_parse(files[k], k == 0 ? NULL : "elasticflow", NULL);
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
    }
}

TEST(pollux)
{
    reads("name,time,application,num_replicas,batch_size,category\n"
          "cifar10-0,107,cifar10,6,2048,rigid\nbert-1,811.5,bert,12,384,\n",
          "pollux", NULL,
          ", 2 rows, 0 left out, 0 changed\n"
          "cifar10-0: 6 GPUs at 107 batch=2048 model=cifar10 class=rigid NO_DURATION unknown\n"
          "bert-1: 12 GPUs at 811.5 batch=384 model=bert NO_DURATION unknown\n");
}

TEST(gavel)
{
    /* A batch of 80 on each of 2 GPUs. */
    reads(
        "A3C\tcd %s/rl && python3 main.py\t--max-steps\t0\t20000\t33.000000\t1\n"
        "LM (batch size 80)\t\"x\tn\t1\t7\t34.5\t2\n",
        "gavel", NULL,
        ", 2 rows, 0 left out, 0 changed\n"
        "0: 1 GPUs at 33 iterations=20000 model=A3C SYNTHETIC_MODEL NO_DURATION unknown\n"
        "1: 2 GPUs at 34.5 iterations=7 batch=160 model=LM SYNTHETIC_MODEL NO_DURATION unknown\n");

    reads("ResNet-18 (batch size 64)\tpython3\timg\t--num_steps\t1\t50000\t2\t1\t1.5\t120\n",
          "gavel", NULL,
          ", 1 rows, 0 left out, 0 changed\n"
          "service level not used: 1\n"
          "0: 2 GPUs at 120 iterations=50000 batch=128 priority=1 model=ResNet-18 NO_DURATION "
          "unknown\n");

    reads("LM (batch size 10)\tp\tw\t--steps\t1\t90000\t1\tgns\t1\t-1.000000\t950\t64\r\n", "gavel",
          NULL,
          ", 1 rows, 0 left out, 0 changed\n"
          "0: 1 GPUs at 64 duration=950 iterations=90000 batch=10 priority=1 model=LM class=gns "
          "unknown\n");
}

TEST(pai_sim)
{
    reads("job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user,"
          "wait_time,user_dur,group_gpu_dur,group_dur\n"
          "0,2.0,0,6.0,0.5,T4,320,0a1b,12.5,1,,3\n"
          "1,,12,,1.0,V100,-5,1234,,1,2,3\n"
          "2,1.0,12,8.0,0,CPU,5400,1234,,,,\n",
          "pai-sim", NULL,
          ", 3 rows, 1 left out, 1 changed\n"
          "zero or negative duration raised to 1 s: 1\n"
          "no GPU: 1\n"
          "0: 1 GPUs at 0 duration=320 queue=12.5 estimate=3 cpu=12 types=T4 user=0a1b unknown\n"
          "1: 1 GPUs at 12 duration=1 estimate=2 types=V100 user=1234 ZERO_DURATION unknown\n");
}

TEST(spot)
{
    reads("job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,"
          "submit_time,duration,job_type\n"
          "900001,13,A10,16.0,1.0,94,0,86400,HP\n"
          "900002,57,H800,15.0,0.5,1,3600,5400.0,Spot\n"
          "900003,57,H800,15.0,0,1,3600,5400,Spot\n",
          "spot", NULL,
          ", 3 rows, 1 left out, 0 changed\n"
          "no GPU: 1\n"
          "900001: 94 GPUs at 0 duration=86400 milli=94000 cpu=1504 priority=1 vc=13 types=A10 "
          "class=HP unknown\n"
          "900002: 1 GPUs at 3600 duration=5400 milli=500 cpu=15 priority=0 vc=57 types=H800 "
          "class=Spot FRACTIONAL_GPUS unknown\n");
}

TEST(rubick)
{
    reads("name,submission_time,duration,application,num_gpus,num_cpus,bandwidth,"
          "exec_plan,steps,is_sla\nvit-0,7,1800.5,vit,2,16,0,zero-dp,21000,1\n",
          "rubick", NULL,
          ", 1 rows, 0 left out, 0 changed\n"
          "vit-0: 2 GPUs at 7 duration=1800.5 iterations=21000 cpu=16 priority=1 model=vit "
          "unknown\n");
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
    /* GPUs are the request, not the allocation; memory is 16 x 1025 KB; where there is no queue
     * the virtual cluster is the partition. */
    reads(text, NULL, &asked,
          "2020-09-13 12:26:40Z (Europe/Rome), 5 rows, 2 left out, 1 changed\n"
          "cancelled before it started: 1\n"
          "zero or negative duration raised to 1 s: 1\n"
          "part of a checkpointed job: 1\n"
          "1: 16 GPUs at 0 duration=600 queue=5 limit=3600 mib=17 model=2 vc=1 user=3 completed\n"
          "3: 4 GPUs at 43 duration=1 queue=0 vc=2 user=4 ZERO_DURATION failed\n"
          "5: 4 GPUs at 45 duration=9 queue=0 vc=1 unknown\n");

    dls_trace *t;
    MUST_FAIL(DLS_EUSAGE, "swf_processor_is_gpu",
              dls_trace_parse("t", text, sizeof text - 1, NULL, NULL, &t, &e));
}

TEST(batsim)
{
    /* The last is cut at the walltime. */
    reads(
        "{\"nb_res\": 16, \"jobs\": [{\"id\": \"w0!1\", \"subtime\": 10, \"walltime\": 50, "
        "\"res\": 4, \"profile\": \"d60\"},\n"
        "{\"id\": 2, \"subtime\": 2.5, \"res\": 1, \"profile\": \"bad\", \"extra_data\": {\"a\": "
        "[1, {}, null]}},{\"id\": 3, \"subtime\": 9, \"res\": 0, \"profile\": \"d60\"}],\n"
        "\"profiles\": {\"d60\": {\"type\": \"DelayProfile\", \"delay\": 60}, \"bad\": {\"delay\": "
        "0.5, \"ret\": 1, \"type\": \"delay\"}, \"p\": {\"type\": \"parallel\", \"cpu\": [1]}}}",
        "batsim", NULL,
        ", 3 rows, 1 left out, 0 changed\n"
        "no GPU: 1\n"
        "2: 1 GPUs at 2.5 duration=0.5 failed\n"
        "w0!1: 4 GPUs at 10 duration=50 limit=50 timeout\n");
    dls_trace *t =
        parse_as("{\"jobs\": [{\"subtime\": 4503599627.370497, \"res\": 1, \"profile\": \"d\"}], "
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
    MUST_FAIL(DLS_EUSAGE, "native", dls_trace_parse("t", "x", 1, "fancy", NULL, &t, &e));
}
