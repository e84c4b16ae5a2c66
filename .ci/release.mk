# Sizes, vulnerabilities and releases; included by the Makefile.

.PHONY: vuln size release

GOVULNCHECK := $(BUILD)/bin/govulncheck
CYCLONEDX := $(BUILD)/bin/cyclonedx-gomod

vuln: $(GOVULNCHECK) ## Scan for known vulnerabilities that are reached (TURNLEAF_VULNDB=latest asks the newest database)
	@.ci/vuln '$(CURDIR)/$(GOVULNCHECK)'

size: functions ## Print the sizes of the functions, what dominates them, and how long they take to ask for work
	@go run ./.ci/size $(BUILD)/functions

release: $(CYCLONEDX) ## Build the command for every platform and the functions, with checksums and SBOMs, into .build/release
	@GOTOOLCHAIN=$$(sed -n 's/^toolchain //p' go.mod) go run ./.ci/release '$(CURDIR)/$(CYCLONEDX)' $(BUILD)/release

# Each tool in a module of its own: none of their dependencies are ours, or each other's.
$(GOVULNCHECK): .ci/vulncheck/go.mod .ci/vulncheck/go.sum
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@go build -C .ci/vulncheck -o '$(CURDIR)/$@' golang.org/x/vuln/cmd/govulncheck

$(CYCLONEDX): .ci/sbom/go.mod .ci/sbom/go.sum
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@go build -C .ci/sbom -o '$(CURDIR)/$@' github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
