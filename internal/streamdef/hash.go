package streamdef

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// hash names a part of a definition as it is written: comments, layout, quotes and the order of keys make no difference, and
// neither do defaults of ours, so that a new version of this program does not change what is deployed. A part that is not
// there has the hash of null.
func hash(n *yaml.Node) string {
	var b strings.Builder
	canonical(&b, n)
	return handoff.DigestOf([]byte(b.String()))
}

// canonical writes sorted JSON, in which scalars that are no texts stand as written. The file has been read: there are no
// aliases, and the depth is bounded by the shape.
func canonical(b *strings.Builder, n *yaml.Node) {
	switch {
	case n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		b.WriteString("null")
	case n.Kind == yaml.MappingNode:
		canonicalMap(b, n)
	case n.Kind == yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			canonical(b, item)
		}
		b.WriteByte(']')
	case n.ShortTag() == "!!str":
		b.WriteString(quote(n.Value))
	default:
		b.WriteString(n.Value)
	}
}

func canonicalMap(b *strings.Builder, n *yaml.Node) {
	type member struct {
		key   string
		value *yaml.Node
	}
	members := make([]member, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		members = append(members, member{n.Content[i].Value, n.Content[i+1]})
	}
	slices.SortFunc(members, func(x, y member) int { return strings.Compare(x.key, y.key) })
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(m.key) + ":")
		canonical(b, m.value)
	}
	b.WriteByte('}')
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return `""`
	}
	return string(b)
}
