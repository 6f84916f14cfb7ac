# SPDX-License-Identifier: GPL-3.0-or-later
# The README's two commands; everything else is CMake's (see CMakePresets.json).
BUILD ?= build/release
ASAN ?= build/asan
CLANG ?= build/clang
WERROR ?= OFF
JOBS ?= $(shell nproc)

.PHONY: run test build figures

build:
	@cmake/bootstrap.sh build
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DDLSIM_WERROR=$(WERROR) \
	    -DDLSIM_TESTS=OFF --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target dlsim -- --quiet

# A sample trace on a sample cluster under four schedulers: the table of all jobs, and a page with pictures
# where there is a Python that draws them.
run: build
	@$(BUILD)/dlsim study --config=configs/quickstart.cfg --trace=traces/samples/philly_like_5000.csv \
	    --schedulers=fifo,srtf,dlas-gpu,gittins -o $(BUILD)/run --force >$(BUILD)/run.txt
	@sed '/^$$/q' $(BUILD)/run.txt
	@echo "5,000 jobs on 256 GPUs: completion times (JCT) first come, first served, and with short jobs first; ratios"
	@echo "are to the first row. By gang size: $(BUILD)/run.txt"
	@if $(BUILD)/dlsim report --force -o $(BUILD)/run.html $(BUILD)/run/quickstart.h5 2>/dev/null; then \
	    echo "Every job on every GPU, curves and tables: open $(BUILD)/run.html"; \
	else echo "dlsim report draws it, with python3-h5py, python3-pandas and python3-plotly"; fi
	@echo "Next: docs/python.md, a policy in five lines; configs/, your cluster; docs/traces.md, your trace"

# The papers' figures anew, into results/figures (docs/figures.md).
figures: build
	@cmake/bootstrap.sh figures
	@DLSIM=$(BUILD)/dlsim JOBS=$(JOBS) plots/reproduce.sh -o results/figures

# The whole suite, optimised (benchmarks in smoke mode); the digests once more as another compiler
# builds them, unoptimised, and the other files past its warnings; then under the sanitizers, with
# asserts and little optimisation, what can find more there (tests/CMakeLists.txt).
test:
	@cmake/bootstrap.sh test
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DDLSIM_WERROR=$(WERROR) \
	    -DDLSIM_TESTS=ON --log-level=WARNING
	cmake --build $(BUILD) -j $(JOBS) -- --quiet
	@if command -v clang >/dev/null; then \
	    cmake -S . -B $(CLANG) -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
	        -DCMAKE_C_COMPILER=clang \
	        -DDLSIM_CUDA=OFF -DDLSIM_WERROR=$(WERROR) -DDLSIM_TESTS=ON --log-level=WARNING && \
	    cmake --build $(CLANG) -j $(JOBS) --target unit_test_determinism build_info -- --quiet && \
	    $(CLANG)/tests/unit_test_determinism && \
	    cmake/check_syntax.sh $(CLANG) $(JOBS); \
	else echo "no clang: digests are compared with those of one compiler only"; fi
	cmake -S . -B $(ASAN) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DDLSIM_SANITIZE=ON \
	    -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -DDLSIM_CUDA=OFF -DDLSIM_WERROR=$(WERROR) \
	    -DDLSIM_TESTS=ON --log-level=WARNING
	cmake --build $(ASAN) -j $(JOBS) -- --quiet
	@tests/skipped.sh $(BUILD) -j $(JOBS) --output-on-failure --no-tests=error
	@tests/skipped.sh $(ASAN) -j $(JOBS) --output-on-failure --no-tests=error -LE bench
