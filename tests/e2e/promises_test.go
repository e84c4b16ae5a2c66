package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// promise is a setting that the template makes, as the service tells it.
type promise struct {
	what string
	want string
	read func() (string, error)
	// set does by hand what MiniStack 1.5.33 dropped from the template without a word; nil where it keeps what it was told.
	set func() error
}

// promises reads back every setting that the protocol or the operators depend on.
func (w *world) promises() {
	var all []promise
	for _, some := range [][]promise{w.functionPromises(), w.queuePromises(), w.tablePromises(), w.bucketPromises(), w.apiPromises(), w.rolePromises()} {
		all = append(all, some...)
	}
	byHand := 0
	for _, p := range all {
		got, err := p.read()
		if p.set != nil && (err != nil || got != p.want) {
			w.must(p.set())
			byHand++
			got, err = p.read()
		}
		if err != nil {
			w.Errorf("%s: %v", p.what, err)
		} else if got != p.want {
			w.Errorf("%s is %s, want %s", p.what, got, p.want)
		}
	}
	w.say("%d settings read back, %d of them set by hand", len(all), byHand)
}

func (w *world) functionPromises() []promise {
	var out []promise
	for _, name := range []string{"PollFunction", "ApplyFunction", "ReviewFunction"} {
		out = append(out, promise{what: name, want: fmt.Sprintf("provided.al2023 %ds true", functionSeconds), read: func() (string, error) {
			var c struct {
				Runtime       string
				Timeout       any
				LoggingConfig struct{ LogGroup string }
			}
			err := w.get("lambda", "/2015-03-31/functions/"+w.outputs[name]+"/configuration", &c)
			return fmt.Sprintf("%s %vs %v", c.Runtime, c.Timeout, strings.Contains(c.LoggingConfig.LogGroup, stackName)), err
		}}, promise{what: name + "'s log", want: "1 day", read: func() (string, error) {
			var got struct {
				LogGroups []struct{ RetentionInDays int }
			}
			group, err := w.logGroup(w.outputs[name])
			if err == nil {
				err = w.ask("logs", "Logs_20140328.DescribeLogGroups", map[string]any{"logGroupNamePrefix": group}, &got)
			}
			if err != nil || len(got.LogGroups) != 1 {
				return fmt.Sprint(got), err
			}
			return fmt.Sprintf("%d day", got.LogGroups[0].RetentionInDays), nil
		}})
	}
	for _, name := range []string{"PollFunction", "ApplyFunction"} {
		out = append(out, promise{what: name + " may loop", want: "Allow", read: func() (string, error) {
			var c struct{ RecursiveLoop string }
			err := w.get("lambda", "/2024-08-31/functions/"+w.outputs[name]+"/recursion-config", &c)
			return c.RecursiveLoop, err
		}, set: func() error {
			return w.send("lambda", http.MethodPut, "/2024-08-31/functions/"+w.outputs[name]+"/recursion-config", nil, []byte(`{"RecursiveLoop":"Allow"}`), nil)
		}})
	}
	return append(out, w.schedulePromises()...)
}

// schedulePromises: the next tick is the retry, in both layers.
func (w *world) schedulePromises() []promise {
	type retries struct{ MaximumRetryAttempts, MaximumEventAgeInSeconds int }
	path := "/2019-09-25/functions/" + w.outputs["PollFunction"] + "/event-invoke-config"
	return []promise{
		{what: "the schedule", want: `rate(1 minute) ENABLED {0 60} "{}"`, read: func() (string, error) {
			var list struct {
				Schedules []struct{ Name, GroupName string }
			}
			if err := w.get("scheduler", "/schedules", &list); err != nil || len(list.Schedules) != 1 {
				return fmt.Sprintf("%+v", list), err
			}
			var s struct {
				ScheduleExpression, State string
				Target                    struct {
					Input       string
					RetryPolicy retries
				}
			}
			err := w.get("scheduler", "/schedules/"+list.Schedules[0].Name+"?groupName="+list.Schedules[0].GroupName, &s)
			return fmt.Sprintf("%s %s %v %q", s.ScheduleExpression, s.State, s.Target.RetryPolicy, s.Target.Input), err
		}},
		{what: "poll's retries", want: "{0 60}", read: func() (string, error) {
			var got retries
			err := w.get("lambda", path, &got)
			return fmt.Sprint(got), err
		}, set: func() error {
			return w.send("lambda", http.MethodPut, path, nil, []byte(`{"MaximumRetryAttempts":0,"MaximumEventAgeInSeconds":60}`), nil)
		}},
		{what: "the mappings", want: "[ChunkQueue 1 5 [ReportBatchItemFailures] PollQueue 1 5 [ReportBatchItemFailures]]", read: func() (string, error) {
			var list struct {
				EventSourceMappings []struct {
					EventSourceArn        string
					BatchSize             int
					ScalingConfig         struct{ MaximumConcurrency int }
					FunctionResponseTypes []string
				}
			}
			err := w.get("lambda", "/2015-03-31/event-source-mappings/", &list)
			var got []string
			for _, m := range list.EventSourceMappings {
				_, name, _ := strings.Cut(m.EventSourceArn, stackName+"-")
				name, _, _ = strings.Cut(name, "-")
				got = append(got, fmt.Sprint(name, " ", m.BatchSize, " ", m.ScalingConfig.MaximumConcurrency, " ", m.FunctionResponseTypes))
			}
			slices.Sort(got)
			return fmt.Sprint(got), err
		}},
	}
}
