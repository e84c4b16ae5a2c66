package template

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
	"github.com/turnleaf/turnleaf/tests/template/roles"
)

// reachable is what .ci/reach says of a function.
type reachable struct{ Operations, Functions []string }

func (r reachable) calls(function string) bool {
	return slices.Contains(r.Functions, "internal/"+function)
}

func reach(t *testing.T) map[roles.Function]reachable {
	t.Helper()
	b, err := os.ReadFile(built(t, "reach.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[roles.Function]reachable
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// noise are methods that a program can reach and a Lambda function does not call.
var noise = map[string]string{
	"dynamodb.DescribeEndpoints": "endpoint discovery is off unless somebody sets AWS_ENABLE_ENDPOINT_DISCOVERY",
	"s3.CreateSession":           "only for directory buckets",
}

// credentials are services that the SDK asks for credentials; a function has them in its environment.
var credentials = []string{"signin", "sso", "ssooidc", "sts"}

// mixed are calls that the graph sees and values rule out. What the stories did (tests/aws, TestWalkthroughs) agrees, table by table.
var mixed = map[roles.Function]map[string]string{
	roles.Poll:   {"dynamodb.Scan": "ddbstate.ask scans only what has no key condition, and poll's reads all have one"},
	roles.Review: {"s3.PutObject": "allEvents is given two readers: poll's mends a page, review's only reads one"},
}

// operations are the methods that a function can call, those left out that are explained above.
func operations(t *testing.T, f roles.Function, r reachable) (ops []string) {
	t.Helper()
	unused := maps.Clone(mixed[f])
	for _, op := range r.Operations {
		service, _, _ := strings.Cut(op, ".")
		if _, ok := mixed[f][op]; ok {
			delete(unused, op)
			continue
		}
		if _, ok := noise[op]; !ok && !slices.Contains(credentials, service) {
			ops = append(ops, op)
		}
	}
	for op := range unused {
		t.Errorf("%s cannot reach %s any more: take its explanation away", f, op)
	}
	return ops
}

// From the code: a role has every action that a method needs which its function can call, and none besides.
func TestRolesAllowWhatTheCodeCalls(t *testing.T) {
	t.Parallel()
	all := reach(t)
	for _, f := range roles.Functions() {
		need, may := map[string]bool{}, map[string]bool{}
		for _, op := range operations(t, f, all[f]) {
			actions, known := roles.Operations[op]
			if op == roles.Transaction {
				known = true
				for _, a := range roles.TransactionActions {
					may[a] = true
				}
			}
			if !known {
				t.Errorf("%s can call %s, and nobody said what that needs", f, op)
			}
			for _, a := range actions {
				need[a], may[a] = true, true
			}
		}
		allowed := actionsOf(t, f, "dynamodb", "s3", "sqs", "ssm", "secretsmanager")
		for _, a := range receiving {
			delete(allowed, a)
		}
		for a := range need {
			if !allowed[a] {
				t.Errorf("%s may not %s, and can call it", f, a)
			}
		}
		for a := range allowed {
			if !may[a] {
				t.Errorf("%s may %s, and cannot call it", f, a)
			}
		}
	}
}

// receiving is what Lambda itself does with a function's role to read its queue.
var receiving = []string{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}

func actionsOf(t *testing.T, f roles.Function, services ...string) map[string]bool {
	t.Helper()
	grants, err := roles.Allowed(read(t, everything()), f, services...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for g := range grants {
		out[g.Action] = true
	}
	return out
}

// Which queue a function sends to is which of two methods it can call; which it reads is which mapping names it.
func TestQueueRights(t *testing.T) {
	t.Parallel()
	all, template := reach(t), read(t, nil)
	for _, f := range roles.Functions() {
		want := map[roles.Grant]bool{}
		if all[f].calls("sqsqueue.Queue.SendChunks") {
			want[roles.Grant{Action: "sqs:SendMessage", Resource: "${ChunkQueue.Arn}"}] = true
		}
		if all[f].calls("sqsqueue.Queue.SendPoll") {
			want[roles.Grant{Action: "sqs:SendMessage", Resource: "${PollQueue.Arn}"}] = true
		}
		for _, m := range template.OfType("AWS::Lambda::EventSourceMapping") {
			if ref(m["FunctionName"]) != f.LogicalID() {
				continue
			}
			for _, a := range receiving {
				want[roles.Grant{Action: a, Resource: m["EventSourceArn"].(string)}] = true
			}
		}
		got, err := roles.Allowed(template, f, "sqs")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range roles.Difference(got, want) {
			t.Errorf("%s %s", f, line)
		}
	}
}

// One function, one job. The code cannot, and the role would not let it.
func TestOneFunctionOneJob(t *testing.T) {
	t.Parallel()
	all := reach(t)
	for _, c := range []struct {
		f        roles.Function
		function string
		can      bool
	}{
		{roles.Poll, "httpsource.Source.Ask", true},
		{roles.Apply, "httpsource.Source.Ask", false}, {roles.Review, "httpsource.Source.Ask", false},
		{roles.Poll, "awssecrets.Secrets.Secret", true},
		{roles.Apply, "awssecrets.Secrets.Secret", false}, {roles.Review, "awssecrets.Secrets.Secret", false},
		{roles.Apply, "ddbstate.Store.docWrites", true}, {roles.Review, "ddbstate.Store.docWrites", false},
		{roles.Review, "ddbstate.Store.Settle", false},
	} {
		if all[c.f].calls(c.function) != c.can {
			t.Errorf("%s reaches %s: %v", c.f, c.function, !c.can)
		}
	}
	for f, refused := range map[roles.Function][]string{
		roles.Poll:   {"dynamodb:DeleteItem"},
		roles.Apply:  {"ssm:GetParameter", "secretsmanager:GetSecretValue", "dynamodb:BatchWriteItem"},
		roles.Review: {"ssm:GetParameter", "secretsmanager:GetSecretValue", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "s3:PutObject"},
	} {
		allowed := actionsOf(t, f, "dynamodb", "s3", "ssm", "secretsmanager")
		for _, a := range refused {
			if allowed[a] {
				t.Errorf("%s may %s", f, a)
			}
		}
	}
	for _, f := range []roles.Function{roles.Poll, roles.Review} {
		grants, _ := roles.Allowed(read(t, everything()), f, "dynamodb")
		for g := range grants {
			if strings.Contains(g.Resource, "ProjectionsTable") && (f == roles.Poll || !slices.Contains([]string{"dynamodb:GetItem", "dynamodb:Scan"}, g.Action)) {
				t.Errorf("%s may %s", f, g)
			}
		}
	}
}

// Besides what the code calls, a role has what the platform does in its name; each under the parameter that asks for it.
func TestPlatformRights(t *testing.T) {
	t.Parallel()
	log := map[roles.Function]string{roles.Poll: "${PollLog.Arn}", roles.Apply: "${ApplyLog.Arn}", roles.Review: "${ReviewLog.Arn}"}
	services := []string{"logs", "kms", "xray", "ec2", "ssm", "secretsmanager"}
	for _, f := range roles.Functions() {
		want := map[roles.Grant]bool{{Action: "logs:CreateLogStream", Resource: log[f]}: true, {Action: "logs:PutLogEvents", Resource: log[f]}: true}
		got, err := roles.Allowed(read(t, nil), f, services...)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s by default: %v %v", f, got, err)
		}
		for _, a := range []string{"kms:Decrypt", "kms:GenerateDataKey"} {
			want[roles.Grant{Action: a, Resource: everything()["KmsKeyArn"].(string)}] = true
		}
		for _, a := range []string{
			"xray:PutTelemetryRecords", "xray:PutTraceSegments", "ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface",
			"ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
		} {
			want[roles.Grant{Action: a, Resource: "*"}] = true // these know no resource
		}
		if f == roles.Poll {
			want[roles.Grant{Action: "kms:Decrypt", Resource: everything()["SecretKeyArns"].(string)}] = true
			want[roles.Grant{Action: "secretsmanager:GetSecretValue", Resource: everything()["SourceSecretArns"].(string)}] = true
			want[roles.Grant{Action: "ssm:GetParameter", Resource: "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/turnleaf/*"}] = true
		}
		if got, err = roles.Allowed(read(t, everything()), f, services...); err != nil {
			t.Fatal(err)
		}
		for _, line := range roles.Difference(got, want) {
			t.Errorf("%s %s", f, line)
		}
	}
}

// The statements' small print: a put names If-None-Match or copies inside the archive; a key is used through a service.
func TestConditions(t *testing.T) {
	t.Parallel()
	once := cfn.Map{"Null": cfn.Map{"s3:if-none-match": "false"}}
	inside := cfn.Map{"StringLike": cfn.Map{"s3:x-amz-copy-source": "${Archive}/archive/*"}}
	for _, f := range roles.Functions() {
		all, err := roles.Statements(read(t, everything()), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if slices.Contains(s.Actions, "s3:PutObject") && !same(s.Condition, once) && (f != roles.Poll || !same(s.Condition, inside)) {
				t.Errorf("%s may overwrite: %v", f, s)
			}
			if strings.HasPrefix(s.Actions[0], "kms:") && under(s.Condition, "StringEquals", "kms:ViaService") == nil {
				t.Errorf("%s may use a key by itself: %v", f, s)
			}
			for _, a := range s.Actions {
				if s.Effect == "Allow" && strings.Contains(a, "*") {
					t.Errorf("%s may do anything: %v", f, s)
				}
			}
		}
	}
}

// The schedule may call poll, and nothing else.
func TestTickRole(t *testing.T) {
	t.Parallel()
	role := read(t, nil).OfType("AWS::IAM::Role")["TickRole"]
	want := []any{cfn.Map{"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "${PollFunction.Arn}"}}
	policies, _ := role["Policies"].([]any)
	if len(policies) != 1 || !same(under(policies[0], "PolicyDocument", "Statement"), want) {
		t.Errorf("%v", policies)
	}
}
