// Package awssecrets finds a source's secrets on AWS: parameters of Systems Manager and secrets of Secrets Manager, beside variables and
// files. Nothing is cached here; the source keeps a secret for its lifetime and asks again after a 401.
package awssecrets

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	smtypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// Parameters is what this package uses of Systems Manager.
type Parameters interface {
	GetParameter(ctx context.Context, in *ssm.GetParameterInput, opts ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Vault is what this package uses of Secrets Manager.
type Vault interface {
	GetSecretValue(ctx context.Context, in *secretsmanager.GetSecretValueInput, opts ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Host reads variables and files.
type Host interface {
	Secret(ctx context.Context, ref streamdef.Secret) (string, error)
}

// Secrets tries what a reference names.
type Secrets struct {
	Parameters Parameters
	Vault      Vault
	Host       Host
}

// Secret gives the value. What does not exist is an error wrapping handoff.ErrConfig; any other error may pass by itself.
func (s Secrets) Secret(ctx context.Context, ref streamdef.Secret) (string, error) {
	switch {
	case ref.SSM != "":
		out, err := s.Parameters.GetParameter(ctx, &ssm.GetParameterInput{Name: &ref.SSM, WithDecryption: aws.Bool(true)})
		if err != nil {
			return "", translate("parameter "+ref.SSM, err)
		}
		return aws.ToString(out.Parameter.Value), nil
	case ref.SecretsManager != "":
		out, err := s.Vault.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &ref.SecretsManager})
		if err != nil {
			return "", translate("secret "+ref.SecretsManager, err)
		}
		return aws.ToString(out.SecretString), nil
	}
	return s.Host.Secret(ctx, ref)
}

func translate(what string, err error) error {
	var noParameter *ssmtypes.ParameterNotFound
	var noSecret *smtypes.ResourceNotFoundException
	if errors.As(err, &noParameter) || errors.As(err, &noSecret) {
		return fmt.Errorf("%s: %w: it does not exist", what, handoff.ErrConfig)
	}
	return fmt.Errorf("%s: %w", what, err)
}
