package handofftest

import (
	"errors"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func missing(err error) bool { return errors.Is(err, handoff.ErrNotFound) }

func pageCases() []testCase {
	return []testCase{
		{"MissingIsNotFound", func(r *rig) {
			r.open(1)
			_, err := r.state.Page(r.ctx, r.stream, 2)
			r.notFound(err)
			_, err = r.state.Directory(r.ctx, r.stream, 1)
			r.notFound(err)
		}},
		{"MarkChunkAdds", markChunkAdds},
		{"MarkChunkOnMissingCreatesNothing", func(r *rig) {
			r.open(1)
			_, err := r.state.MarkChunk(r.ctx, r.stream, 2, 0)
			r.notFound(err)
			_, err = r.state.Page(r.ctx, r.stream, 2)
			r.notFound(err)
		}},
		{"MarkChunkThatNoPageHas", markChunkThatNoPageHas},
		{"MarkDrivenMoves", markDrivenMoves},
		{"MarkDrivenOnMissingCreatesNothing", func(r *rig) {
			r.notFound(r.state.MarkDriven(r.ctx, r.stream, 2, 0, 1, at(1)))
			_, err := r.state.Page(r.ctx, r.stream, 2)
			r.notFound(err)
		}},
		{"MarkIsSticky", markIsSticky},
		{"MarkExpires", expires},
		{"MarkAndChunksKeepEachOther", func(r *rig) {
			r.open(1)
			_, err := r.state.MarkChunk(r.ctx, r.stream, 1, 7)
			r.done(err)
			r.done(r.state.MarkDriven(r.ctx, r.stream, 1, 0, 1, at(1)))
			r.done(r.commit(handoff.Tx{Token: "t2", PageMark: &handoff.PageMark{Version: 1, Lost: true}}))
			got, err := r.state.MarkChunk(r.ctx, r.stream, 1, 8)
			r.done(err)
			want := r.page(1)
			want.ChunksDone, want.Drives, want.DrivenAt, want.Lost = want.ChunksDone.With(7).With(8), 1, at(1), true
			r.same("the page after all updates", got, want)
			r.same("the page read back", r.readPage(1), want)
		}},
	}
}

func markChunkAdds(r *rig) {
	want := r.open(1)
	for _, k := range []int{64, 0, 99, 63, 0} { // 0 twice: safe to repeat
		want.ChunksDone = want.ChunksDone.With(k)
		got, err := r.state.MarkChunk(r.ctx, r.stream, 1, k)
		r.done(err)
		r.same("the page returned", got, want)
		r.same("the page read back", r.readPage(1), want)
	}
}

func markDrivenMoves(r *rig) {
	want := r.open(1)
	r.done(r.state.MarkDriven(r.ctx, r.stream, 1, 0, 1, at(1)))
	want.Drives, want.DrivenAt = 1, at(1)
	r.same("the page after a drive", r.readPage(1), want)
	for _, seen := range []int{0, 2} {
		r.refused(r.state.MarkDriven(r.ctx, r.stream, 1, seen, 9, at(9)))
	}
	r.same("the page after stale drives", r.readPage(1), want)
	r.done(r.state.MarkDriven(r.ctx, r.stream, 1, 1, 5, at(2)))
	want.Drives, want.DrivenAt = 5, at(2)
	r.same("the page after a second drive", r.readPage(1), want)
}

// markIsSticky: a mark sets its flags and takes none back.
func markIsSticky(r *rig) {
	want := r.open(1)
	for _, m := range []handoff.PageMark{{Version: 1, Abandoned: true}, {Version: 1, Lost: true}, {Version: 1}} {
		want.Abandoned, want.Lost = want.Abandoned || m.Abandoned, want.Lost || m.Lost
		r.done(r.commit(handoff.Tx{Token: "t2", PageMark: &m}))
		r.same("the page after a mark", r.readPage(1), want)
	}
}

// expires: a mark with an expiry keeps the rest of the page and its directory; until its time nothing is forgotten.
func expires(r *rig) {
	want := samplePage(r.stream, 1)
	want.Abandoned, want.Lost, want.ExpiresAt = false, false, time.Time{}
	dir := sampleDirectory(r.stream, 1, handoff.ArrivalPosition(1, 2))
	r.done(r.commit(handoff.Tx{Token: "t1", PagePut: &want, Directory: &dir}))
	want.ExpiresAt = at(1).AddDate(100, 0, 0).Truncate(time.Second)
	r.done(r.commit(handoff.Tx{Token: "t2", PageMark: &handoff.PageMark{Version: 1, ExpiresAt: want.ExpiresAt}}))
	r.same("the page after the mark", r.readPage(1), want)
	r.done(r.commit(handoff.Tx{Token: "t3", PageMark: &handoff.PageMark{Version: 1, Abandoned: true}}))
	want.Abandoned = true
	r.same("the page after another mark", r.readPage(1), want)
	got, err := r.state.Directory(r.ctx, r.stream, 1)
	r.done(err)
	r.same("its directory", got, dir)
}

func startCases() []testCase {
	return []testCase{
		{"SameTokenOnceOldestFirst", func(r *rig) {
			r.open(1)
			r.starts(1, 3, handoff.Start{Token: "b", At: at(2)}, "b")
			r.starts(1, 3, handoff.Start{Token: "a", At: at(3)}, "b", "a")
			r.starts(1, 3, handoff.Start{Token: "c", At: at(1)}, "c", "b", "a")
			r.starts(1, 3, handoff.Start{Token: "b", At: at(9)}, "c", "b", "a") // no change: it keeps its time
		}},
		{"ChunksAndVersionsApart", func(r *rig) {
			r.open(1)
			r.open(11)
			r.starts(1, 12, handoff.Start{Token: "a", At: at(1)}, "a")
			r.starts(1, 1, handoff.Start{Token: "b", At: at(1)}, "b")
			r.starts(11, 2, handoff.Start{Token: "c", At: at(1)}, "c")
			r.done(r.state.RemoveStart(r.ctx, r.stream, 1, 1, "a"))
			r.starts(1, 12, handoff.Start{Token: "d", At: at(2)}, "a", "d")
		}},
		{"Remove", func(r *rig) {
			r.open(1)
			r.starts(1, 0, handoff.Start{Token: "a", At: at(1)}, "a")
			r.starts(1, 0, handoff.Start{Token: "b", At: at(2)}, "a", "b")
			r.done(r.state.RemoveStart(r.ctx, r.stream, 1, 0, "a"))
			r.done(r.state.RemoveStart(r.ctx, r.stream, 1, 0, "a"))
			r.done(r.state.RemoveStart(r.ctx, r.stream, 1, 0, "never"))
			r.starts(1, 0, handoff.Start{Token: "c", At: at(3)}, "b", "c")
		}},
		{"RemoveWhereNoneEverStood", func(r *rig) {
			r.done(r.state.RemoveStart(r.ctx, r.stream, 4, 0, "a"))
			_, err := r.state.Page(r.ctx, r.stream, 4)
			r.notFound(err)
		}},
	}
}

// starts adds one and compares the tokens that stand.
func (r *rig) starts(v handoff.Version, chunk int, add handoff.Start, want ...string) {
	r.Helper()
	all, err := r.state.AddStart(r.ctx, r.stream, v, chunk, add)
	r.done(err)
	var got []string
	for _, s := range all {
		got = append(got, s.Token)
	}
	r.same("starts", got, want)
}

func spoolCases() []testCase {
	return []testCase{
		{"PutIfAbsentInOrder", func(r *rig) {
			entry := func(walk uint64, n int) handoff.SpoolEntry {
				return handoff.SpoolEntry{Stream: r.stream, Version: 2, Walk: walk, N: n, RequestCursor: "c", FetchedAt: at(1)}
			}
			want := []handoff.SpoolEntry{entry(0, 2), entry(0, 10), entry(9, 1), entry(10, 0)}
			for _, i := range []int{3, 1, 0, 2} {
				r.done(r.state.PutSpool(r.ctx, want[i]))
			}
			other := entry(9, 1)
			other.RequestCursor = "other"
			r.refused(r.state.PutSpool(r.ctx, other))
			r.refused(r.state.PutSpool(r.ctx, want[2]))
			got, err := r.state.Spool(r.ctx, r.stream, 2)
			r.done(err)
			r.same("spool", got, want)
		}},
		{"DropForgetsOneVersion", func(r *rig) {
			for v := handoff.Version(1); v <= 2; v++ {
				for n := range 30 {
					r.done(r.state.PutSpool(r.ctx, handoff.SpoolEntry{Stream: r.stream, Version: v, N: n, FetchedAt: at(1)}))
				}
			}
			r.done(r.state.DropSpool(r.ctx, r.stream, 1))
			r.done(r.state.DropSpool(r.ctx, r.stream, 1))
			for v, want := range map[handoff.Version]int{1: 0, 2: 30, 3: 0} {
				got, err := r.state.Spool(r.ctx, r.stream, v)
				r.done(err)
				r.same("entries", len(got), want)
			}
			r.done(r.state.PutSpool(r.ctx, handoff.SpoolEntry{Stream: r.stream, Version: 1, FetchedAt: at(1)}))
		}},
	}
}

// markChunkThatNoPageHas: a chunk's number comes out of a message, so it may be anything.
func markChunkThatNoPageHas(r *rig) {
	r.open(1)
	before := r.readPage(1)
	for _, k := range []int{-1, handoff.MaxChunks, 1 << 40} {
		var invalid *handoff.InvalidError
		if _, err := r.state.MarkChunk(r.ctx, r.stream, 1, k); !errors.As(err, &invalid) {
			r.Errorf("chunk %d: got %v, want an InvalidError", k, err)
		}
	}
	r.same("the page", r.readPage(1), before)
}
