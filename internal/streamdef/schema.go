package streamdef

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of a definition, for editors. It knows the keys and the shapes of values; what
// they mean together, and whether an expression compiles, only Parse says.
func Schema() []byte { return slices.Clone(schema) }
