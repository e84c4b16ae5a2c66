// Package localstack checks what only runs in containers as far as it can be checked without: compose.yaml, .env.example, ready.d.
package localstack

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type composition struct {
	Services map[string]struct {
		Image       string
		Ports       []string
		Environment map[string]string
		Healthcheck struct{ Test any }
		Volumes     []string
	}
}

func composed(t *testing.T) (composition, string) {
	t.Helper()
	raw, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c composition
	if err := yaml.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c, string(raw)
}

// Every image is pinned, every port is on this machine only, every service says whether it is well, and every file that is mounted exists.
func TestServices(t *testing.T) {
	t.Parallel()
	c, _ := composed(t)
	if len(c.Services) != 2 {
		t.Fatalf("%d services", len(c.Services))
	}
	pinned := regexp.MustCompile(`:(\d+\.\d+\.\d+|\$\{[A-Z_]+:-\d+\.\d+\.\d+\})$`)
	for name, s := range c.Services {
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s runs %s, which is no version", name, s.Image)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s listens on %s", name, p)
			}
		}
		if s.Healthcheck.Test == nil {
			t.Errorf("%s does not say whether it is well", name)
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if strings.HasPrefix(from, ".") {
				if _, err := os.Stat(from); err != nil {
					t.Errorf("%s mounts %s: %v", name, from, err)
				}
			}
		}
	}
	if s := c.Services["ministack"]; s.Environment["AWS_ENDPOINT_URL"] == "" {
		t.Error("functions of MiniStack would call AWS itself")
	}
}

// .env.example has every variable of compose.yaml, and no other.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	_, text := composed(t)
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{([A-Z_]+)`).FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
	}
	example, err := os.ReadFile(".env.example")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_]+)=`).FindAllStringSubmatch(string(example), -1) {
		if !used[m[1]] {
			t.Errorf("%s is in .env.example, and nothing uses it", m[1])
		}
		delete(used, m[1])
	}
	for name := range used {
		t.Errorf("%s is missing in .env.example", name)
	}
}

// hook runs the ready hook with an awslocal that writes down what it is asked.
func hook(t *testing.T, env ...string) (asked string, err error) {
	t.Helper()
	folder := t.TempDir()
	stub := "#!/bin/sh\n{ echo \"$@\"; [ \"$1\" = ssm ] && { printf 'given: '; cat; echo; }; } >>" + filepath.Join(folder, "asked") + "\ntrue\n"
	if err := os.WriteFile(filepath.Join(folder, "awslocal"), []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	sh := exec.CommandContext(t.Context(), "sh", "ready.d/10-seed.sh")
	sh.Env = append(env, "PATH="+folder+":"+os.Getenv("PATH"))
	_, err = sh.Output()
	raw, readErr := os.ReadFile(filepath.Join(folder, "asked"))
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(raw), err
}

// The hook makes a topic, and a secret where .env names one; the secret is in no command line, and half a setting is an error.
func TestReadyHook(t *testing.T) {
	t.Parallel()
	asked, err := hook(t)
	if err != nil || strings.Contains(asked, "ssm") || !strings.Contains(asked, "sns create-topic --name turnleaf-alarms") {
		t.Errorf("asked %q, %v", asked, err)
	}
	asked, err = hook(t, "SOURCE_PARAMETER=/turnleaf/source/token", "SOURCE_TOKEN=s3cret word")
	lines := strings.Split(asked, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "ssm put-parameter --name /turnleaf/source/token") })
	if err != nil || at < 0 || strings.Contains(lines[at], "s3cret") || lines[at+1] != "given: s3cret word" {
		t.Errorf("asked %q, %v", asked, err)
	}
	if asked, err = hook(t, "SOURCE_PARAMETER=/turnleaf/source/token"); err == nil || strings.Contains(asked, "ssm") {
		t.Errorf("a parameter without a secret: asked %q, %v", asked, err)
	}
}
