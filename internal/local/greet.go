package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Console is where a run shows a person what happens.
type Console struct {
	Out      io.Writer
	Terminal Terminal
	Hints    Hints
}

// greeting is the first thing a run says.
func greeting(o Options, address string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Turnleaf runs on %s. Ctrl-C stops it; kill -9 is safe too.\n", Printable(string(o.Folder)))
	fmt.Fprintf(&b, "The review API listens on http://%s; its token is in %s.\n", address, Printable(o.Folder.api()))
	if o.Demo {
		b.WriteString("The demo feed serves account movements, 20 on a page, and a few more arrive each second.\n" +
			"When an event is held, this says which command decides about it: run that in a second terminal.\n")
	}
	return b.String()
}

// welcome says where a stream starts or goes on.
func (h Hints) welcome(s handoff.Stream, st handoff.StreamStatus, err error, starts bool) string {
	name := Printable(string(s))
	switch {
	case errors.Is(err, handoff.ErrNotFound) && starts:
		return name + ": starts, as its definition says."
	case errors.Is(err, handoff.ErrNotFound):
		return fmt.Sprintf("%s: waits for its start: %s", name, h.Line("streams", "start", string(s), "--at", "beginning"))
	case err != nil:
		return fmt.Sprintf("%s: %s", name, Printable(err.Error()))
	}
	text := fmt.Sprintf("%s: continues at page %d", name, st.Version)
	if st.Page != nil {
		text += fmt.Sprintf(", which is open: %d of its %d chunks are settled", st.Page.ChunksDone.Len(), st.Page.Chunks)
	}
	return text + "."
}

// welcomeAll greets every stream, and names those that have state and no definition.
func (n *Node) welcomeAll(ctx context.Context, h Hints) (string, error) {
	var b strings.Builder
	defined := map[handoff.Stream]bool{}
	for _, d := range n.defs {
		s := handoff.Stream(d.Name)
		defined[s] = true
		st, err := n.Engine.Status(ctx, s)
		b.WriteString(h.welcome(s, st, err, d.Start != nil) + "\n")
	}
	entries, err := n.State.Streams(ctx)
	if err != nil {
		return "", fmt.Errorf("list streams: %w", err)
	}
	for _, e := range entries {
		if !defined[e.Stream] && e.RetiredAt.IsZero() {
			fmt.Fprintf(&b, "%s: has state here and no definition, so it is not polled.\n", Printable(string(e.Stream)))
		}
	}
	if len(n.defs) == 0 {
		b.WriteString("No streams are defined: put a definition into streams/, or try the demo with --demo.\n")
	}
	return b.String(), nil
}

// farewell is the last thing a run says.
func farewell(w *watch, now time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.order) == 0 {
		return "Stopped."
	}
	return "Stopped at: " + summary(w.order, now) + "\nThe next run continues there."
}
