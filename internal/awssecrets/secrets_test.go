package awssecrets_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	smtypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/turnleaf/turnleaf/internal/awssecrets"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// account plays the two services and the host.
type account struct{ err error }

func (a account) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	if a.err != nil {
		return nil, a.err
	}
	if !aws.ToBool(in.WithDecryption) {
		return nil, errors.New("without decryption a SecureString comes as ciphertext")
	}
	return &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{Value: aws.String("parameter of " + aws.ToString(in.Name))}}, nil
}

func (a account) GetSecretValue(
	_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options),
) (*secretsmanager.GetSecretValueOutput, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String("secret of " + aws.ToString(in.SecretId))}, nil
}

func (a account) Secret(_ context.Context, ref streamdef.Secret) (string, error) {
	return "host's " + ref.Env + ref.File, a.err
}

func TestEachReferenceHasItsService(t *testing.T) {
	t.Parallel()
	s := awssecrets.Secrets{Parameters: account{}, Vault: account{}, Host: account{}}
	for want, ref := range map[string]streamdef.Secret{
		"parameter of /orders/token": {SSM: "/orders/token"}, "secret of orders": {SecretsManager: "orders"},
		"host's TOKEN": {Env: "TOKEN"}, "host's /run/token": {File: "/run/token"},
	} {
		if got, err := s.Secret(t.Context(), ref); err != nil || got != want {
			t.Errorf("%+v is %q, %v; want %q", ref, got, err, want)
		}
	}
}

// What is not there cannot work until somebody mends it; anything else may pass by itself, and must not stop a stream for good. The error
// names the reference.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		config bool
	}{
		{&ssmtypes.ParameterNotFound{}, true}, {&smtypes.ResourceNotFoundException{}, true},
		{&smithy.GenericAPIError{Code: "ThrottlingException"}, false}, {&smtypes.InternalServiceError{}, false}, {context.DeadlineExceeded, false},
	} {
		a := account{&smithy.OperationError{ServiceID: "x", OperationName: "y", Err: c.err}}
		s := awssecrets.Secrets{Parameters: a, Vault: a, Host: a}
		for _, ref := range []streamdef.Secret{{SSM: "the-name"}, {SecretsManager: "the-name"}} {
			got, err := s.Secret(t.Context(), ref)
			if got != "" || errors.Is(err, handoff.ErrConfig) != c.config || err == nil || !strings.Contains(err.Error(), "the-name") {
				t.Errorf("%T: %q, %v", c.err, got, err)
			}
		}
	}
}
