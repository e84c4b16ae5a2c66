package handofftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// archiveRig is one subtest's archive and the key prefix that is its own.
type archiveRig struct {
	*rig
	archive handoff.Archive
	prefix  string
}

// ExerciseArchive checks every promise of handoff.Archive. open is called once per subtest and may give handles on one shared backend,
// as long as no earlier run used it: keys begin with t.Name().
func ExerciseArchive(t *testing.T, open func(t *testing.T) handoff.Archive) {
	for _, c := range []struct {
		name string
		run  func(*archiveRig)
	}{
		{"PutAndGet", putAndGet},
		{"SameBytesAgain", sameBytesAgain},
		{"OtherBytesRefused", otherBytesRefused},
		{"Range", ranges},
		{"ShortRange", shortRanges},
		{"Missing", missingObjects},
		{"List", listObjects},
		{"Sizes", sizes},
		{"Refresh", refresh},
		{"RaceOfDifferentBytes", raceOfDifferentBytes},
		{"RaceOfSameBytes", raceOfSameBytes},
		{"Cancelled", cancelledArchive},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(&archiveRig{&rig{T: t, ctx: t.Context()}, open(t), t.Name() + "/"})
		})
	}
}

func (r *archiveRig) put(key string, body []byte) {
	r.Helper()
	r.done(r.archive.Put(r.ctx, r.prefix+key, body))
}

func (r *archiveRig) holds(key string, want []byte) {
	r.Helper()
	got, err := r.archive.Get(r.ctx, r.prefix+key)
	r.done(err)
	if !bytes.Equal(got, want) {
		r.Errorf("%s holds %d bytes (%.40q), want %d (%.40q)", key, len(got), got, len(want), want)
	}
}

