package memstate_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
	"github.com/turnleaf/turnleaf/internal/handofftest/walkthrough"
)

func TestState(t *testing.T) {
	t.Parallel()
	handofftest.ExerciseState(t, func(*testing.T) handoff.State { return memstate.New() })
}

// One store under every subtest: names must not meet.
func TestSharedState(t *testing.T) {
	t.Parallel()
	s := memstate.New()
	handofftest.ExerciseState(t, func(*testing.T) handoff.State { return s })
}

func TestArchive(t *testing.T) {
	t.Parallel()
	handofftest.ExerciseArchive(t, func(*testing.T) handoff.Archive { return memstate.NewArchive() })
}

func TestWalkthroughs(t *testing.T) {
	t.Parallel()
	walkthrough.Run(t, func(*testing.T) walkthrough.Backend {
		return walkthrough.Backend{State: memstate.New(), Archive: memstate.NewArchive()}
	})
}

// A caller that changes what it gave or got changes nothing that is stored.
func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	s := memstate.New()
	halt := &handoff.Halt{Reason: handoff.HaltGap}
	cp := handoff.Checkpoint{Stream: "s", Rev: 1, Halt: halt, Accepts: []handoff.Accept{{Version: 7}}}
	dir := handoff.Directory{Stream: "s", Version: 1, Chunks: []handoff.ChunkRef{{Events: 7}}}
	rec := handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: "e"}, Attempt: &handoff.Attempt{Token: "a"}, Answered: []handoff.AnsweredHold{{Detail: "d"}}}
	tx := handoff.Tx{
		Stream: "s", Checkpoint: &handoff.CheckpointWrite{If: handoff.Guard{Absent: true}, Put: &cp}, Directory: &dir,
		Receipt: &handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: rec},
	}
	if err := s.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	for range 2 { // first what was given, then what was got
		halt.Reason, cp.Accepts[0].Version, dir.Chunks[0].Events, rec.Attempt.Token, rec.Answered[0].Detail = "x", 1, 1, "x", "x"
		cp, _ = s.Checkpoint(t.Context(), "s")
		dir, _ = s.Directory(t.Context(), "s", 1)
		found, _ := s.Receipts(t.Context(), "s", []handoff.ReceiptKey{rec.ReceiptKey}, false)
		rec, halt = found[rec.ReceiptKey], cp.Halt
		if halt.Reason != handoff.HaltGap || cp.Accepts[0].Version != 7 || dir.Chunks[0].Events != 7 || rec.Attempt.Token != "a" || rec.Answered[0].Detail != "d" {
			t.Fatalf("what is stored was changed from outside: %+v %+v %+v", cp, dir, rec)
		}
	}
}

// Every pointer, slice and map of the stored items is known to the copies: a new one must be added there, then here.
func TestReferencesAreKnown(t *testing.T) {
	t.Parallel()
	var got []string
	for _, item := range []any{
		handoff.StreamEntry{}, handoff.Checkpoint{}, handoff.Page{}, handoff.Directory{}, handoff.SpoolEntry{},
		handoff.Start{}, handoff.Receipt{}, handoff.Doc{}, handoff.AuditRecord{}, handoff.DecisionRecord{},
	} {
		got = append(got, references(reflect.TypeOf(item), reflect.TypeOf(item).Name())...)
	}
	want := []string{"Checkpoint.Halt", "Checkpoint.Accepts", "Directory.Chunks", "Receipt.Attempt", "Receipt.Answered", "Doc.Fields"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("references are %v, copied are %v", got, want)
	}
}

func references(t reflect.Type, path string) (found []string) {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[handoff.Position]():
		return nil // values that nobody changes
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		found = append(found, path)
		if t.Elem().Kind() == reflect.Struct {
			found = append(found, references(t.Elem(), path+"[]")...)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			found = append(found, references(t.Field(i).Type, path+"."+t.Field(i).Name)...)
		}
	}
	return found
}
