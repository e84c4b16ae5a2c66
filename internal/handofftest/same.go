package handofftest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// same compares exactly: every field, digit for digit.
func (r *rig) same(what string, got, want any) {
	r.Helper()
	if !reflect.DeepEqual(got, want) {
		r.Errorf("%s:\n got %s\nwant %s", what, text(got), text(want))
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	if len(b) > 2000 {
		b = append(b[:2000], "…"...)
	}
	return string(b)
}

// unfilled names an exported field that is zero somewhere in v, or gives "": a sample with a zero field proves nothing about it.
func unfilled(v reflect.Value, path string) string {
	switch v.Interface().(type) {
	case time.Time, handoff.Position, handoff.ChunkSet, json.RawMessage:
		return zeroAt(v, path)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if p := unfilled(v.Field(i), path+"."+f.Name); p != "" {
				return p
			}
		}
		return ""
	case reflect.Pointer:
		if v.IsNil() {
			return path
		}
		return unfilled(v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 {
			return path
		}
		for i := range v.Len() {
			if p := unfilled(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); p != "" {
				return p
			}
		}
		return ""
	case reflect.Map:
		if v.Len() == 0 {
			return path
		}
		return ""
	}
	return zeroAt(v, path)
}

func zeroAt(v reflect.Value, path string) string {
	if v.IsZero() {
		return path
	}
	return ""
}

// filled fails if the sample leaves a field out: then a new field was added and nobody checks that stores keep it.
func (r *rig) filled(sample any) {
	r.Helper()
	v := reflect.ValueOf(sample)
	if p := unfilled(v, v.Type().Name()); p != "" {
		r.Fatalf("the sample leaves %s zero: fill it, so that its round trip is checked", p)
	}
}
