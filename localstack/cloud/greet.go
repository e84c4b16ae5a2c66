package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/turnleaf/turnleaf/internal/demo"
	"github.com/turnleaf/turnleaf/localstack/deploy"
	"github.com/turnleaf/turnleaf/localstack/emulator"
)

// text is what a person needs to know. The API is addressed by path: names below localhost are not known everywhere.
const text = `
The stack %[1]s is deployed, with the stream %[2]s. It lives until Ctrl-C, and leaves nothing behind.

  endpoint  %[3]s
  API       %[4]s

In another terminal, in this folder:

  export AWS_ENDPOINT_URL=%[3]s AWS_REGION=%[5]s AWS_ACCESS_KEY_ID=%[6]s AWS_SECRET_ACCESS_KEY=%[7]s
  bin/turnleaf show %[2]s --stack %[1]s     # what blocks it, and since when
  bin/turnleaf held %[2]s --stack %[1]s     # what waits for you, and the command that decides
  bin/turnleaf poll %[2]s --stack %[1]s     # the schedule ticks once a minute; this does not wait
  bin/turnleaf docs %[2]s --stack %[1]s     # what was projected
  bin/turnleaf check %[2]s --stack %[1]s    # walk every page, receipt and archived answer

The API takes signed requests only, as on AWS:

  curl --aws-sigv4 'aws:amz:%[5]s:execute-api' --user %[6]s:%[7]s '%[4]s/v1/streams/%[2]s'

What the emulator and the functions say: %[8]s
`

func greet(out io.Writer, cloud *emulator.Process, outputs map[string]string) error {
	_, err := fmt.Fprintf(out, text, stackName, demo.Name, cloud.Endpoint, byPath(cloud.Endpoint, outputs["ApiUrl"]),
		deploy.Region, deploy.Key, deploy.Secret, cloud.Log)
	return err
}

// deployed tells of a stack on somebody else's emulator.
func deployed(out io.Writer, endpoint string, outputs map[string]string) error {
	_, err := fmt.Fprintf(out, "\nThe stack %s is deployed to %s.\n\n  API  %s\n", stackName, endpoint, byPath(endpoint, outputs["ApiUrl"]))
	return err
}

// byPath is an API's address without a host name of its own.
func byPath(endpoint, api string) string {
	u, err := url.Parse(api)
	if err != nil {
		return api
	}
	id, _, _ := strings.Cut(u.Hostname(), ".")
	return endpoint + "/_aws/execute-api/" + id + "/$default"
}
