package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/localstack/deploy"
)

// audit: nothing is open, every invariant holds, the command line says so too, and the ledger is exactly what the model says.
func (w *world) audit(ada *operator) {
	for _, s := range []handoff.Stream{stream, late} {
		st := w.status(s)
		if st.Page != nil || st.Blocked != nil || st.Held != 0 {
			w.Errorf("%s is not done: %+v", s, st)
		}
		violations, err := w.engine.CheckInvariants(w.ctx, s)
		w.must(err)
		w.say("%s: %d violations", s, len(violations))
		for _, v := range violations {
			w.Errorf("%s: %+v", s, v)
		}
	}
	w.pages()
	w.ledger()
	w.say("the ledger is compared")
	w.decisions(ada)
	w.commandLine()
	w.discreet()
	if left := w.gate.left(); len(left) > 0 {
		w.Errorf("nobody was killed in %v", left)
	}
	if denied := w.gate.counts(&w.gate.denied); len(denied) > 0 {
		w.Errorf("roles allow too little: %v", denied)
	}
	for name, url := range w.queues() {
		if n := w.depth(url); n != 0 {
			w.Errorf("%s has %d messages", name, n)
		}
	}
}

// pages: twenty, each promoted, none abandoned.
func (w *world) pages() {
	list, err := w.state.ListPages(w.ctx, stream, 0, pages+10)
	w.must(err)
	if len(list) != pages {
		w.Errorf("%d pages were opened, want %d", len(list), pages)
	}
	for _, p := range list {
		if !p.Settled() || p.Abandoned || p.Lost {
			w.Errorf("page %d: %+v", p.Version, p)
		}
	}
}

// ledger compares documents and outcomes with the model.
func (w *world) ledger() {
	want := model()
	var docs []handoff.Doc
	for after := ""; ; {
		batch, next, err := w.state.ListDocs(w.ctx, stream, after, 100)
		w.must(err)
		docs = append(docs, batch...)
		if after = next; after == "" {
			break
		}
	}
	want.compare(w.T, docs)
	got := map[handoff.Outcome]int{}
	for after := ""; ; {
		batch, next, err := w.state.ListReceipts(w.ctx, stream, after, 200)
		w.must(err)
		for _, r := range batch {
			got[r.Outcome]++
		}
		if after = next; after == "" {
			break
		}
	}
	for _, o := range []handoff.Outcome{handoff.Applied, handoff.Ignored, handoff.Quarantined, handoff.Held, handoff.Retrying, handoff.Released} {
		if got[o] != want.outcomes[o] {
			w.Errorf("%d receipts are %s, want %d", got[o], o, want.outcomes[o])
		}
	}
}

// decisions: two, each once, by the person that the gateway vouched for.
func (w *world) decisions(ada *operator) {
	audits, _, err := ada.client.Audits(w.ctx, stream, "")
	w.must(err)
	var kinds []string
	for _, a := range audits {
		kinds = append(kinds, string(a.Kind))
		if a.Actor != ada.arn {
			w.Errorf("%s was decided by %q, want %q", a.Kind, a.Actor, ada.arn)
		}
	}
	if want := []string{"release", "ignore"}; !slices.Equal(kinds, want) {
		w.Errorf("the record says %v, want %v", kinds, want)
	}
}

// commandLine asks bin/turnleaf, as an operator would.
func (w *world) commandLine() {
	bin := os.Getenv("TURNLEAF_BIN")
	if bin == "" {
		w.Fatal("TURNLEAF_BIN is not set: run `make test-e2e`, which builds bin/turnleaf")
	}
	for _, s := range []handoff.Stream{stream, late} {
		audit := exec.CommandContext(w.ctx, bin, "audit", string(s), "--stack", stackName, "--streams", filepath.Join(w.sam.Tree, "streams"), "--deep")
		audit.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "TURNLEAF_") }),
			"AWS_ENDPOINT_URL="+w.gate.URL, "AWS_REGION="+deploy.Region, "AWS_ACCESS_KEY_ID="+deploy.Key, "AWS_SECRET_ACCESS_KEY="+deploy.Secret)
		out, err := audit.CombinedOutput()
		w.say("turnleaf audit %s: %s", s, strings.TrimSpace(string(out)))
		if err != nil {
			w.Errorf("turnleaf audit %s: %v: %s", s, err, out)
		}
	}
}

// discreet: no line of a function's log shows anything of an event, and there are lines.
func (w *world) discreet() {
	for _, name := range []string{"PollFunction", "ApplyFunction", "ReviewFunction"} {
		lines, err := w.logs(w.outputs[name])
		w.must(err)
		told := 0
		for _, l := range lines {
			if bytes.HasPrefix(l, []byte(`{"time"`)) {
				told++
			}
			if bytes.Contains(l, []byte("evt-")) || bytes.Contains(l, []byte("acct-")) {
				w.Errorf("%s told of an event: %.300s", name, l)
			}
		}
		if told == 0 {
			w.Errorf("%s told nothing in %d lines", name, len(lines))
		}
	}
}
