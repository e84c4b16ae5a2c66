package memstate

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The items that hold a pointer, a slice or a map are copied here, so that no caller changes what is stored. A Position is a value
// that nobody changes; all other items copy by assignment. A test walks the types for a reference that was forgotten.

func same[T any](v T) T { return v }

func cloneCheckpoint(cp handoff.Checkpoint) handoff.Checkpoint {
	cp.Halt = clonePointer(cp.Halt)
	cp.Accepts = slices.Clone(cp.Accepts)
	return cp
}

func cloneDirectory(d handoff.Directory) handoff.Directory {
	d.Chunks = slices.Clone(d.Chunks)
	return d
}

func cloneReceipt(r handoff.Receipt) handoff.Receipt {
	r.Attempt = clonePointer(r.Attempt)
	r.Answered = slices.Clone(r.Answered)
	return r
}

func cloneDoc(d handoff.Doc) handoff.Doc {
	fields := make(map[string]json.RawMessage, len(d.Fields))
	for k, v := range d.Fields {
		fields[k] = bytes.Clone(v)
	}
	d.Fields = fields
	return d
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
