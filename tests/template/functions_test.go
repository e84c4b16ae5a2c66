package template

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// functions are the three with what Globals give them.
func functions(template *cfn.Template) map[string]cfn.Map {
	all := template.OfType("AWS::Serverless::Function")
	global, _ := template.Resolve(template.Part("Globals", "Function")).(cfn.Map)
	for _, f := range all {
		for name, v := range global {
			if _, own := f[name]; !own {
				f[name] = v
			}
		}
	}
	return all
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	template := read(t, everything())
	all := functions(template)
	if got := strings.Join(sorted(all), " "); got != "ApplyFunction PollFunction ReviewFunction" {
		t.Errorf("functions: %s", got)
	}
	for id, f := range all {
		if f["Runtime"] != "provided.al2023" || !same(f["Architectures"], []string{"arm64"}) || f["KmsKeyArn"] != everything()["KmsKeyArn"] || f["Tracing"] != "Active" {
			t.Errorf("%s: %v", id, f)
		}
		if !same(under(f, "VpcConfig"), cfn.Map{"SubnetIds": []string{"subnet-1", "subnet-2"}, "SecurityGroupIds": []string{"sg-1"}}) {
			t.Errorf("%s is in %v", id, f["VpcConfig"])
		}
		if method := under(template.Resources()[id].Raw, "Metadata", "BuildMethod"); method != "makefile" {
			t.Errorf("%s is built by %v", id, method)
		}
	}
}

// The loop of poll and apply is meant, and Lambda must not cut it. Review is in no loop: there a loop would be a mistake.
func TestRecursion(t *testing.T) {
	t.Parallel()
	for id, f := range functions(read(t, nil)) {
		if loops := f["RecursiveLoop"] == "Allow"; loops != (id != "ReviewFunction") {
			t.Errorf("%s: RecursiveLoop is %v", id, f["RecursiveLoop"])
		}
	}
}

// An account with a quota of ten cannot reserve one: none is reserved unless asked for.
func TestReservedConcurrency(t *testing.T) {
	t.Parallel()
	for id, f := range functions(read(t, nil)) {
		if n, ok := f["ReservedConcurrentExecutions"]; ok {
			t.Errorf("%s reserves %v", id, n)
		}
	}
	for id, f := range functions(read(t, everything())) {
		want := map[string]any{"PollFunction": "5", "ApplyFunction": "5", "ReviewFunction": "1"}
		if f["ReservedConcurrentExecutions"] != want[id] {
			t.Errorf("%s reserves %v, want %v", id, f["ReservedConcurrentExecutions"], want[id])
		}
	}
}

// Each function logs to a group of its own, which forgets after the days that were chosen.
func TestLogs(t *testing.T) {
	t.Parallel()
	template := read(t, cfn.Map{"LogDays": 7})
	groups, used := template.OfType("AWS::Logs::LogGroup"), map[string]bool{}
	for id, f := range functions(template) {
		group := ref(under(f, "LoggingConfig", "LogGroup"))
		if _, ok := groups[group]; !ok || used[group] {
			t.Errorf("%s logs to %q", id, group)
		}
		used[group] = true
	}
	for id, g := range groups {
		if number(t, g["RetentionInDays"]) != 7 {
			t.Errorf("%s keeps %v days", id, g["RetentionInDays"])
		}
	}
}

// What is deployed is small because it leaves things out: SQLite and the other parts of one machine, and CEL where nothing is judged.
func TestFunctionsLeaveOut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"poll", "apply", "review"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "lambda.norpc", "./functions/"+name)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), "/internal/handoff\n") {
			t.Errorf("%s does not even link the protocol: %s", name, out)
		}
		for _, left := range []string{"modernc.org/sqlite", "/internal/sqlitestate", "/internal/local", "/internal/dirarchive", "net/rpc\n"} {
			if strings.Contains(string(out), left) {
				t.Errorf("%s links %s", name, left)
			}
		}
		if strings.Contains(string(out), "cel-go") != (name != "review") {
			t.Errorf("%s and CEL", name)
		}
	}
}
