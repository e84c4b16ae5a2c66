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
