# SPDX-License-Identifier: GPL-3.0-or-later
# The README's two commands; everything else is CMake's (see CMakePresets.json).
BUILD ?= build/release
ASAN ?= build/asan
CLANG ?= build/clang
WERROR ?= OFF
JOBS ?= $(shell nproc)

.PHONY: run test build figures bench-data

build:
	@cmake/bootstrap.sh build
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DDLSIM_WERROR=$(WERROR) \
	    -UCMAKE_CUDA_ARCHITECTURES -UDLSIM_OWN_ENGINES -DDLSIM_TESTS=OFF --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target dlsim -- --quiet

# A sample trace on a sample cluster under four schedulers: what came of it, and a page with pictures where there is a Python
# that draws them.
run: build
	@cmake/bootstrap.sh figures || true
	@$(BUILD)/dlsim study --config=configs/quickstart.cfg --trace=traces/samples/philly_like_5000.csv \
	    --schedulers=fifo,srtf,dlas-gpu,gittins -o $(BUILD)/run --force -q >$(BUILD)/run.txt
	@echo "5,000 jobs on 256 GPUs under four schedulers: first come first served, shortest remaining time first,"
	@echo "and the two of Tiresias, which do not know how long jobs run. Below each: ratios to the first."
	@sed '/^$$/,$$d' $(BUILD)/run.txt
	@echo "JCT is from submission to completion, queueing the part of it spent waiting: who waits less finishes sooner on"
	@echo "the same GPUs. The longest jobs (p99) may pay for it, and preempted ones restart. By gang size: $(BUILD)/run.txt"
	@if $(BUILD)/dlsim report --force -o $(BUILD)/run.html $(BUILD)/run/quickstart.h5 2>/dev/null; then \
	    echo "Every job on every GPU, curves and tables: open $(BUILD)/run.html"; \
	else echo "dlsim report draws it, with python3-h5py and python3-plotly"; fi
	@echo "Next: README.md, a scheduler in five lines; configs/, your cluster; docs/traces.md, your trace"

# The papers' figures anew, into results/figures (docs/figures.md).
figures: build
	@cmake/bootstrap.sh figures
	@DLSIM=$(BUILD)/dlsim JOBS=$(JOBS) plots/reproduce.sh -o results/figures

# The data set of real jobs anew, into build/bench-data, about two hours as root (docs/bench.md).
bench-data: build
	@cmake/bootstrap.sh bench
	@predictor/measure/bench/make.sh $(BUILD)/dlsim build/bench-data

# The whole suite, optimised (benchmarks in smoke mode); the digests once more as another compiler
# builds them, unoptimised, and the other files past its warnings; then under the sanitizers, with
# asserts and little optimisation, what can find more there (tests/CMakeLists.txt). The CUDA module, of the same source for
# every GPU, is compiled for the oldest alone, and engines that this machine does not run with less optimisation, which
# `make build` undoes. Two tests more at a time than
# there are processors: some wait for other programs, for clocks, for links of a given rate.
TESTS_AT_ONCE = $$(($(JOBS) + 2))
test:
	@cmake/bootstrap.sh test
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DDLSIM_WERROR=$(WERROR) \
	    -DCMAKE_CUDA_ARCHITECTURES=80-virtual -DDLSIM_OWN_ENGINES=ON -DDLSIM_TESTS=ON --log-level=WARNING
	cmake --build $(BUILD) -j $(JOBS) -- --quiet
	@if command -v clang >/dev/null; then \
	    cmake -S . -B $(CLANG) -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
	        -DCMAKE_C_COMPILER=clang \
	        -DDLSIM_CUDA=OFF -DDLSIM_WERROR=$(WERROR) -DDLSIM_TESTS=ON --log-level=WARNING && \
	    cmake --build $(CLANG) -j $(JOBS) --target digests build_info graph_proto -- --quiet && \
	    $(CLANG)/tests/digests && \
	    cmake/check_syntax.sh $(CLANG) $(JOBS) digests; \
	else echo "no clang: digests are compared with those of one compiler only"; fi
	cmake -S . -B $(ASAN) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DDLSIM_SANITIZE=ON -DDLSIM_TRAP=ON \
	    -DCMAKE_C_FLAGS_RELWITHDEBINFO=-Og -DDLSIM_CUDA=OFF -DDLSIM_WERROR=$(WERROR) \
	    -DDLSIM_TESTS=ON --log-level=WARNING
	cmake --build $(ASAN) -j $(JOBS) -- --quiet
	@DLSIM_VENV="$(abspath $(BUILD))/python/venv" tests/skipped.sh $(BUILD),$(ASAN) -j $(TESTS_AT_ONCE) --output-on-failure --no-tests=error
