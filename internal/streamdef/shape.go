package streamdef

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/turnleaf/turnleaf/internal/expr"
)

// The variables of expressions, by where they stand.
var (
	answerVars = []string{"status", "headers", "body"}
	lastVars   = []string{"last"}
	resumeVars = []string{"bookmark"}
	recordVars = []string{"event"}
)

// The kinds an expression may give, where its type is known beforehand.
var (
	scalar   = []expr.Kind{expr.Text, expr.Number}
	optional = []expr.Kind{expr.Text, expr.Number, expr.Null}
)

// The tables of keys are the parser. Schema is held to them by a test.

func definitionShape() shape[Definition] {
	return shape[Definition]{
		text("name", func(d *Definition) *string { return &d.Name }),
		{key: "start", nested: startShape(), read: readStart},
		duration("every", time.Second, 7*day, func(d *Definition) *time.Duration { return &d.Every }),
		count("pages", 1, 1000, func(d *Definition) *int { return &d.Pages }),
		object("source", sourceShape(), func(d *Definition) *Source { return &d.Source }),
		object("event", eventShape(), func(d *Definition) *EventRules { return &d.Event }),
		object("contract", contractShape(), func(d *Definition) *Contract { return &d.Contract }),
		list("policy", ruleShape(), func(d *Definition) *[]Rule { return &d.Policy }),
		object("effect", effectShape(), func(d *Definition) *Effect { return &d.Effect }),
	}
}

func startShape() shape[Start] {
	return shape[Start]{
		text("token", func(s *Start) *string { return &s.Token }),
		text("bookmark", func(s *Start) *string { return &s.Bookmark }),
		text("time", func(s *Start) *string { return &s.Time }),
		flag("beginning", func(s *Start) *bool { return &s.Beginning }),
	}
}

// readStart takes the map, or the short text of ParseStart. A bare 0 is refused: a token is sent as written, and YAML has
// dropped what a number looked like.
func readStart(r *reader, n *yaml.Node, path string, into *Definition) {
	s := new(Start)
	into.Start = s
	if n.Kind == yaml.MappingNode {
		startShape().read(r, n, path, s)
		return
	}
	word, ok := r.text(n, path, `a quoted token such as "0", beginning, or a map of token, bookmark or time`)
	if !ok {
		return
	}
	parsed, err := ParseStart(word)
	if err != nil {
		r.problem(n, path, "a token, beginning, bookmark:… or time:…", "a start that cannot be read: "+err.Error())
		return
	}
	*s = parsed
}

func sourceShape() shape[Source] {
	return shape[Source]{
		text("url", func(s *Source) *string { return &s.URL }),
		enum("method", func(s *Source) *string { return &s.Method }, "GET", "POST"),
		texts("headers", func(s *Source) *map[string]string { return &s.Headers }),
		texts("query", func(s *Source) *map[string]string { return &s.Query }),
		body("body", func(s *Source) *map[string]any { return &s.Body }),
		choice("auth", authShape(), func(s *Source) **Auth { return &s.Auth }),
		flag("allow_private", func(s *Source) *bool { return &s.AllowPrivate }),
		duration("timeout", 100*time.Millisecond, 5*time.Minute, func(s *Source) *time.Duration { return &s.Timeout }),
		size("max_body", 1, 100<<20, func(s *Source) *int64 { return &s.MaxBody }),
		count("max_events", 1, 50_000, func(s *Source) *int { return &s.MaxEvents }),
		cel("success", func(s *Source) *string { return &s.Success }, answerVars, expr.Bool),
		cel("refused", func(s *Source) *string { return &s.Refused }, answerVars, expr.Bool),
		cel("refused_token", func(s *Source) *string { return &s.RefusedToken }, answerVars, expr.Bool),
		cel("unavailable", func(s *Source) *string { return &s.Unavailable }, answerVars, expr.Bool),
		cel("events", func(s *Source) *string { return &s.Events }, answerVars, expr.List),
		cel("end", func(s *Source) *string { return &s.End }, answerVars, expr.Bool),
		flag("newest_first", func(s *Source) *bool { return &s.NewestFirst }),
		object("cursor", cursorShape(), func(s *Source) *Cursor { return &s.Cursor }),
	}
}

func cursorShape() shape[Cursor] {
	return shape[Cursor]{
		cel("token", func(c *Cursor) *string { return &c.Token }, answerVars, optional...),
		text("link", func(c *Cursor) *string { return &c.Link }),
		cel("next_url", func(c *Cursor) *string { return &c.NextURL }, answerVars, expr.Text, expr.Null),
		text("send", func(c *Cursor) *string { return &c.Send }),
		cel("bookmark", func(c *Cursor) *string { return &c.Bookmark }, lastVars, scalar...),
		cels("resume", func(c *Cursor) *map[string]string { return &c.Resume }, resumeVars, scalar...),
		flag("keep_at_end", func(c *Cursor) *bool { return &c.KeepAtEnd }),
		duration("token_life", time.Second, 3650*day, func(c *Cursor) *time.Duration { return &c.TokenLife }),
	}
}

