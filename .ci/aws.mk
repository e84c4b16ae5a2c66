# The AWS targets, included by the Makefile.

.PHONY: test-aws race-aws

test-aws: .venv/.turnleaf $(COUNT) $(POUCHDB) ## Run the stores and the functions on emulated AWS, or AWS_ENDPOINT_URL, or with TURNLEAF_AWS_REAL=1 on AWS itself
	@TURNLEAF_POUCHDB='$(CURDIR)/$(POUCHDB)' go test -count=1 -timeout 10m -json ./tests/aws/... ./tests/lambda | $(COUNT) -v -name aws

race-aws: .venv/.turnleaf ## Race 50 promoters for 2,000 versions (about three minutes)
	@TURNLEAF_RACE_ROUNDS=2000 go test -count=1 -timeout 20m -v -run TestOneRacerPromotesEachVersion ./tests/aws

.venv/.turnleaf: .ci/venv.sh
	@.ci/venv.sh
	@touch $@
