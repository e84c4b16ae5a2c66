package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// iamVersion is the version of IAM's API.
const iamVersion = "2010-05-08"

// mendRoles makes of the template's roles what MiniStack 1.5.33 takes for the same:
//   - who may send a message may send a batch: AWS authorizes SendMessageBatch as sqs:SendMessage, the emulator as an action that IAM
//     does not have;
//   - conditions on what a write to S3 says of itself are left out: the emulator does not know these keys. The gate looks at the writes
//     instead (bareWrite).
//
// Nothing else is added, and to no other queue or bucket.
func (w *world) mendRoles() {
	w.Helper()
	var roles struct {
		Names []string `xml:"ListRolesResult>Roles>member>RoleName"`
	}
	w.must(w.form("iam", url.Values{"Action": {"ListRoles"}, "Version": {iamVersion}}, &roles))
	for _, role := range roles.Names {
		var policies struct {
			Names []string `xml:"ListRolePoliciesResult>PolicyNames>member"`
		}
		w.must(w.form("iam", url.Values{"Action": {"ListRolePolicies"}, "Version": {iamVersion}, "RoleName": {role}}, &policies))
		for _, name := range policies.Names {
			w.mendPolicy(role, name)
		}
	}
}

func (w *world) mendPolicy(role, name string) {
	w.Helper()
	var got struct {
		Document string `xml:"GetRolePolicyResult>PolicyDocument"`
	}
	in := url.Values{"Action": {"GetRolePolicy"}, "Version": {iamVersion}, "RoleName": {role}, "PolicyName": {name}}
	w.must(w.form("iam", in, &got))
	text, err := url.QueryUnescape(got.Document)
	w.must(err)
	var policy map[string]any
	w.must(json.Unmarshal([]byte(text), &policy))
	changed := false
	statements, _ := policy["Statement"].([]any)
	for _, s := range statements {
		statement, _ := s.(map[string]any)
		actions := list(statement["Action"])
		if slices.Contains(actions, any("sqs:SendMessage")) {
			statement["Action"], changed = append(actions, "sqs:SendMessageBatch"), true
		}
		if condition, err := json.Marshal(statement["Condition"]); err == nil && unknownKeys.Match(condition) {
			delete(statement, "Condition")
			changed = true
		}
	}
	if !changed {
		return
	}
	mended, err := json.Marshal(policy)
	w.must(err)
	in.Set("Action", "PutRolePolicy")
	in.Set("PolicyDocument", string(mended))
	w.must(w.form("iam", in, nil))
}

// unknownKeys are those of S3 that the emulator has no value for.
var unknownKeys = regexp.MustCompile(`"s3:(if-none-match|x-amz-copy-source)"`)

// bareWrite reports a write to S3 that may replace what is there, which the template's roles do not allow: neither is it to be refused if
// something is there, nor does it copy an object onto itself.
func bareWrite(r *http.Request) bool {
	return r.Method == http.MethodPut && r.Header.Get("X-Amz-Target") == "" && r.Header.Get("If-None-Match") == "" &&
		!strings.HasSuffix(r.URL.Path, "/"+strings.TrimPrefix(r.Header.Get("X-Amz-Copy-Source"), "/"))
}

// list is one or many, as policies have it.
func list(v any) []any {
	if many, ok := v.([]any); ok {
		return slices.Clone(many)
	}
	return []any{v}
}
