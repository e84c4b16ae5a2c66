package template

import (
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

func TestArchiveIsClosed(t *testing.T) {
	t.Parallel()
	bucket := read(t, nil).OfType("AWS::S3::Bucket")["Archive"]
	block := cfn.Map{"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true}
	if !same(bucket["PublicAccessBlockConfiguration"], block) {
		t.Errorf("public access: %v", bucket["PublicAccessBlockConfiguration"])
	}
	if !same(under(bucket, "OwnershipControls", "Rules"), []cfn.Map{{"ObjectOwnership": "BucketOwnerEnforced"}}) {
		t.Errorf("owners: %v", bucket["OwnershipControls"])
	}
	if under(bucket, "VersioningConfiguration", "Status") != "Enabled" {
		t.Error("no versions")
	}
}

// Objects expire only where a parameter says so, and then by the rule that the code counts on: TURNLEAF_ARCHIVE_DAYS is the same number.
func TestArchiveExpires(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]any{0: nil, 7: 7} {
		template := read(t, cfn.Map{"ArchiveDays": days})
		var expiry any
		rules, _ := under(template.OfType("AWS::S3::Bucket")["Archive"], "LifecycleConfiguration", "Rules").([]any)
		for _, r := range rules {
			if d := under(r, "ExpirationInDays"); d != nil {
				expiry = d
			}
		}
		if expiry != want {
			t.Errorf("%d days: objects expire after %v", days, expiry)
		}
		if got := number(t, under(template.Resolve(template.Part("Globals", "Function")), "Environment", "Variables", "TURNLEAF_ARCHIVE_DAYS")); got != days {
			t.Errorf("%d days are %d to the code", days, got)
		}
	}
}

// Every store refuses what is not sent over TLS.
func TestTLSOnly(t *testing.T) {
	t.Parallel()
	template := read(t, everything())
	for kind, want := range map[string][]string{
		"AWS::S3::BucketPolicy": {"${Archive.Arn}", "${Archive.Arn}/*"},
		"AWS::SQS::QueuePolicy": {"${PollQueue.Arn}", "${PollDeadLetters.Arn}", "${ChunkQueue.Arn}", "${ChunkDeadLetters.Arn}"},
		"AWS::SNS::TopicPolicy": {"${AlarmTopic}"},
	} {
		found := false
		for _, p := range template.OfType(kind) {
			list, _ := under(p, "PolicyDocument", "Statement").([]any)
			for _, s := range list {
				resource := under(s, "Resource")
				if _, one := resource.(string); one {
					resource = []any{resource}
				}
				found = found || under(s, "Effect") == "Deny" && under(s, "Principal") == "*" && same(resource, want) &&
					same(under(s, "Condition"), cfn.Map{"Bool": cfn.Map{"aws:SecureTransport": "false"}})
			}
		}
		if !found {
			t.Errorf("%s lets plain text through", kind)
		}
	}
}

// Everything is encrypted: by AWS's own keys, and with KmsKeyArn by that one everywhere.
func TestEncryption(t *testing.T) {
	t.Parallel()
	plain, keyed, key := read(t, nil), read(t, everything()), everything()["KmsKeyArn"]
	bucket := func(template *cfn.Template) any {
		rules, _ := under(template.OfType("AWS::S3::Bucket")["Archive"], "BucketEncryption", "ServerSideEncryptionConfiguration").([]any)
		return under(rules[0], "ServerSideEncryptionByDefault")
	}
	if !same(bucket(plain), cfn.Map{"SSEAlgorithm": "AES256"}) || !same(bucket(keyed), cfn.Map{"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}) {
		t.Errorf("the archive: %v, %v", bucket(plain), bucket(keyed))
	}
	for id, q := range plain.OfType("AWS::SQS::Queue") {
		if q["SqsManagedSseEnabled"] != true || keyed.OfType("AWS::SQS::Queue")[id]["KmsMasterKeyId"] != key {
			t.Errorf("%s is not encrypted", id)
		}
	}
	for id := range plain.OfType("AWS::DynamoDB::Table") {
		if under(keyed.OfType("AWS::DynamoDB::Table")[id], "SSESpecification", "KMSMasterKeyId") != key {
			t.Errorf("%s does not use the key", id)
		}
	}
	for id, group := range keyed.OfType("AWS::Logs::LogGroup") {
		if group["KmsKeyId"] != key {
			t.Errorf("%s does not use the key", id)
		}
	}
	if keyed.OfType("AWS::SNS::Topic")["AlarmTopic"]["KmsMasterKeyId"] != key {
		t.Error("the topic does not use the key")
	}
}