// pattern is n bytes in which no two nearby places look alike.
func pattern(n int, salt byte) []byte {
	b := make([]byte, n)
	x := uint32(salt) + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func putAndGet(r *archiveRig) {
	bodies := map[string][]byte{}
	for i, key := range []string{"a", "b/c/d.json", "b/c/e", "raw/my%2Fstream/000000000012/3fa9/x.body", "sp ace+é漢=&?#~", "A", "..a", "a..", ".hidden"} {
		bodies[key] = pattern(100, byte(i))
		r.put(key, bodies[key])
	}
	for key, body := range bodies {
		r.holds(key, body)
	}
}

func sameBytesAgain(r *archiveRig) {
	body := pattern(1000, 1)
	for range 3 {
		r.put("a/b", body)
	}
	r.holds("a/b", body)
}

func otherBytesRefused(r *archiveRig) {
	body := pattern(1000, 1)
	r.put("a/b", body)
	for _, other := range [][]byte{pattern(1000, 2), body[:999], append(bytes.Clone(body), 0), nil} {
		r.refused(r.archive.Put(r.ctx, r.prefix+"a/b", other))
	}
	r.holds("a/b", body)
	r.put("empty", nil)
	r.refused(r.archive.Put(r.ctx, r.prefix+"empty", []byte("x")))
	r.holds("empty", nil)
}

func ranges(r *archiveRig) {
	body := pattern(5000, 1)
	r.put("a", body)
	for _, at := range [][2]int64{{0, 1}, {0, 5000}, {4999, 1}, {17, 1000}, {4096, 904}, {0, 0}, {17, 0}, {5000, 0}} {
		got, err := r.archive.GetRange(r.ctx, r.prefix+"a", at[0], at[1])
		r.done(err)
		if !bytes.Equal(got, body[at[0]:at[0]+at[1]]) {
			r.Errorf("range %v: %d other bytes", at, len(got))
		}
	}
}

// shortRanges: a directory that promises more than the object has was tampered with, or the object was; however absurd the promise.
func shortRanges(r *archiveRig) {
	r.put("a", pattern(5000, 1))
	r.put("empty", nil)
	for _, at := range [][2]int64{{0, 5001}, {4999, 2}, {5000, 1}, {9000, 10}, {1, 1 << 62}, {1<<63 - 1, 1<<63 - 1}} {
		_, err := r.archive.GetRange(r.ctx, r.prefix+"a", at[0], at[1])
		r.is(err, handoff.ErrDigest)
		_, err = r.archive.GetRange(r.ctx, r.prefix+"empty", at[0], at[1])
		r.is(err, handoff.ErrDigest)
	}
	for _, at := range [][2]int64{{-1, 5}, {0, -1}, {-9, -9}} {
		if _, err := r.archive.GetRange(r.ctx, r.prefix+"a", at[0], at[1]); err == nil {
			r.Errorf("range %v: no error", at)
		}
	}
}

// missingObjects: also what only begins like an object, and what would lie below one.
func missingObjects(r *archiveRig) {
	check := func(key string) {
		r.Helper()
		_, err := r.archive.Get(r.ctx, r.prefix+key)
		r.notFound(err)
		_, err = r.archive.GetRange(r.ctx, r.prefix+key, 0, 1)
		r.notFound(err)
		r.notFound(r.archive.Refresh(r.ctx, r.prefix+key))
	}
	check("none")
	check("none/of/these")
	r.put("a/b/c", []byte("x"))
	check("a")
	check("a/b")
	check("a/b/cc")
	check("a/b/c/d")
}

func listObjects(r *archiveRig) {
	keys := []string{"a", "a-b", "a.json", "a0", "b/1", "b/10", "b/2", "b-/1", "b/2x/y", "b0", "c/d/e/f"}
	for _, k := range keys {
		r.put(k, []byte(k))
	}
	slices.Sort(keys)
	for _, prefix := range []string{"", "a", "a/", "b", "b/", "b/1", "b/2", "b/2x", "b/2x/", "b/2x/y", "b/2x/y/", "c/d/e", "c/d/e/f", "none", "none/", "c/x/"} {
		var want []string
		for _, k := range keys {
			if len(k) >= len(prefix) && k[:len(prefix)] == prefix {
				want = append(want, r.prefix+k)
			}
		}
		for _, limit := range []int{1, 2, 5, 100} {
			got, err := r.archive.List(r.ctx, r.prefix+prefix, limit)
			r.done(err)
			if w := want[:min(limit, len(want))]; !slices.Equal(got, w) {
				r.Errorf("prefix %q, limit %d:\n got %q\nwant %q", prefix, limit, got, w)
			}
		}
	}
}

func sizes(r *archiveRig) {
	for i, n := range []int{0, 1, 4096, 5 << 20} {
		key, body := fmt.Sprint("size-", n), pattern(n, byte(i))
		r.put(key, body)
		r.holds(key, body)
		r.put(key, body)
	}
	big := pattern(5<<20, 3)
	got, err := r.archive.GetRange(r.ctx, r.prefix+fmt.Sprint("size-", 5<<20), 4<<20, 1<<20)
	r.done(err)
	if !bytes.Equal(got, big[4<<20:]) {
		r.Error("a range of the large object has other bytes")
	}
}

func refresh(r *archiveRig) {
	body := pattern(1000, 1)
	r.put("a/b", body)
	r.done(r.archive.Refresh(r.ctx, r.prefix+"a/b"))
	r.done(r.archive.Refresh(r.ctx, r.prefix+"a/b"))
	r.holds("a/b", body)
	r.refused(r.archive.Put(r.ctx, r.prefix+"a/b", []byte("other")))
	for _, key := range []string{"raw/my%2Fstream/x.body", "sp ace+é漢=&?#~"} {
		r.put(key, body)
		r.done(r.archive.Refresh(r.ctx, r.prefix+key))
		r.holds(key, body)
	}
}

// raceOfDifferentBytes: one wins whole, the others are refused, in new folders too.
func raceOfDifferentBytes(r *archiveRig) {
	const writers = 16
	errs := make([]error, writers)
	together(writers, func(i int) {
		errs[i] = r.putSure("deep/er/a", pattern(100_000+i, byte(i)))
	})
	winner := -1
	for i, err := range errs {
		if err == nil && winner < 0 {
			winner = i
			r.holds("deep/er/a", pattern(100_000+i, byte(i)))
			continue
		}
		r.refused(err)
	}
	if winner < 0 {
		r.Error("nobody won")
	}
}

func raceOfSameBytes(r *archiveRig) {
	body := pattern(100_000, 1)
	together(16, func(int) {
		if err := r.putSure("a", body); err != nil {
			r.Errorf("got %v, want done", err)
		}
	})
	r.holds("a", body)
	got, err := r.archive.List(r.ctx, r.prefix, 100)
	r.done(err)
	r.same("keys", got, []string{r.prefix + "a"})
}

func (r *archiveRig) putSure(key string, body []byte) error {
	err := handoff.ErrUnknown
	for n := 0; n < unknownTries && errors.Is(err, handoff.ErrUnknown); n++ {
		err = r.archive.Put(r.ctx, r.prefix+key, body)
	}
	return err
}

func cancelledArchive(r *archiveRig) {
	r.put("a", []byte("a"))
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	a, p := r.archive, r.prefix
	for name, call := range map[string]func() error{
		"Put":            func() error { return a.Put(ctx, p+"b", []byte("b")) },
		"PutOtherBytes":  func() error { return a.Put(ctx, p+"a", []byte("b")) },
		"Get":            func() error { _, err := a.Get(ctx, p+"none"); return err },
		"GetRange":       func() error { _, err := a.GetRange(ctx, p+"none", 0, 1); return err },
		"List":           func() error { _, err := a.List(ctx, p, 10); return err },
		"ListOfNoFolder": func() error { _, err := a.List(ctx, p+"none/", 10); return err },
		"Refresh":        func() error { return a.Refresh(ctx, p+"none") },
	} {
		r.notJudged(name, call())
	}
	got, err := a.List(r.ctx, p, 10)
	r.done(err)
	r.same("keys", got, []string{p + "a"})
}
