# The deployed proof and the cloud for a person to try, included by the Makefile. Neither needs Docker or an account.

.PHONY: test-e2e local-cloud lint-compose

test-e2e: build .venv/.turnleaf .venv-sam/.turnleaf $(COUNT) ## Deploy the template to an emulated cloud and consume a feed there while functions are killed
	$(call need,git,the test deploys a copy of what git knows)
	@TURNLEAF_BIN='$(CURDIR)/bin/turnleaf' go test -count=1 -timeout 15m -json ./tests/e2e | $(COUNT) -v -name e2e

local-cloud: build .venv/.turnleaf .venv-sam/.turnleaf ## Deploy to an emulated cloud on this machine, with the demo's feed, until Ctrl-C (PORT, or ENDPOINT of a running one)
	@go build -buildvcs=false -o $(BUILD)/bin/local-cloud ./localstack/cloud
	@exec $(BUILD)/bin/local-cloud -port '$(or $(PORT),0)' -endpoint '$(ENDPOINT)' -folder $(BUILD)/local-cloud

# The library inside `docker compose`: it reads the file, checks it against the Compose schema and fills it in, as `docker compose config` does.
lint-compose: ## Check localstack/compose.yaml, both profiles, without Docker
	$(call need,go,install Go 1.26 or newer from https://go.dev/dl/)
	@cd localstack && COMPOSE_PROFILES=localstack go run github.com/compose-spec/compose-go/v2/cmd@v2.16.2 compose.yaml >/dev/null
