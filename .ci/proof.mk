# The proof: crashes, random schedules, the model, mutants; included by the Makefile. docs/proof.md says what they show, and what they found.

.PHONY: test-crash soak mutants model

test-crash: .venv/.turnleaf $(COUNT) ## Crash everywhere, schedule at random, explore the model, remove the protocol's guards
	@go test -count=1 -timeout 30m -json ./tests/crash/... ./tests/random/... ./tests/model/... ./tests/mutants/... | $(COUNT) -v -name crash

soak: .venv/.turnleaf ## All pairs of faults, every outcome on the emulator, RUNS random schedules (default 50,000) from SEED
	@TURNLEAF_PAIRS=all TURNLEAF_SWEEP=all go test -count=1 -timeout 6h -v ./tests/crash/sweep
	@go test -count=1 -timeout 6h -v ./tests/random -run 'TestRandom$$' -rapid.checks=$(or $(RUNS),50000) $(if $(SEED),-rapid.seed=$(SEED))

mutants: .venv/.turnleaf ## Remove every guard, one at a time, and print which test notices
	@go run ./tests/mutants/report

model: ## Explore the model of the protocol in its full scopes: some six minutes and 4 GB on two cores
	@TURNLEAF_MODEL=full go test -count=1 -v -timeout 60m ./tests/model -run 'Scopes|Code'
