# What `sam build` runs, and the checks of the template; included by the Makefile.
#
# SAM calls build-NAME with ARTIFACTS_DIR set, and tells nothing else: the processor comes from the environment and must be what the
# template's Architecture says.

.PHONY: build-PollFunction build-ApplyFunction build-ReviewFunction

TURNLEAF_ARCHITECTURE ?= arm64
TURNLEAF_STREAMS ?= streams
GOARCH_arm64 := arm64
GOARCH_x86_64 := amd64

# sam-binary FUNCTION
define sam-binary
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@[ -n '$(GOARCH_$(TURNLEAF_ARCHITECTURE))' ] || { echo "TURNLEAF_ARCHITECTURE is $(TURNLEAF_ARCHITECTURE): arm64 or x86_64" >&2; exit 1; }
	@CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH_$(TURNLEAF_ARCHITECTURE)) go build -buildvcs=false -tags lambda.norpc -trimpath -ldflags '-s -w' \
		-o '$(ARTIFACTS_DIR)/bootstrap' ./functions/$(1)
endef

# A broken definition fails the build, not the night.
define sam-streams
	@go run -buildvcs=false ./cmd/turnleaf validate --streams '$(TURNLEAF_STREAMS)'
	@mkdir -p '$(ARTIFACTS_DIR)/streams'
	@cp -R '$(TURNLEAF_STREAMS)/.' '$(ARTIFACTS_DIR)/streams/'
endef

build-PollFunction:
	$(call sam-streams)
	$(call sam-binary,poll)

build-ApplyFunction:
	$(call sam-streams)
	$(call sam-binary,apply)

build-ReviewFunction:
	$(call sam-binary,review)

.PHONY: lint-template

REACH := $(BUILD)/bin/reach
SAM := .venv-sam/bin

# quietly COMMAND: what it says is only of interest if it fails.
quietly = @said=$$($(1) 2>&1) || { echo "$$said" >&2; exit 1; }

# cfn-lint judges what is written and what SAM makes of it: on the source it does not see unused parameters and wrong actions.
lint-template: .venv-sam/.turnleaf $(COUNT) $(REACH) ## Check the template with four linters, and against the code
	@mkdir -p $(BUILD)/template
	$(call quietly,SAM_CLI_TELEMETRY=0 $(SAM)/sam validate --lint)
	@AWS_DEFAULT_REGION=us-east-1 $(SAM)/python .ci/translate.py template.yaml >$(BUILD)/template/translated.json
	$(call quietly,$(SAM)/cfn-lint -- template.yaml $(BUILD)/template/translated.json)
	$(call quietly,$(SAM)/cfn-lint --config-file .ci/lint/cfn-lint-serverless.yaml -- template.yaml)
	$(call quietly,.venv-sam/checkov/bin/checkov --config-file .ci/lint/checkov.yaml -f template.yaml -f $(BUILD)/template/translated.json)
	@$(REACH) ./functions/poll ./functions/apply ./functions/review >$(BUILD)/template/reach.json
	@go test -count=1 -json ./tests/template | $(COUNT) -name template

.venv-sam/.turnleaf: .ci/sam-venv.sh .ci/python.sh
	@.ci/sam-venv.sh
	@touch $@

# In a module of its own, like the linters: the call graph's libraries are none of ours.
$(REACH): $(wildcard .ci/reach/*.go) .ci/reach/go.mod .ci/reach/go.sum
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@go build -C .ci/reach -o '$(CURDIR)/$@' .
