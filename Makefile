SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

# A clone that belongs to another user makes git, and with it the stamp of the revision, fail: the binary then has none.
STAMP := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo true || echo false)
export GOFLAGS ?= -buildvcs=false

BUILD := .build
COUNT := $(BUILD)/bin/count
LINT := $(BUILD)/bin/golangci-lint
POUCHDB := $(BUILD)/pouchdb/node_modules/pouchdb-server/bin/pouchdb-server

# need COMMAND, WHAT TO INSTALL
need = @command -v $(1) >/dev/null || { echo "$(1) is missing: $(2)" >&2; exit 1; }

.PHONY: help build run test test-unit test-feed lint lint-code fuzz bench clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  %-12s %s\n", $$1, $$2 }'

build: ## Build bin/turnleaf
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@[ -e bin/turnleaf ] || echo "building bin/turnleaf: the first build compiles SQLite and CEL, up to a minute on two cores"
	@go build -buildvcs=$(STAMP) -o bin/turnleaf ./cmd/turnleaf

run: build ## Run the demo: pages turn, one event is held, you decide
	@exec bin/turnleaf local --demo

test: lint test-unit test-feed test-aws test-crash test-e2e ## Run all checks and tests
	@$(COUNT) -total lint,template,unit,feed,aws,crash,e2e

test-unit: $(COUNT) ## Run the unit and protocol tests under the race detector
	$(call need,gcc,the race detector needs a C compiler - install gcc)
	@packages=$$(go list ./... ./.ci/count ./.ci/size ./.ci/release | grep -v '/turnleaf/tests/'); \
	CGO_ENABLED=1 go test -race -timeout 10m -json $$packages | $(COUNT) -name unit

test-feed: build $(COUNT) $(POUCHDB) ## Consume a live CouchDB feed while being killed (TURNLEAF_SEED, TURNLEAF_DOCS, TURNLEAF_KILLS)
	$(call need,node,install Node.js 18 or newer)
	@TURNLEAF_POUCHDB='$(CURDIR)/$(POUCHDB)' TURNLEAF_BIN='$(CURDIR)/bin/turnleaf' \
	go test -count=1 -timeout 10m -json ./tests/feed | $(COUNT) -v -name feed

lint: lint-code vuln lint-template ## Check the code, its shape, known vulnerabilities and the template

lint-code: $(LINT) $(COUNT)
	@unformatted=$$(find . -name '*.go' -not -path './$(BUILD)/*' -not -path './.git/*' -not -path './.venv*/*' -not -path '*/node_modules/*' \
		-not -path './.aws-sam/*' -exec gofmt -l {} +); \
	[ -z "$$unformatted" ] || { echo "gofmt -w is needed on:"; echo "$$unformatted"; exit 1; }
	@go vet ./... ./.ci/count ./.ci/size ./.ci/release
	@$(LINT) run ./... ./.ci/count ./.ci/size ./.ci/release
	@go test -count=1 -json ./tests/arch | $(COUNT) -name lint

fuzz: ## Fuzz every fuzz test for FUZZTIME (default 30s)
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@.ci/fuzz $(or $(FUZZTIME),30s)

bench: ## Run the benchmarks
	@go test -run '^$$' -bench . -benchmem $$(go list ./... | grep -vE '/tests/(feed|aws|lambda)(/|$$)')

clean: ## Remove what was built; .turnleaf, the data, stays
	@rm -rf bin $(BUILD)

$(COUNT): $(wildcard .ci/count/*.go)
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@go build -o $@ ./.ci/count

# Pinned in a module of its own, so that its two hundred dependencies are none of ours.
$(LINT): .ci/tools/go.mod .ci/tools/go.sum
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@echo "building golangci-lint: once, one to two minutes on two cores"
	@go build -C .ci/tools -o '$(CURDIR)/$@' github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# --omit=optional leaves out the native stores: the test runs the server in memory.
$(POUCHDB): tests/feed/pouchdb/package.json tests/feed/pouchdb/package-lock.json
	$(call need,node,install Node.js 18 or newer)
	$(call need,npm,install npm - it comes with Node.js)
	@echo "installing pouchdb-server into $(BUILD)/pouchdb"
	@mkdir -p $(BUILD)/pouchdb
	@cp tests/feed/pouchdb/package.json tests/feed/pouchdb/package-lock.json tests/feed/pouchdb/.npmrc $(BUILD)/pouchdb/
	@cd $(BUILD)/pouchdb && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error
	@touch $@

include .ci/aws.mk
include .ci/proof.mk
include .ci/e2e.mk
include .ci/release.mk
include .ci/sam.mk
