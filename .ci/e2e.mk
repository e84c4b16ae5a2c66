# The deployed proof and the cloud for a person to try, included by the Makefile. Neither needs Docker or an account.

.PHONY: test-e2e local-cloud

test-e2e: build .venv/.turnleaf .venv-sam/.turnleaf $(COUNT) ## Deploy the template to an emulated cloud and consume a feed there while functions are killed
	$(call need,git,the test deploys a copy of what git knows)
	@TURNLEAF_BIN='$(CURDIR)/bin/turnleaf' go test -count=1 -timeout 10m -json ./tests/e2e | $(COUNT) -v -name e2e

