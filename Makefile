# `make demo` and `make test` of the README, for Debian 12. Everything else is done with CMake: see CONTRIBUTING.md.
PACKAGES := g++ cmake ninja-build libboost-dev libboost-context-dev libboost-program-options-dev libsqlite3-dev \
            libsqlitecpp-dev libtomlplusplus-dev libfmt-dev nlohmann-json3-dev zlib1g-dev \
            libeigen3-dev libmd-dev
BUILD := build/release

.PHONY: help demo test cuda packages release
.NOTPARALLEL:

help:
	@echo 'make demo   install what Debian 12 has, build, tune on GPU 0 or else on the host CPU, print what won'
	@echo 'make test   the same preparation, then the tests'
	@echo 'Both need the CUDA Toolkit, 12.8 or newer (tested with 13.0), and no GPU. Other builds: CONTRIBUTING.md'

demo: release
	@echo 'smemtune: tuning into build/demo.db'
	@$(BUILD)/smemtune --sizes auto --db build/demo.db

# demo and test use the same build folder. Only test needs GoogleTest.
test: TESTS := ON
test: PACKAGES += libgtest-dev libgmock-dev dpkg-dev pkg-config
test: release
	@echo 'smemtune: running the tests'
	@ctest --test-dir $(BUILD) --output-on-failure --parallel $$(($$(nproc) + 1))  # some tests wait part of their time

TESTS := OFF
PORTFOLIOS :=  # a regular expression, to compile only some of the shipped portfolios
release: cuda packages
	@echo 'smemtune: building $(BUILD)'
	@cmake --preset release -DSMEMTUNE_BUILD_TESTS=$(TESTS) -DSMEMTUNE_PORTFOLIOS='$(strip $(PORTFOLIOS))' >/dev/null
	@# Ninja would run two compilers more than there are cores, which is up to a sixth slower.
	@if [ -t 1 ]; then cmake --build $(BUILD) -j $$(nproc); else cmake --build $(BUILD) -j $$(nproc) -- --quiet; fi

# Checks for the CUDA Toolkit before anything else, because everything needs it and this Makefile does not install it.
cuda:
	@command -v nvcc >/dev/null || [ -x "$$CUDAToolkit_ROOT/bin/nvcc" ] || [ -x /usr/local/cuda/bin/nvcc ] || { \
	    echo 'smemtune needs the CUDA Toolkit, 12.8 or newer (tested with 13.0), and did not find nvcc. No GPU is needed.' >&2; \
	    echo 'Install it from https://developer.nvidia.com/cuda-downloads, then put its bin folder on PATH or set' >&2; \
	    echo 'CUDAToolkit_ROOT to its folder.' >&2; \
	    exit 1; }

packages:
	@bash .ci/install $(PACKAGES)
