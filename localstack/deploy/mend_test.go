package deploy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// Text becomes numbers again, whatever is a number stays one, and what is neither is told.
func TestMend(t *testing.T) {
	t.Parallel()
	list := `{"EventSourceMappings":[
		{"UUID":"a","BatchSize":"1","ScalingConfig":{"MaximumConcurrency":"5"}},
		{"UUID":"b","BatchSize":10,"ScalingConfig":{"MaximumConcurrency":7}}]}`
	put := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), "/us-east-1/lambda/aws4_request") {
			http.Error(w, "unsigned", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, list)
			return
		}
		body, _ := io.ReadAll(r.Body)
		put[r.URL.Path] = string(body)
	}))
	defer server.Close()
	if err := Mend(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/2015-03-31/event-source-mappings/a": `{"BatchSize":1,"ScalingConfig":{"MaximumConcurrency":5}}`,
		"/2015-03-31/event-source-mappings/b": `{"BatchSize":10,"ScalingConfig":{"MaximumConcurrency":7}}`,
	}
	if !reflect.DeepEqual(put, want) {
		t.Errorf("put %v, want %v", put, want)
	}
	for _, v := range []any{nil, true, "many", json.Number("1")} {
		if n, err := number(v); err == nil {
			t.Errorf("%v is taken for %d", v, n)
		}
	}
}
