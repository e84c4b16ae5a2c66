package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

func (w *world) apiPromises() []promise {
	return []promise{
		{what: "the API's routes", want: "[GET /v1/{proxy+} AWS_IAM POST /v1/{proxy+} AWS_IAM]", read: func() (string, error) {
			var got struct {
				Items []struct {
					RouteKey          string `json:"routeKey"`
					AuthorizationType string `json:"authorizationType"`
				} `json:"items"`
			}
			err := w.get("apigateway", "/v2/apis/"+w.apiID()+"/routes", &got)
			var routes []string
			for _, r := range got.Items {
				routes = append(routes, r.RouteKey+" "+r.AuthorizationType)
			}
			slices.Sort(routes)
			return fmt.Sprint(routes), err
		}},
		{what: "alarms that lead to the runbook", want: "all", read: func() (string, error) {
			var got struct {
				MetricAlarms []struct{ AlarmName, AlarmDescription string }
			}
			err := w.ask("monitoring", "GraniteServiceVersion20100801.DescribeAlarms", map[string]any{"MaxRecords": 100}, &got)
			if err != nil || len(got.MetricAlarms) < 10 {
				return fmt.Sprintf("%d alarms", len(got.MetricAlarms)), err
			}
			for _, a := range got.MetricAlarms {
				if !strings.Contains(a.AlarmDescription, "#alarm") {
					return a.AlarmName + " says only: " + a.AlarmDescription, nil
				}
			}
			return "all", nil
		}},
	}
}

// rolePromises: three functions, three roles, and nothing on them but what the template writes.
func (w *world) rolePromises() []promise {
	roles := map[string]bool{}
	var out []promise
	for _, name := range []string{"PollFunction", "ApplyFunction", "ReviewFunction"} {
		out = append(out, promise{what: name + "'s role", want: "its own, nothing attached", read: func() (string, error) {
			var c struct{ Role string }
			if err := w.get("lambda", "/2015-03-31/functions/"+w.outputs[name]+"/configuration", &c); err != nil {
				return "", err
			}
			if roles[c.Role] {
				return "another's", nil
			}
			roles[c.Role] = true
			var got struct {
				Arns []string `xml:"ListAttachedRolePoliciesResult>AttachedPolicies>member>PolicyArn"`
			}
			role := c.Role[strings.LastIndexByte(c.Role, '/')+1:]
			err := w.form("iam", url.Values{"Action": {"ListAttachedRolePolicies"}, "Version": {iamVersion}, "RoleName": {role}}, &got)
			if len(got.Arns) > 0 {
				return fmt.Sprint(got.Arns), err
			}
			return "its own, nothing attached", err
		}})
	}
	return out
}
