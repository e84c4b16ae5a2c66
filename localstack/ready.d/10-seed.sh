#!/bin/sh
# Runs inside the emulator once it is ready, in MiniStack and in LocalStack: what a deployment finds in a real account and the template does
# not make. A second run changes nothing.
set -eu

# Where `sam deploy --parameter-overrides AlarmTopicArn=…` may send alarms.
awslocal sns create-topic --name turnleaf-alarms --output text

# The secret of a source, from .env: a definition names it as {ssm: NAME}. It goes by standard input, so that no list of processes shows it.
if [ -n "${SOURCE_PARAMETER:-}" ]; then
	: "${SOURCE_TOKEN:?SOURCE_PARAMETER is set and SOURCE_TOKEN is not}"
	printf %s "$SOURCE_TOKEN" |
		awslocal ssm put-parameter --name "$SOURCE_PARAMETER" --type SecureString --overwrite --value file:///dev/stdin --output text
fi
