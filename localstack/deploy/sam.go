package deploy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/localstack/emulator"
)

// SAM runs the AWS SAM command line on one copy of the repository, against one emulated cloud.
type SAM struct {
	// Tree is the folder that CopyTree filled.
	Tree string
	// Home is a folder for what sam keeps; it must not be inside Tree.
	Home string
	// Endpoint is the emulated cloud's.
	Endpoint string
	// Log gets what sam prints.
	Log io.Writer
}

// Region, Key and Secret are what the emulated cloud is spoken to with. It believes anything; nobody else should.
const (
	Region = "us-east-1"
	Key    = "test"
	Secret = "test"
)

// HostArchitecture is this machine's, as the template's parameter says it: functions run as plain processes here.
func HostArchitecture() string {
	if runtime.GOARCH == "arm64" {
		return "arm64"
	}
	return "x86_64"
}

// program finds the sam that .ci/sam-venv.sh installed.
func program() (string, error) {
	root, err := emulator.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".venv-sam", "bin", "sam")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the SAM command line is not installed (%s is missing): run .ci/sam-venv.sh", path)
	}
	return path, nil
}

// Build builds the three functions for this machine's processor. It needs no cloud.
func (s SAM) Build(ctx context.Context) error { return s.run(ctx, "build") }

// Deploy creates or updates a stack and waits for it. overrides are the template's parameters, as Name=value. Mend what the emulator makes
// of it afterwards.
func (s SAM) Deploy(ctx context.Context, stack string, overrides ...string) error {
	args := []string{
		"deploy", "--stack-name", stack, "--region", Region, "--resolve-s3", "--no-confirm-changeset", "--no-fail-on-empty-changeset",
		"--capabilities", "CAPABILITY_IAM",
	}
	if len(overrides) > 0 {
		args = append(append(args, "--parameter-overrides"), overrides...)
	}
	return s.run(ctx, args...)
}

// stopWait is how long sam may take to end in order once it is not wanted any more.
const stopWait = 5 * time.Second

func (s SAM) run(ctx context.Context, args ...string) error {
	sam, err := program()
	if err != nil {
		return err
	}
	env, err := s.env(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, sam, args...)
	cmd.Dir, cmd.Env = s.Tree, env
	cmd.SysProcAttr = ownGroup() // the compilers that a build starts end with it
	cmd.Cancel, cmd.WaitDelay = func() error { return stopGroup(cmd.Process) }, stopWait
	var tail bytes.Buffer
	cmd.Stdout, cmd.Stderr = s.Log, io.MultiWriter(s.Log, &tail)
	if err := cmd.Run(); err != nil {
		said := bytes.TrimSpace(tail.Bytes())
		return fmt.Errorf("sam %s: %w: %s", args[0], err, said[max(0, len(said)-2000):])
	}
	return nil
}

// env is this process's, without anybody's AWS account in it. The home is another one, so that neither profiles nor sam's own settings
// count; Go's caches stay where they are, or a build would begin with nothing.
func (s SAM) env(ctx context.Context) ([]string, error) {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "SAM_") })
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value, err := exec.CommandContext(ctx, "go", "env", name).Output()
		if err != nil {
			return nil, fmt.Errorf("ask go for %s: %w", name, err)
		}
		env = append(env, name+"="+string(bytes.TrimSpace(value)))
	}
	return append(env, "TURNLEAF_ARCHITECTURE="+HostArchitecture(), "HOME="+s.Home, "SAM_CLI_TELEMETRY=0", "AWS_ENDPOINT_URL="+s.Endpoint, "AWS_REGION="+Region,
		"AWS_DEFAULT_REGION="+Region, "AWS_ACCESS_KEY_ID="+Key, "AWS_SECRET_ACCESS_KEY="+Secret, "AWS_EC2_METADATA_DISABLED=true"), nil
}