func authShape() shape[Auth] {
	return shape[Auth]{
		choice("bearer", secretShape(), func(a *Auth) **Secret { return &a.Bearer }),
		choice("basic", shape[Basic]{
			text("user", func(b *Basic) *string { return &b.User }),
			object("password", secretShape(), func(b *Basic) *Secret { return &b.Password }),
		}, func(a *Auth) **Basic { return &a.Basic }),
		choice("header", shape[HeaderAuth]{
			text("name", func(h *HeaderAuth) *string { return &h.Name }),
			text("prefix", func(h *HeaderAuth) *string { return &h.Prefix }),
			object("value", secretShape(), func(h *HeaderAuth) *Secret { return &h.Value }),
		}, func(a *Auth) **HeaderAuth { return &a.Header }),
	}
}

func secretShape() shape[Secret] {
	return shape[Secret]{
		text("env", func(s *Secret) *string { return &s.Env }),
		text("file", func(s *Secret) *string { return &s.File }),
		text("ssm", func(s *Secret) *string { return &s.SSM }),
		text("secrets_manager", func(s *Secret) *string { return &s.SecretsManager }),
	}
}

func eventShape() shape[EventRules] {
	return shape[EventRules]{
		cel("id", func(e *EventRules) *string { return &e.ID }, recordVars, expr.Text, expr.Number, expr.List),
		cel("position", func(e *EventRules) *string { return &e.Position }, recordVars, expr.Text, expr.Number, expr.List, expr.Time),
		enum("position_type", func(e *EventRules) *string { return &e.PositionType }, "number", "time", "text"),
		{key: "entity", read: readEntity},
		cel("time", func(e *EventRules) *string { return &e.Time }, recordVars, expr.Text, expr.Number, expr.Time),
		enum("time_unit", func(e *EventRules) *string { return &e.TimeUnit }, "s", "ms"),
		cel("digest", func(e *EventRules) *string { return &e.Digest }, recordVars),
	}
}

// readEntity knows one word beside expressions.
func readEntity(r *reader, n *yaml.Node, path string, into *EventRules) {
	if n.Kind == yaml.ScalarNode && n.Value == entityNone {
		into.Entity = entityNone
		return
	}
	if s, ok := r.cel(n, path, recordVars, scalar); ok {
		into.Entity = s
	}
}

func contractShape() shape[Contract] {
	return shape[Contract]{
		enum("order", func(c *Contract) *string { return &c.Order }, "ordered", "none"),
		enum("positions", func(c *Contract) *string { return &c.Positions }, "unique", "shared", "arrival"),
		flag("gapless", func(c *Contract) *bool { return &c.Gapless }),
		enum("late", func(c *Contract) *string { return &c.Late }, "hold", "apply"),
		enum("token", func(c *Contract) *string { return &c.Token }, "durable", "once"),
		duration("hold_back", time.Second, 30*day, func(c *Contract) *time.Duration { return &c.HoldBack }),
		flag("overlap", func(c *Contract) *bool { return &c.Overlap }),
		enum("replay_proof", func(c *Contract) *string { return &c.ReplayProof }, "receipts", "watermark"),
		duration("retention", time.Minute, 36500*day, func(c *Contract) *time.Duration { return &c.Retention }),
		duration("receipt_retention", time.Minute, 36500*day, func(c *Contract) *time.Duration { return &c.ReceiptRetention }),
	}
}

func ruleShape() shape[Rule] {
	return shape[Rule]{
		text("name", func(p *Rule) *string { return &p.Name }),
		cel("when", func(p *Rule) *string { return &p.When }, ruleVars, expr.Bool),
		enum("then", func(p *Rule) *string { return &p.Then }, "apply", "ignored", "held", "quarantined"),
	}
}

func effectShape() shape[Effect] {
	return shape[Effect]{
		choice("projection", shape[Projection]{
			cels("set", func(p *Projection) *map[string]string { return &p.Set }, ruleVars),
			cels("add", func(p *Projection) *map[string]string { return &p.Add }, ruleVars, scalar...),
			cel("delete", func(p *Projection) *string { return &p.Delete }, ruleVars, expr.Bool),
			cel("when", func(p *Projection) *string { return &p.When }, ruleVars, expr.Bool),
			list("also", shape[OtherDoc]{
				cel("entity", func(o *OtherDoc) *string { return &o.Entity }, ruleVars, scalar...),
				cels("add", func(o *OtherDoc) *map[string]string { return &o.Add }, ruleVars, scalar...),
				cel("when", func(o *OtherDoc) *string { return &o.When }, ruleVars, expr.Bool),
			}, func(p *Projection) *[]OtherDoc { return &p.Also }),
		}, func(e *Effect) **Projection { return &e.Projection }),
	}
}
