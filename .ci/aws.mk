# The AWS targets, included by the Makefile.

.PHONY: test-aws test-localstack race-aws

test-aws: .venv/.turnleaf $(COUNT) $(POUCHDB) ## Run the stores and the functions on emulated AWS, or AWS_ENDPOINT_URL, or with TURNLEAF_AWS_REAL=1 on AWS itself
	@TURNLEAF_POUCHDB='$(CURDIR)/$(POUCHDB)' go test -count=1 -timeout 10m -json ./tests/aws/... ./tests/s3sqs ./tests/lambda | $(COUNT) -v -name aws

race-aws: .venv/.turnleaf ## Race 50 promoters for 2,000 versions (four to five minutes)
	@TURNLEAF_RACE_ROUNDS=2000 go test -count=1 -timeout 20m -v -run TestOneRacerPromotesEachVersion ./tests/aws

.venv/.turnleaf: .ci/venv.sh
	@.ci/venv.sh
	@touch $@

test-localstack: $(COUNT) ## Run the archive and the queues on LocalStack 4.14.0 (needs Python 3.13 or newer)
	@.ci/localstack.sh go test -count=1 -timeout 10m -json ./tests/s3sqs | $(COUNT) -v -name localstack
