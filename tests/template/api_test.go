package template

import (
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// Nobody gets in unnamed: a route asks for AWS credentials, or with an issuer for one of its tokens.
func TestRoutesAreGuarded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values cfn.Map
		read   cfn.Map
		decide cfn.Map
	}{
		{nil, cfn.Map{"AuthorizationType": "AWS_IAM"}, cfn.Map{"AuthorizationType": "AWS_IAM"}},
		{
			cfn.Map{"JwtIssuer": "https://id.example.com", "JwtAudience": "turnleaf", "JwtDecideScopes": "a,b"},
			cfn.Map{"AuthorizationType": "JWT", "AuthorizerId": "${ApiAuthorizer}"},
			cfn.Map{"AuthorizationType": "JWT", "AuthorizerId": "${ApiAuthorizer}", "AuthorizationScopes": []string{"a", "b"}},
		},
		// Scopes without an issuer are no reason to let anybody in.
		{cfn.Map{"JwtDecideScopes": "a"}, cfn.Map{"AuthorizationType": "AWS_IAM"}, cfn.Map{"AuthorizationType": "AWS_IAM"}},
	} {
		routes := read(t, c.values).OfType("AWS::ApiGatewayV2::Route")
		for id, want := range map[string]cfn.Map{"ApiRead": c.read, "ApiDecide": c.decide} {
			got := cfn.Map{}
			for _, name := range []string{"AuthorizationType", "AuthorizerId", "AuthorizationScopes"} {
				if v, ok := routes[id][name]; ok {
					got[name] = v
				}
			}
			if !same(got, want) {
				t.Errorf("under %v, %s asks for %v, want %v", c.values, id, got, want)
			}
		}
		if len(routes) != 2 || routes["ApiRead"]["RouteKey"] != "GET /v1/{proxy+}" || routes["ApiDecide"]["RouteKey"] != "POST /v1/{proxy+}" {
			t.Errorf("routes: %v", routes)
		}
	}
	authorizer := read(t, everything()).OfType("AWS::ApiGatewayV2::Authorizer")["ApiAuthorizer"]
	if want := (cfn.Map{"Issuer": "https://id.example.com", "Audience": []string{"turnleaf"}}); !same(authorizer["JwtConfiguration"], want) {
		t.Errorf("tokens: %v", authorizer["JwtConfiguration"])
	}
}

// An issuer without an audience would let any of its tokens in: the deployment is refused.
func TestIssuerNeedsAudience(t *testing.T) {
	t.Parallel()
	rule := read(t, nil).Part("Rules", "JwtIsWhole")
	want := []any{cfn.Map{"Fn::Not": []any{cfn.Map{"Fn::EachMemberEquals": []any{cfn.Map{"Ref": "JwtAudience"}, ""}}}}}
	list, _ := rule["Assertions"].([]any)
	if len(list) != 1 || !same(under(list[0], "Assert"), want[0]) {
		t.Errorf("the rule is %v", rule)
	}
}

// HTTP APIs wait thirty seconds at most. A function that worked on would do what its caller was told had failed.
func TestGatewayWaitsForReview(t *testing.T) {
	t.Parallel()
	for _, life := range lives(t) {
		template := read(t, cfn.Map{"FunctionSeconds": life})
		wait := number(t, template.OfType("AWS::ApiGatewayV2::Integration")["ApiIntegration"]["TimeoutInMillis"])
		if own := 1000 * number(t, functions(template)["ReviewFunction"]["Timeout"]); wait < own || wait > 30_000 {
			t.Errorf("%v s: the gateway waits %d ms, review works %d", life, wait, own)
		}
	}
}

// Only this API may call review, and only below /v1.
func TestPermission(t *testing.T) {
	t.Parallel()
	p := read(t, nil).OfType("AWS::Lambda::Permission")["ApiPermission"]
	want := "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*/*/v1/*"
	if p["SourceArn"] != want || p["Principal"] != "apigateway.amazonaws.com" || ref(p["FunctionName"]) != "ReviewFunction" {
		t.Errorf("%v", p)
	}
}

func TestStage(t *testing.T) {
	t.Parallel()
	stage := read(t, cfn.Map{"ApiRate": 3, "ApiBurst": 4}).OfType("AWS::ApiGatewayV2::Stage")["ApiStage"]
	if number(t, under(stage, "DefaultRouteSettings", "ThrottlingRateLimit")) != 3 || number(t, under(stage, "DefaultRouteSettings", "ThrottlingBurstLimit")) != 4 {
		t.Errorf("limits: %v", stage["DefaultRouteSettings"])
	}
	if ref(under(stage, "AccessLogSettings", "DestinationArn")) != "ApiLog" {
		t.Errorf("requests are logged to %v", stage["AccessLogSettings"])
	}
}
