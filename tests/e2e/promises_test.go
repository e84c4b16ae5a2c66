package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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

// promise is a setting that the template makes, as the service tells it.
type promise struct {
	what string
	want string
	read func() (string, error)
	// set does by hand what MiniStack 1.5.33 dropped from the template without a word; nil where it keeps what it was told.
	set func() error
}

// promises reads back every setting that the protocol or the operators depend on.
func (w *world) promises() {
	var all []promise
	for _, some := range [][]promise{w.functionPromises(), w.queuePromises(), w.tablePromises(), w.bucketPromises(), w.apiPromises(), w.rolePromises()} {
		all = append(all, some...)
	}
	byHand := 0
	for _, p := range all {
		got, err := p.read()
		if p.set != nil && (err != nil || got != p.want) {
			w.must(p.set())
			byHand++
			got, err = p.read()
		}
		if err != nil {
			w.Errorf("%s: %v", p.what, err)
		} else if got != p.want {
			w.Errorf("%s is %s, want %s", p.what, got, p.want)
		}
	}
	w.say("%d settings read back, %d of them set by hand", len(all), byHand)
}

func (w *world) functionPromises() []promise {
	var out []promise
	for _, name := range []string{"PollFunction", "ApplyFunction", "ReviewFunction"} {
		out = append(out, promise{what: name, want: fmt.Sprintf("provided.al2023 %ds true", functionSeconds), read: func() (string, error) {
			var c struct {
				Runtime       string
				Timeout       any
				LoggingConfig struct{ LogGroup string }
			}
			err := w.get("lambda", "/2015-03-31/functions/"+w.outputs[name]+"/configuration", &c)
			return fmt.Sprintf("%s %vs %v", c.Runtime, c.Timeout, strings.Contains(c.LoggingConfig.LogGroup, stackName)), err
		}}, promise{what: name + "'s log", want: "1 day", read: func() (string, error) {
			var got struct {
				LogGroups []struct{ RetentionInDays int }
			}
			group, err := w.logGroup(w.outputs[name])
			if err == nil {
				err = w.ask("logs", "Logs_20140328.DescribeLogGroups", map[string]any{"logGroupNamePrefix": group}, &got)
			}
			if err != nil || len(got.LogGroups) != 1 {
				return fmt.Sprint(got), err
			}
			return fmt.Sprintf("%d day", got.LogGroups[0].RetentionInDays), nil
		}})
	}
	for _, name := range []string{"PollFunction", "ApplyFunction"} {
		out = append(out, promise{what: name + " may loop", want: "Allow", read: func() (string, error) {
			var c struct{ RecursiveLoop string }
			err := w.get("lambda", "/2024-08-31/functions/"+w.outputs[name]+"/recursion-config", &c)
			return c.RecursiveLoop, err
		}, set: func() error {
			return w.send("lambda", http.MethodPut, "/2024-08-31/functions/"+w.outputs[name]+"/recursion-config", nil, []byte(`{"RecursiveLoop":"Allow"}`), nil)
		}})
	}
	return append(out, w.schedulePromises()...)
}

