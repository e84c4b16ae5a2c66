package aws

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// line is one kind of call, and what it consumed.
type line struct {
	step, call  string
	n           int
	read, write float64
}

// meter asks every call what it consumed, and adds it up by the step under way and the kind of call.
type meter struct {
	mu    sync.Mutex
	step  string
	lines []line
}

// next begins a step.
func (m *meter) next(step string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step = step
}

func (m *meter) install(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", m.handle), middleware.After)
	})
}

func (m *meter) handle(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	call := describe(in.Parameters)
	out, meta, err := next.HandleInitialize(ctx, in)
	if call != "" && err == nil {
		read, write := consumed(out.Result)
		if in, ok := in.Parameters.(*dynamodb.BatchGetItemInput); ok {
			read = bySize(in, out.Result)
		}
		m.add(call, read, write)
	}
	return out, meta, err
}

func (m *meter) add(call string, read, write float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, l := range m.lines {
		if l.step == m.step && l.call == call {
			m.lines[i].n, m.lines[i].read, m.lines[i].write = l.n+1, l.read+read, l.write+write
			return
		}
	}
	m.lines = append(m.lines, line{m.step, call, 1, read, write})
}

// table is the lines as a table of Markdown.
func (m *meter) table() string {
	var b strings.Builder
	b.WriteString("| step | call | calls | read units | write units |\n|---|---|---|---|---|\n")
	for _, l := range m.lines {
		fmt.Fprintf(&b, "| %s | %s | %d | %g | %g |\n", l.step, l.call, l.n, l.read, l.write)
	}
	return b.String()
}

// sum adds up a step.
func (m *meter) sum(step string) (read, write float64) {
	for _, l := range m.lines {
		if l.step == step {
			read, write = read+l.read, write+l.write
		}
	}
	return read, write
}

// describe asks a call for its units, and says what it is about: the kinds of its items. What is no call of a store gives "".
func describe(params any) string {
	total := types.ReturnConsumedCapacityTotal
	switch in := params.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = total
		return "get " + kinds(in.Key)
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = total
		return "put " + kinds(in.Item)
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = total
		return "update " + kinds(in.Key)
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = total
		prefix, _ := in.ExpressionAttributeValues[":prefix"].(*types.AttributeValueMemberS)
		if prefix == nil {
			return "query"
		}
		return "query " + kindOf(prefix.Value)
	case *dynamodb.BatchGetItemInput:
		var items []map[string]types.AttributeValue
		for _, k := range in.RequestItems {
			items = append(items, k.Keys...)
		}
		return "batch get " + kinds(items...)
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = total
		return "transaction: " + kinds(itemsOf(in)...)
	}
	return ""
}

func itemsOf(in *dynamodb.TransactWriteItemsInput) (items []map[string]types.AttributeValue) {
	for _, w := range in.TransactItems {
		switch {
		case w.Put != nil:
			items = append(items, w.Put.Item)
		case w.Update != nil:
			items = append(items, w.Update.Key)
		case w.Delete != nil:
			items = append(items, w.Delete.Key)
		case w.ConditionCheck != nil:
			items = append(items, w.ConditionCheck.Key)
		}
	}
	return items
}

// kinds counts items by kind: "RECEIPT ×25, DOC ×25".
func kinds(items ...map[string]types.AttributeValue) string {
	var order []string
	counts := map[string]int{}
	for _, it := range items {
		sk, _ := it["sk"].(*types.AttributeValueMemberS)
		if sk == nil {
			continue
		}
		k := kindOf(sk.Value)
		if pk, _ := it["pk"].(*types.AttributeValueMemberS); pk != nil && pk.Value == "STREAMS" {
			k = "STREAMS"
		}
		if counts[k]++; counts[k] == 1 {
			order = append(order, k)
		}
	}
	for i, k := range order {
		if counts[k] > 1 {
			order[i] = fmt.Sprintf("%s ×%d", k, counts[k])
		}
	}
	return strings.Join(order, ", ")
}

// kindOf is a sort key without its numbers and names.
func kindOf(sk string) string {
	parts := strings.Split(strings.TrimSuffix(sk, "#"), "#")
	if len(parts) > 2 && parts[0] == "PAGE" {
		return parts[2]
	}
	return parts[0]
}

// bySize counts a batch read by the rule: a unit for each key and started 4 KB, also where nothing lies, and half of it if the read may
// be stale. MiniStack 1.5.33 reports no units for a batch.
func bySize(in *dynamodb.BatchGetItemInput, result any) (units float64) {
	out, ok := result.(*dynamodb.BatchGetItemOutput)
	if !ok {
		return 0
	}
	for table, asked := range in.RequestItems {
		n := float64(len(asked.Keys) - len(out.Responses[table]))
		for _, it := range out.Responses[table] {
			bytes := 0
			for name, v := range it {
				bytes += len(name) + 21 // a number, at most
				if s, ok := v.(*types.AttributeValueMemberS); ok {
					bytes += len(s.Value)
				}
			}
			n += float64((bytes + 4095) / 4096)
		}
		if asked.ConsistentRead == nil || !*asked.ConsistentRead {
			n /= 2
		}
		units += n
	}
	return units
}

// consumed reads the units that an answer reports: of reads, or of writes.
func consumed(out any) (read, write float64) {
	units := func(c *types.ConsumedCapacity) float64 {
		if c == nil || c.CapacityUnits == nil {
			return 0
		}
		return *c.CapacityUnits
	}
	switch out := out.(type) {
	case *dynamodb.GetItemOutput:
		return units(out.ConsumedCapacity), 0
	case *dynamodb.QueryOutput:
		return units(out.ConsumedCapacity), 0
	case *dynamodb.PutItemOutput:
		return 0, units(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		return 0, units(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		for _, c := range out.ConsumedCapacity {
			write += units(&c)
		}
	}
	return read, write
}
