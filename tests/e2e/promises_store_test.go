package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func (w *world) queuePromises() []promise {
	seconds := fmt.Sprint(6 * functionSeconds)
	attribute := func(queue string, names ...sqstypes.QueueAttributeName) func() (string, error) {
		return func() (string, error) {
			url := w.outputs[queue]
			out, err := w.sqs().GetQueueAttributes(w.ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
			if err != nil {
				return "", err
			}
			var got []string
			for _, n := range names {
				v := out.Attributes[string(n)]
				if n == sqstypes.QueueAttributeNameRedrivePolicy {
					v = redriveOf(v)
				}
				got = append(got, v)
			}
			return strings.Join(got, " "), nil
		}
	}
	var out []promise
	for name, keeps := range map[string]string{"Chunk": "345600", "Poll": "86400"} {
		out = append(out,
			promise{what: name + "Queue", want: seconds + " " + keeps + " " + name + "DeadLetters after 5 true", read: attribute(name+"QueueUrl",
				sqstypes.QueueAttributeNameVisibilityTimeout, sqstypes.QueueAttributeNameMessageRetentionPeriod,
				sqstypes.QueueAttributeNameRedrivePolicy, sqstypes.QueueAttributeNameSqsManagedSseEnabled)},
			promise{what: name + "DeadLetters", want: "1209600 true", read: attribute(name+"DeadLettersUrl",
				sqstypes.QueueAttributeNameMessageRetentionPeriod, sqstypes.QueueAttributeNameSqsManagedSseEnabled)})
	}
	return out
}

// redriveOf says which queue takes the dead letters, and after how many deliveries.
func redriveOf(policy string) string {
	var p struct {
		Arn   string `json:"deadLetterTargetArn"`
		After any    `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(policy), &p); err != nil {
		return policy
	}
	_, name, _ := strings.Cut(p.Arn, stackName+"-")
	name, _, _ = strings.Cut(name, "-")
	return fmt.Sprintf("%s after %v", name, p.After)
}

func (w *world) tablePromises() []promise {
	tables := dynamodb.NewFromConfig(w.cfg)
	var out []promise
	for _, name := range []string{"StreamsTable", "ReceiptsTable", "ProjectionsTable"} {
		table := w.outputs[name]
		out = append(out, promise{what: name, want: "PAY_PER_REQUEST [{pk} {sk}] false", read: func() (string, error) {
			d, err := w.describe(name)
			return fmt.Sprint(d.BillingModeSummary.BillingMode, " ", d.KeySchema, " ", d.DeletionProtectionEnabled), err
		}}, promise{what: name + " can be restored", want: "ENABLED", read: func() (string, error) {
			got, err := tables.DescribeContinuousBackups(w.ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &table})
			if err != nil || got.ContinuousBackupsDescription.PointInTimeRecoveryDescription == nil {
				return "", err
			}
			return string(got.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus), nil
		}, set: func() error {
			_, err := tables.UpdateContinuousBackups(w.ctx, &dynamodb.UpdateContinuousBackupsInput{
				TableName: &table, PointInTimeRecoverySpecification: &ddbtypes.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
			})
			return err
		}})
		if name == "ProjectionsTable" { // documents never expire
			continue
		}
		out = append(out, promise{what: name + " forgets", want: "ENABLED expires_at", read: func() (string, error) {
			got, err := tables.DescribeTimeToLive(w.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(got.TimeToLiveDescription.TimeToLiveStatus, " ", aws.ToString(got.TimeToLiveDescription.AttributeName)), nil
		}, set: func() error {
			_, err := tables.UpdateTimeToLive(w.ctx, &dynamodb.UpdateTimeToLiveInput{
				TableName: &table, TimeToLiveSpecification: &ddbtypes.TimeToLiveSpecification{AttributeName: aws.String("expires_at"), Enabled: aws.Bool(true)},
			})
			return err
		}})
	}
	return append(out, promise{what: "the index of holds", want: "[{holds [{held_stream} {held_at}] {ALL}}]", read: func() (string, error) {
		d, err := w.describe("ReceiptsTable")
		return fmt.Sprint(d.GlobalSecondaryIndexes), err
	}})
}

// description is a table as DynamoDB tells of it. MiniStack 1.5.33 gives a boolean that came from a parameter as text, which the SDK's client
// refuses to read.
type description struct {
	BillingModeSummary        struct{ BillingMode string }
	KeySchema                 []struct{ AttributeName string }
	DeletionProtectionEnabled any
	GlobalSecondaryIndexes    []struct {
		IndexName  string
		KeySchema  []struct{ AttributeName string }
		Projection struct{ ProjectionType string }
	}
}

func (w *world) describe(table string) (description, error) {
	var got struct{ Table description }
	err := w.ask("dynamodb", "DynamoDB_20120810.DescribeTable", map[string]any{"TableName": w.outputs[table]}, &got)
	return got.Table, err
}

func (w *world) bucketPromises() []promise {
	c, bucket := w.s3(), aws.String(w.outputs["Bucket"])
	lifecycle := []s3types.LifecycleRule{
		{ID: aws.String("old-versions"), Status: s3types.ExpirationStatusEnabled, Filter: &s3types.LifecycleRuleFilter{Prefix: aws.String("")},
			NoncurrentVersionExpiration: &s3types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(7)}},
		{ID: aws.String("archive"), Status: s3types.ExpirationStatusEnabled, Filter: &s3types.LifecycleRuleFilter{Prefix: aws.String(w.outputs["Prefix"])},
			Expiration: &s3types.LifecycleExpiration{Days: aws.Int32(30)}},
	}
	return []promise{
		{what: "the bucket's encryption", want: "AES256", read: func() (string, error) {
			got, err := c.GetBucketEncryption(w.ctx, &s3.GetBucketEncryptionInput{Bucket: bucket})
			if err != nil || len(got.ServerSideEncryptionConfiguration.Rules) != 1 {
				return "", err
			}
			return string(got.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.SSEAlgorithm), nil
		}},
		{what: "the bucket's versions", want: "Enabled", read: func() (string, error) {
			got, err := c.GetBucketVersioning(w.ctx, &s3.GetBucketVersioningInput{Bucket: bucket})
			if err != nil {
				return "", err
			}
			return string(got.Status), nil
		}},
		{what: "the bucket is closed to the public", want: "true true true true", read: func() (string, error) {
			got, err := c.GetPublicAccessBlock(w.ctx, &s3.GetPublicAccessBlockInput{Bucket: bucket})
			if err != nil {
				return "", err
			}
			b := got.PublicAccessBlockConfiguration
			return fmt.Sprint(*b.BlockPublicAcls, *b.BlockPublicPolicy, *b.IgnorePublicAcls, *b.RestrictPublicBuckets), nil
		}},
		{what: "the bucket's policy asks for TLS", want: "true", read: func() (string, error) {
			got, err := c.GetBucketPolicy(w.ctx, &s3.GetBucketPolicyInput{Bucket: bucket})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(strings.Contains(aws.ToString(got.Policy), "aws:SecureTransport")), nil
		}},
		{what: "the bucket forgets", want: "[archive old-versions]", read: func() (string, error) {
			got, err := c.GetBucketLifecycleConfiguration(w.ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: bucket})
			if err != nil {
				return "", err
			}
			var ids []string
			for _, r := range got.Rules {
				if id := aws.ToString(r.ID); id != "broken-uploads" {
					ids = append(ids, id)
				}
			}
			slices.Sort(ids)
			return fmt.Sprint(ids), nil
		}, set: func() error {
			_, err := c.PutBucketLifecycleConfiguration(w.ctx, &s3.PutBucketLifecycleConfigurationInput{
				Bucket: bucket, LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{Rules: lifecycle},
			})
			return err
		}},
	}
}
