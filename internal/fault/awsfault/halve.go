package awsfault

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// halve gives the first half of a call about many items, and a function that adds the other half to the answer as unprocessed. Nil if
// the call is not about several items.
func halve(in any) (some any, rest func(out any) any) {
	switch in := in.(type) {
	case *dynamodb.BatchGetItemInput:
		return halveGet(in)
	case *dynamodb.BatchWriteItemInput:
		return halveWrite(in)
	case *sqs.SendMessageBatchInput:
		return halveSend(in)
	}
	return nil, nil
}

func halveGet(in *dynamodb.BatchGetItemInput) (any, func(any) any) {
	half := *in
	half.RequestItems = maps.Clone(in.RequestItems)
	left := map[string]types.KeysAndAttributes{}
	for table, keys := range in.RequestItems {
		n := len(keys.Keys) / 2
		if n == 0 {
			return nil, nil
		}
		first, second := keys, keys
		first.Keys, second.Keys = slices.Clone(keys.Keys[:n]), slices.Clone(keys.Keys[n:])
		half.RequestItems[table], left[table] = first, second
	}
	return &half, func(out any) any {
		if o, ok := out.(*dynamodb.BatchGetItemOutput); ok && o != nil {
			o.UnprocessedKeys = left
		}
		return out
	}
}

func halveWrite(in *dynamodb.BatchWriteItemInput) (any, func(any) any) {
	half := *in
	half.RequestItems = maps.Clone(in.RequestItems)
	left := map[string][]types.WriteRequest{}
	for table, writes := range in.RequestItems {
		n := len(writes) / 2
		if n == 0 {
			return nil, nil
		}
		half.RequestItems[table], left[table] = writes[:n], writes[n:]
	}
	return &half, func(out any) any {
		if o, ok := out.(*dynamodb.BatchWriteItemOutput); ok && o != nil {
			o.UnprocessedItems = left
		}
		return out
	}
}

func halveSend(in *sqs.SendMessageBatchInput) (any, func(any) any) {
	n := len(in.Entries) / 2
	if n == 0 {
		return nil, nil
	}
	half := *in
	half.Entries = in.Entries[:n]
	return &half, func(out any) any {
		if o, ok := out.(*sqs.SendMessageBatchOutput); ok && o != nil {
			for _, e := range in.Entries[n:] {
				o.Failed = append(o.Failed, sqstypes.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError"), SenderFault: false})
			}
		}
		return out
	}
}
