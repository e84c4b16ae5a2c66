package template

import (
	"slices"
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// SAM adds nothing: what is deployed are the resources that stand in the template, with no role and no policy besides.
func TestTranslationAddsNothing(t *testing.T) {
	t.Parallel()
	source, translated := read(t, everything()), readFile(t, built(t, "translated.json")).With(everything())
	if got, want := sorted(translated.Resources()), sorted(source.Resources()); !slices.Equal(got, want) {
		t.Errorf("translated:\n%v\nwritten:\n%v", got, want)
	}
	for id, r := range translated.Resources() {
		props, _ := translated.Resolve(r.Properties).(cfn.Map)
		if under(props, "ManagedPolicyArns") != nil {
			t.Errorf("%s has managed policies: %v", id, under(props, "ManagedPolicyArns"))
		}
		if r.Type == "AWS::IAM::Role" && !same(props, source.OfType("AWS::IAM::Role")[id]) {
			t.Errorf("%s was changed: %v", id, props)
		}
		if r.Type == "AWS::IAM::ManagedPolicy" {
			t.Errorf("%s is a managed policy", id)
		}
	}
}

// What SAM hands on to Lambda is what the template says.
func TestTranslatedFunctions(t *testing.T) {
	t.Parallel()
	template := readFile(t, built(t, "translated.json")).With(everything())
	all := template.OfType("AWS::Lambda::Function")
	if len(all) != 3 {
		t.Errorf("%d functions", len(all))
	}
	for id, f := range all {
		if loops := f["RecursiveLoop"] == "Allow"; loops != (id != "ReviewFunction") {
			t.Errorf("%s: RecursiveLoop is %v", id, f["RecursiveLoop"])
		}
		if !same(f["TracingConfig"], cfn.Map{"Mode": "Active"}) || f["KmsKeyArn"] != everything()["KmsKeyArn"] || ref(under(f, "LoggingConfig", "LogGroup")) == "" {
			t.Errorf("%s: %v", id, f)
		}
	}
}
