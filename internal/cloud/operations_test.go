package cloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// resource is one of the template's, and its properties with CloudFormation's functions left as they are written.
type resource struct {
	Type       string    `yaml:"Type"`
	Condition  string    `yaml:"Condition"`
	Properties yaml.Node `yaml:"Properties"`
}

// template is the part of template.yaml that operators see.
type template struct {
	Parameters map[string]struct{ Default any } `yaml:"Parameters"`
	Resources  map[string]resource              `yaml:"Resources"`
}

func readTemplate(t *testing.T) template {
	t.Helper()
	raw, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out template
	if err := yaml.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func readOperations(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// property is the text of one property, its tag included: "!Ref X" or a literal.
func (r resource) property(name string) string {
	for i := 0; i+1 < len(r.Properties.Content); i += 2 {
		if r.Properties.Content[i].Value == name {
			out, err := yaml.Marshal(r.Properties.Content[i+1])
			if err != nil {
				return err.Error()
			}
			return strings.TrimSpace(string(out))
		}
	}
	return ""
}

func (tp template) alarms() map[string]resource {
	out := map[string]resource{}
	for name, r := range tp.Resources {
		if r.Type == "AWS::CloudWatch::Alarm" {
			out[name] = r
		}
	}
	return out
}

// section gives the text under a heading of that name.
func section(doc, name string) string {
	_, after, ok := strings.Cut(doc, "\n### "+name+"\n")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(after, "\n##")
	return text
}

// Every alarm tells its topic both ways, links to its section, and says on purpose what silence means; every section has its alarm, and
// says what is to be done.
func TestAlarmsAndRunbook(t *testing.T) {
	t.Parallel()
	doc, alarms := readOperations(t), readTemplate(t).alarms()
	if len(alarms) < 20 {
		t.Fatalf("%d alarms were found", len(alarms))
	}
	for name, a := range alarms {
		text := strings.Join(strings.Fields(section(doc, name)), " ")
		for _, must := range []string{"**Means**", "**First look**", "**Do**", "**Can wait**"} {
			if !strings.Contains(text, must) {
				t.Errorf("the section of %s does not say %s", name, must)
			}
		}
		if d := a.property("AlarmDescription"); !strings.Contains(d, "${RunbookUrl}#"+strings.ToLower(name)) {
			t.Errorf("%s links to %s", name, d)
		}
		for _, actions := range []string{"AlarmActions", "OKActions"} {
			if got := a.property(actions); !strings.Contains(got, "TellsAlarms") || !strings.Contains(got, "AlarmTopicArn") {
				t.Errorf("%s of %s are %s", actions, name, got)
			}
		}
		if m := a.property("TreatMissingData"); !slices.Contains([]string{"ignore", "breaching", "notBreaching"}, strings.Fields(m + " -")[0]) || !strings.Contains(m, "#") {
			t.Errorf("%s says of missing data: %q; which, and why?", name, m)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Alarm\w+)$`).FindAllStringSubmatch(doc, -1) {
		if _, ok := alarms[m[1]]; !ok {
			t.Errorf("the section %s is of no alarm", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\]\(#([a-z-]+)\)`).FindAllStringSubmatch(doc, -1) {
		if !slices.Contains(anchors(doc), m[1]) {
			t.Errorf("a link leads to #%s, which is no heading", m[1])
		}
	}
}

// anchors are the headings as links name them.
func anchors(doc string) (out []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(doc, -1) {
		clean := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(clean, " ", "-"))
	}
	return out
}

// gauges are looked at by their worst stream, counts by their sum; what every poll tells keeps its state while nothing is told.
func TestAlarmsOnOurOwnMetrics(t *testing.T) {
	t.Parallel()
	known := map[string]Metric{}
	for _, m := range Metrics() {
		known[m.Name] = m
	}
	var watched []string
	for name, a := range readTemplate(t).alarms() {
		if a.property("Namespace") != "!Ref MetricsNamespace" || strings.Contains(a.property("MetricName"), "ApiRefused") {
			continue
		}
		metric := a.property("MetricName")
		watched = append(watched, metric)
		if _, ok := known[metric]; !ok {
			t.Errorf("%s looks at %s, which nobody sends", name, metric)
		}
		if d := a.property("Dimensions"); strings.ReplaceAll(d, "'", "") != "[{Name: Service, Value: !Ref AWS::StackName}]" {
			t.Errorf("%s looks under %s", name, d)
		}
		want := "Sum"
		switch {
		case metric == mHeadroom:
			want = "Minimum"
		case gauge(metric):
			want = "Maximum"
		}
		if got := a.property("Statistic"); got != want {
			t.Errorf("%s takes the %s of %s, want %s", name, got, metric, want)
		}
		period := a.property("Period")
		if gauge(metric) && !strings.Contains(period, "Look") {
			t.Errorf("%s looks at what a tick tells over %s: two ticks at least", name, period)
		}
		always := gauge(metric) && metric != mHeld && metric != mOldestHold
		if m := a.property("TreatMissingData"); strings.HasPrefix(m, "ignore") != always {
			t.Errorf("%s on %s says of missing data: %s", name, metric, m)
		}
	}
	for _, must := range []string{mBlockedAge, mUnapplied, mHeadroom, mPageAge, mHeld, mOldestHold, mHalted, mTicks, mSourceFails, mSourceSays, mOwnFails, mConflicts, mOrphans} {
		if !slices.Contains(watched, must) {
			t.Errorf("no alarm looks at %s", must)
		}
	}
}

// The dashboard is JSON that CloudWatch takes, shows first what is blocked, and names no metric that nobody sends.
func TestDashboard(t *testing.T) {
	t.Parallel()
	tp := readTemplate(t)
	var body string
	for i := 0; i+1 < len(properties(tp.Resources["Dashboard"])); i += 2 {
		if properties(tp.Resources["Dashboard"])[i].Value == "DashboardBody" {
			body = properties(tp.Resources["Dashboard"])[i+1].Value
		}
	}
	body = strings.ReplaceAll(body, "${!", "\x00")
	body = regexp.MustCompile(`\$\{([A-Za-z0-9.:]+)\}`).ReplaceAllString(body, "$1")
	var d struct {
		Widgets []struct {
			Type                string
			X, Y, Width, Height int
			Properties          struct {
				Title   string
				Metrics [][]any
				Alarms  []string
			}
		}
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(strings.ReplaceAll(body, "\x00", "${"))))
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if len(d.Widgets) < 10 || !strings.Contains(fmt.Sprint(d.Widgets[0].Properties.Metrics), "BlockedAge") || d.Widgets[0].X != 0 || d.Widgets[0].Y != 0 {
		t.Fatalf("%d widgets, the first is %+v", len(d.Widgets), d.Widgets)
	}
	known := map[string]bool{}
	for _, m := range Metrics() {
		known[m.Name] = true
	}
	taken := map[[2]int]string{}
	for _, w := range d.Widgets {
		for x := w.X; x < w.X+w.Width; x++ {
			for y := w.Y; y < w.Y+w.Height; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%q lies over %q, or outside", w.Properties.Title, other)
				}
				taken[[2]int{x, y}] = w.Properties.Title
			}
		}
		for _, m := range w.Properties.Metrics {
			if name := ownMetric(m); name != "" && !known[name] {
				t.Errorf("%q shows %s, which nobody sends", w.Properties.Title, name)
			}
		}
	}
	alarms := tp.alarms()
	listed := d.Widgets[1].Properties.Alarms
	for name, a := range alarms {
		if a.Condition == "" && !slices.Contains(listed, name+".Arn") {
			t.Errorf("the dashboard does not list %s", name)
		}
	}
	for _, arn := range listed {
		if _, ok := alarms[strings.TrimSuffix(arn, ".Arn")]; !ok {
			t.Errorf("the dashboard lists %s", arn)
		}
	}
}

