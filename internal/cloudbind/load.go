// Package cloudbind reads the stream definitions that are packaged with a function, and joins them to adapters with secrets from AWS.
// Only functions that fetch or apply need it: review links none of it.
package cloudbind

import (
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/turnleaf/turnleaf/internal/awssecrets"
	"github.com/turnleaf/turnleaf/internal/bind"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// Load parses every definition in the folder, and gives their names. A broken one fails the start of the function; a build checks them
// before (`turnleaf validate`).
func Load(c aws.Config, folder string) (*bind.Binder, []handoff.Stream, error) {
	defs, err := streamdef.Load(folder)
	if err != nil {
		return nil, nil, err
	}
	names := make([]handoff.Stream, len(defs))
	for i, d := range defs {
		names[i] = handoff.Stream(d.Name)
	}
	secrets := awssecrets.Secrets{
		Parameters: ssm.NewFromConfig(c), Vault: secretsmanager.NewFromConfig(c),
		Host: httpsource.HostSecrets{LookupEnv: os.LookupEnv, ReadFile: os.ReadFile},
	}
	return bind.New(defs, bind.Options{Secrets: secrets, Now: time.Now}), names, nil
}