// schedulePromises: the next tick is the retry, in both layers.
func (w *world) schedulePromises() []promise {
	type retries struct{ MaximumRetryAttempts, MaximumEventAgeInSeconds int }
	path := "/2019-09-25/functions/" + w.outputs["PollFunction"] + "/event-invoke-config"
	return []promise{
		{what: "the schedule", want: `rate(1 minute) ENABLED {0 60} "{}"`, read: func() (string, error) {
			var list struct {
				Schedules []struct{ Name, GroupName string }
			}
			if err := w.get("scheduler", "/schedules", &list); err != nil || len(list.Schedules) != 1 {
				return fmt.Sprintf("%+v", list), err
			}
			var s struct {
				ScheduleExpression, State string
				Target                    struct {
					Input       string
					RetryPolicy retries
				}
			}
			err := w.get("scheduler", "/schedules/"+list.Schedules[0].Name+"?groupName="+list.Schedules[0].GroupName, &s)
			return fmt.Sprintf("%s %s %v %q", s.ScheduleExpression, s.State, s.Target.RetryPolicy, s.Target.Input), err
		}},
		{what: "poll's retries", want: "{0 60}", read: func() (string, error) {
			var got retries
			err := w.get("lambda", path, &got)
			return fmt.Sprint(got), err
		}, set: func() error {
			return w.send("lambda", http.MethodPut, path, nil, []byte(`{"MaximumRetryAttempts":0,"MaximumEventAgeInSeconds":60}`), nil)
		}},
		{what: "the mappings", want: "[ChunkQueue 1 5 [ReportBatchItemFailures] PollQueue 1 5 [ReportBatchItemFailures]]", read: func() (string, error) {
			var list struct {
				EventSourceMappings []struct {
					EventSourceArn        string
					BatchSize             int
					ScalingConfig         struct{ MaximumConcurrency int }
					FunctionResponseTypes []string
				}
			}
			err := w.get("lambda", "/2015-03-31/event-source-mappings/", &list)
			var got []string
			for _, m := range list.EventSourceMappings {
				_, name, _ := strings.Cut(m.EventSourceArn, stackName+"-")
				name, _, _ = strings.Cut(name, "-")
				got = append(got, fmt.Sprint(name, " ", m.BatchSize, " ", m.ScalingConfig.MaximumConcurrency, " ", m.FunctionResponseTypes))
			}
			slices.Sort(got)
			return fmt.Sprint(got), err
		}},
	}
}

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

func (w *world) apiPromises() []promise {
	return []promise{
		{what: "the API's routes", want: "[GET /v1/{proxy+} AWS_IAM POST /v1/{proxy+} AWS_IAM]", read: func() (string, error) {
			var got struct {
				Items []struct {
					RouteKey          string `json:"routeKey"`
					AuthorizationType string `json:"authorizationType"`
				} `json:"items"`
			}
			err := w.get("apigateway", "/v2/apis/"+w.apiID()+"/routes", &got)
			var routes []string
			for _, r := range got.Items {
				routes = append(routes, r.RouteKey+" "+r.AuthorizationType)
			}
			slices.Sort(routes)
			return fmt.Sprint(routes), err
		}},
		{what: "alarms that lead to the runbook", want: "all", read: func() (string, error) {
			var got struct {
				MetricAlarms []struct{ AlarmName, AlarmDescription string }
			}
			err := w.ask("monitoring", "GraniteServiceVersion20100801.DescribeAlarms", map[string]any{"MaxRecords": 100}, &got)
			if err != nil || len(got.MetricAlarms) < 10 {
				return fmt.Sprintf("%d alarms", len(got.MetricAlarms)), err
			}
			for _, a := range got.MetricAlarms {
				if !strings.Contains(a.AlarmDescription, "#alarm") {
					return a.AlarmName + " says only: " + a.AlarmDescription, nil
				}
			}
			return "all", nil
		}},
	}
}

// rolePromises: three functions, three roles, and nothing on them but what the template writes.
func (w *world) rolePromises() []promise {
	roles := map[string]bool{}
	var out []promise
	for _, name := range []string{"PollFunction", "ApplyFunction", "ReviewFunction"} {
		out = append(out, promise{what: name + "'s role", want: "its own, nothing attached", read: func() (string, error) {
			var c struct{ Role string }
			if err := w.get("lambda", "/2015-03-31/functions/"+w.outputs[name]+"/configuration", &c); err != nil {
				return "", err
			}
			if roles[c.Role] {
				return "another's", nil
			}
			roles[c.Role] = true
			var got struct {
				Arns []string `xml:"ListAttachedRolePoliciesResult>AttachedPolicies>member>PolicyArn"`
			}
			role := c.Role[strings.LastIndexByte(c.Role, '/')+1:]
			err := w.form("iam", url.Values{"Action": {"ListAttachedRolePolicies"}, "Version": {iamVersion}, "RoleName": {role}}, &got)
			if len(got.Arns) > 0 {
				return fmt.Sprint(got.Arns), err
			}
			return "its own, nothing attached", err
		}})
	}
	return out
}
