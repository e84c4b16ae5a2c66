# The AWS targets, included by the Makefile.

.PHONY: functions test-aws test-localstack race-aws

FUNCTIONS := $(foreach arch,arm64 amd64,$(foreach name,poll apply review,$(BUILD)/functions/$(arch)/$(name)/bootstrap))

functions: ## Build the three functions for provided.al2023, arm64 and amd64, into .build/functions
	@for out in $(FUNCTIONS); do \
		arch=$$(basename $$(dirname $$(dirname $$out))); name=$$(basename $$(dirname $$out)); \
		CGO_ENABLED=0 GOOS=linux GOARCH=$$arch go build -buildvcs=false -tags lambda.norpc -trimpath -ldflags '-s -w' -o $$out ./functions/$$name; \
		printf '%-45s %5.1f MB\n' $$out $$(awk "BEGIN{print $$(stat -c %s $$out)/1e6}"); \
	done

test-aws: .venv/.turnleaf $(COUNT) $(POUCHDB) ## Run the stores and the functions on emulated AWS, or AWS_ENDPOINT_URL, or with TURNLEAF_AWS_REAL=1 on AWS itself
	@TURNLEAF_POUCHDB='$(CURDIR)/$(POUCHDB)' go test -count=1 -timeout 10m -json ./tests/aws/... ./tests/s3sqs ./tests/lambda | $(COUNT) -v -name aws

race-aws: .venv/.turnleaf ## Race 50 promoters for 2,000 versions (four to five minutes)
	@TURNLEAF_RACE_ROUNDS=2000 go test -count=1 -timeout 20m -v -run TestOneRacerPromotesEachVersion ./tests/aws

.venv/.turnleaf: .ci/venv.sh .ci/python.sh
	@.ci/venv.sh
	@touch $@

test-localstack: $(COUNT) ## Run the archive and the queues on LocalStack 4.14.0 (needs Python 3.13 or newer)
	@.ci/localstack.sh go test -count=1 -timeout 10m -json ./tests/s3sqs | $(COUNT) -v -name localstack
