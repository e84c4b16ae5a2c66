package template

import (
	"regexp"
	"slices"
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// Whoever deploys reads these in a form: each says what it is for, has a default that deploys, and refuses what cannot work.
func TestEveryParameterIsExplainedAndBounded(t *testing.T) {
	t.Parallel()
	template := read(t, nil)
	for name := range template.Section("Parameters") {
		p := template.Part("Parameters", name)
		if text, _ := p["Description"].(string); len(text) < 10 {
			t.Errorf("%s has no description", name)
		}
		value, given := p["Default"]
		if !given {
			t.Errorf("%s has no default", name)
		}
		_, choice := p["AllowedValues"]
		pattern, matched := p["AllowedPattern"].(string)
		_, least := p["MinValue"]
		_, most := p["MaxValue"]
		if !choice && !matched && (!least || !most) {
			t.Errorf("%s takes anything", name)
		}
		if matched {
			if _, ok := p["ConstraintDescription"]; !ok {
				t.Errorf("%s refuses by a pattern and does not say in words what it wants", name)
			}
			if text, ok := value.(string); !ok || !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%s: the default %v does not match %s", name, value, pattern)
			}
		}
	}
}

// The form groups every parameter, once.
func TestEveryParameterIsInAGroup(t *testing.T) {
	t.Parallel()
	template := read(t, nil)
	var grouped []string
	groups, _ := under(template.Part("Metadata", "AWS::CloudFormation::Interface"), "ParameterGroups").([]any)
	for _, g := range groups {
		names, _ := under(g, "Parameters").([]any)
		for _, n := range names {
			grouped = append(grouped, n.(string))
		}
	}
	slices.Sort(grouped)
	if want := sorted(template.Section("Parameters")); !slices.Equal(grouped, want) {
		t.Errorf("grouped are %v,\nparameters are %v", grouped, want)
	}
}

func TestPatternsRefuse(t *testing.T) {
	t.Parallel()
	template := read(t, nil)
	for name, values := range map[string][]string{
		"PollReserved": {"1", "4", "-1", "05"}, "ArchivePrefix": {"", "archive", "/x/", "a//b/"}, "SourceParameterPath": {"turnleaf", "/turnleaf/", "/a*"},
		"SourceSecretArns": {"*", "arn:aws:secretsmanager:eu-west-1:111122223333:secret:*"}, "KmsKeyArn": {"alias/x", "*"},
		"JwtIssuer": {"http://id.example.com", "https://"}, "AlarmTopicArn": {"arn:aws:sns:eu-west-1:111122223333:a.fifo"},
	} {
		pattern := regexp.MustCompile(under(template.Part("Parameters", name), "AllowedPattern").(string))
		for _, v := range values {
			if pattern.MatchString(v) {
				t.Errorf("%s takes %q", name, v)
			}
		}
	}
}

// Nothing may bear a name that a second stack would want too.
func TestNoFixedNames(t *testing.T) {
	t.Parallel()
	names := []string{"TableName", "QueueName", "BucketName", "FunctionName", "RoleName", "LogGroupName", "TopicName", "AlarmName", "DashboardName", "ManagedPolicyName"}
	for _, values := range []cfn.Map{nil, everything()} {
		for id, r := range read(t, values).Resources() {
			props, _ := read(t, values).Resolve(r.Properties).(cfn.Map)
			if r.Type == "AWS::Scheduler::Schedule" && props["Name"] != nil {
				t.Errorf("%s has a name", id)
			}
			for _, n := range names {
				text, ok := props[n].(string)
				if ok && !regexp.MustCompile(`\$\{(AWS::StackName|[A-Za-z]+(\.Arn)?)\}`).MatchString(text) {
					t.Errorf("%s is called %s = %s in every stack", id, n, text)
				}
			}
		}
	}
}
