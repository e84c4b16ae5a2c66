package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

const root = "../.."

// read gives the template, under parameters that are not the default.
func read(t *testing.T, values cfn.Map) *cfn.Template {
	t.Helper()
	return readFile(t, filepath.Join(root, "template.yaml")).With(values)
}

func readFile(t *testing.T, path string) *cfn.Template {
	t.Helper()
	template, err := cfn.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// built is a file that `make lint-template` makes.
func built(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(root, ".build", "template", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make lint-template", err)
	}
	return path
}

// everything switches every option on: a key, a network, tracing, tokens, secrets, reserved concurrency, expiry, a topic of its own.
func everything() cfn.Map {
	return cfn.Map{
		"KmsKeyArn": "arn:aws:kms:eu-west-1:111122223333:key/a", "SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1", "Tracing": "Active",
		"JwtIssuer": "https://id.example.com", "JwtAudience": "turnleaf", "JwtReadScopes": "read", "JwtDecideScopes": "decide",
		"SourceParameterPath": "/turnleaf", "SourceSecretArns": "arn:aws:secretsmanager:eu-west-1:111122223333:secret:s-1",
		"SecretKeyArns": "arn:aws:kms:eu-west-1:111122223333:key/b", "PollReserved": "5", "ApplyReserved": "5", "ReviewReserved": "1",
		"ArchiveDays": 90, "ArchiveLogBucket": "logs", "AlarmEmail": "ops@example.com",
		"PermissionsBoundaryArn": "arn:aws:iam::111122223333:policy/boundary",
	}
}

// number reads a whole number that a template may give as text.
func number(t *testing.T, v any) int {
	t.Helper()
	switch v := v.(type) {
	case int:
		return v
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n
		}
	}
	t.Fatalf("%v (%T) is no whole number", v, v)
	return 0
}

// under walks down maps; nil if it ends before the path does.
func under(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(cfn.Map)
		v = m[name]
	}
	return v
}

// same compares by value, as JSON.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// textOf is a value as an environment has it.
func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
