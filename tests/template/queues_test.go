package template

import (
	"testing"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// lives are the function lives that may be chosen.
func lives(t *testing.T) []any {
	t.Helper()
	all, _ := under(read(t, nil).Part("Parameters", "FunctionSeconds"), "AllowedValues").([]any)
	if len(all) == 0 {
		t.Fatal("FunctionSeconds has no values to choose from")
	}
	return all
}

// AWS's rule for a queue that a function reads: a message stays hidden for six times the function's life and the batching window.
func TestVisibilityOutlivesTheFunction(t *testing.T) {
	t.Parallel()
	for _, life := range lives(t) {
		template := read(t, cfn.Map{"FunctionSeconds": life})
		functions, queues := template.OfType("AWS::Serverless::Function"), template.OfType("AWS::SQS::Queue")
		mappings := template.OfType("AWS::Lambda::EventSourceMapping")
		for id, m := range mappings {
			window := 0
			if w, ok := m["MaximumBatchingWindowInSeconds"]; ok {
				window = number(t, w)
			}
			timeout := number(t, functions[ref(m["FunctionName"])]["Timeout"])
			if hidden := number(t, queues[ref(m["EventSourceArn"])]["VisibilityTimeout"]); hidden < 6*timeout+window {
				t.Errorf("%v s: %s hides a message for %d s, the function lives %d", life, id, hidden, timeout)
			}
		}
		for id, f := range functions {
			if seconds := number(t, f["Timeout"]); seconds > number(t, life) {
				t.Errorf("%s lives %d s, more than TURNLEAF_FUNCTION_SECONDS says", id, seconds)
			}
		}
		if len(mappings) != 2 {
			t.Errorf("%d mappings", len(mappings))
		}
	}
}

// ref is the logical id behind ${Name} or ${Name.Arn}.
func ref(v any) string {
	text, _ := v.(string)
	for i := 2; i < len(text); i++ {
		if text[i] == '.' || text[i] == '}' {
			return text[2:i]
		}
	}
	return text
}

func TestMappings(t *testing.T) {
	t.Parallel()
	for id, m := range read(t, nil).OfType("AWS::Lambda::EventSourceMapping") {
		if !same(m["FunctionResponseTypes"], []string{"ReportBatchItemFailures"}) {
			t.Errorf("%s takes a whole batch for failed", id)
		}
		if n := number(t, under(m, "ScalingConfig", "MaximumConcurrency")); n < 2 || n > 1000 {
			t.Errorf("%s: concurrency %d", id, n)
		}
	}
	if n := read(t, nil).OfType("AWS::Lambda::EventSourceMapping")["PollMapping"]["BatchSize"]; number(t, n) != 1 {
		t.Errorf("a poll gets %v continuations at once; a page budget is for one", n)
	}
}

// A dead-letter queue counts from when a message was first sent: shorter than the queue's own retention, it would lose it at once.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	template := read(t, nil)
	queues, sources := template.OfType("AWS::SQS::Queue"), 0
	for id, q := range queues {
		dead, ok := under(q, "RedrivePolicy", "deadLetterTargetArn").(string)
		if !ok {
			continue
		}
		sources++
		if n := number(t, under(q, "RedrivePolicy", "maxReceiveCount")); n < 5 {
			t.Errorf("%s gives up after %d deliveries", id, n)
		}
		if own, other := number(t, q["MessageRetentionPeriod"]), number(t, queues[ref(dead)]["MessageRetentionPeriod"]); other <= own {
			t.Errorf("%s keeps %d s, its dead letters %d s", id, own, other)
		}
	}
	if sources != 2 || len(queues) != 4 {
		t.Errorf("%d queues of %d have dead letters", sources, len(queues))
	}
	if least := number(t, under(template.Part("Parameters", "MaxReceives"), "MinValue")); least < 5 {
		t.Errorf("MaxReceives may be %d", least)
	}
}

// For a poll the next tick is the retry: both layers give up at once.
func TestTickIsNotRetried(t *testing.T) {
	t.Parallel()
	for minutes, rate := range map[string]string{"1": "rate(1 minute)", "5": "rate(5 minutes)", "60": "rate(1 hour)"} {
		template := read(t, cfn.Map{"TickMinutes": minutes})
		tick := template.OfType("AWS::Scheduler::Schedule")["Tick"]
		if tick["ScheduleExpression"] != rate {
			t.Errorf("%s minutes are %v", minutes, tick["ScheduleExpression"])
		}
		if want := (map[string]int{"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}); !same(under(tick, "Target", "RetryPolicy"), want) {
			t.Errorf("the schedule retries: %v", under(tick, "Target", "RetryPolicy"))
		}
		invoke := template.OfType("AWS::Lambda::EventInvokeConfig")["TickInvoke"]
		if number(t, invoke["MaximumRetryAttempts"]) != 0 || number(t, invoke["MaximumEventAgeInSeconds"]) != 60 || ref(invoke["FunctionName"]) != "PollFunction" {
			t.Errorf("Lambda retries: %v", invoke)
		}
	}
}

// The ticks' mapping says the same twice, once for the schedule and once for the code.
func TestTickSeconds(t *testing.T) {
	t.Parallel()
	template := read(t, nil)
	rows, _ := under(template.Part("Parameters", "TickMinutes"), "AllowedValues").([]any)
	for _, minutes := range rows {
		values := template.With(cfn.Map{"TickMinutes": minutes}).Resolve(template.Part("Globals", "Function"))
		if got := number(t, under(values, "Environment", "Variables", "TURNLEAF_TICK_SECONDS")); got != 60*number(t, minutes) {
			t.Errorf("%v minutes are %d seconds to the code", minutes, got)
		}
	}
}
