package main

import "testing"

func TestModules(t *testing.T) {
	t.Parallel()
	for symbol, want := range map[string]string{
		"runtime.mallocgc":                             "the standard library",
		"net/http.(*Client).Do":                        "the standard library",
		"main.main":                                    "the standard library",
		"crypto/internal/fips140/sha256.block":         "the standard library",
		"cel.dev/cel-go/common/types.(*Registry).Copy": "cel.dev/cel-go",
		"google.golang.org/protobuf/internal/impl.(*messageState).Get":      "google.golang.org/protobuf",
		"github.com/aws/aws-sdk-go-v2/service/ssm.(*Client).GetParameter":   "github.com/aws/aws-sdk-go-v2/service/ssm",
		"github.com/aws/aws-sdk-go-v2/service/dynamodb/types.(*Put).Encode": "github.com/aws/aws-sdk-go-v2/service/dynamodb",
		"github.com/aws/aws-sdk-go-v2/config.resolveRegion":                 "github.com/aws/aws-sdk-go-v2",
		"github.com/turnleaf/turnleaf/internal/handoff.(*Engine).Poll":      "github.com/turnleaf/turnleaf",
		"type:.eq.github.com/turnleaf/turnleaf/internal/handoff.Checkpoint": "github.com/turnleaf/turnleaf",
		"slices.insertionSortCmpFunc[go.shape.struct { github.com/x/y.Z }]": "the standard library",
	} {
		if got := moduleOf(symbol); got != want {
			t.Errorf("%s belongs to %s, want %s", symbol, got, want)
		}
	}
}

func TestHeaviest(t *testing.T) {
	t.Parallel()
	got := heaviest("  401000   300 T runtime.a\n  402000   500 t cel.dev/cel-go/x.b\n  403000   100 T runtime.c\n  404000  9999 D runtime.data\n  405000 T odd\n", 1)
	if len(got) != 1 || got[0] != (module{"cel.dev/cel-go", 500}) {
		t.Errorf("got %+v", got)
	}
}
