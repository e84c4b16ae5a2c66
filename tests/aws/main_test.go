package aws

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/turnleaf/turnleaf/tests/aws/stack"
)

// cloud is opened once, and closed after the last test.
var cloud *stack.Stack

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/aws:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if cloud, err = stack.Open(context.Background()); err != nil {
		return 1, err
	}
	defer func() {
		if closed := cloud.Close(); err == nil {
			err = closed
		}
	}()
	return m.Run(), nil
}