func properties(r resource) []*yaml.Node { return r.Properties.Content }

// ownMetric is the name of a metric of ours in one row of a widget.
func ownMetric(row []any) string {
	if search, ok := row[0].(map[string]any); ok {
		if m := regexp.MustCompile(`MetricName="(\w+)"`).FindStringSubmatch(fmt.Sprint(search["expression"])); m != nil {
			return m[1]
		}
		return ""
	}
	if row[0] == "MetricsNamespace" {
		return fmt.Sprint(row[1])
	}
	return ""
}

// rows reads the first table of the document whose header begins like this.
func rows(doc, header string) (out [][]string) {
	_, after, ok := strings.Cut(doc, "\n"+header)
	if !ok {
		return nil
	}
	for i, line := range strings.Split(after, "\n") {
		if i < 2 {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.Trim(strings.TrimSpace(c), "`"))
		}
		out = append(out, cells)
	}
	return out
}

// The tables of the document are those of the code: every metric with its unit and dimensions, every class with its group.
func TestTables(t *testing.T) {
	t.Parallel()
	doc := readOperations(t)
	var got, want []string
	for _, r := range rows(doc, "| name | unit | dimensions | meaning |") {
		got = append(got, strings.Join(r[:3], " "))
		if len(r) != 4 || r[3] == "" {
			t.Errorf("%s means nothing", r[0])
		}
	}
	for _, m := range Metrics() {
		dims := "Service"
		if m.ByStream {
			dims = "Service, Stream"
		}
		want = append(want, fmt.Sprintf("%s %s %s", m.Name, m.Unit, dims))
	}
	if !slices.Equal(got, want) {
		t.Errorf("metrics are\n%q\nthe document has\n%q", want, got)
	}
	got, want = nil, nil
	for _, r := range rows(doc, "| class | meaning | group |") {
		got = append(got, r[0]+" "+r[2])
	}
	for _, c := range Classes() {
		want = append(want, string(c)+" "+groupOf(c))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("classes are\n%q\nthe document has\n%q", want, got)
	}
}
