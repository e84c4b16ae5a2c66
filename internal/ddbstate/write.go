package ddbstate

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// write is one item's part of a write: exactly one of put, update, remove and check.
type write struct {
	table string
	key   key
	when  condition

	item   item    // put
	update *update // update
	remove bool    // delete; if none of the three, the condition is only checked
	// wantOld asks a failed condition for the item that stood in the way.
	wantOld bool
}

func (w write) oldOnFailure() types.ReturnValuesOnConditionCheckFailure {
	if w.wantOld {
		return types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.ReturnValuesOnConditionCheckFailureNone
}

// optional is nil for an empty text, which DynamoDB refuses.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// transact is the write as an item of a transaction.
func (w write) transact() types.TransactWriteItem {
	names, vals := named("", w.when.text), merged(w.when.values, nil)
	switch {
	case w.item != nil:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: &w.table, Item: w.item, ConditionExpression: optional(w.when.text),
			ExpressionAttributeNames: names, ExpressionAttributeValues: vals, ReturnValuesOnConditionCheckFailure: w.oldOnFailure(),
		}}
	case w.update != nil:
		return types.TransactWriteItem{Update: &types.Update{
			TableName: &w.table, Key: w.key.attributes(), ConditionExpression: optional(w.when.text), UpdateExpression: &w.update.text,
			ExpressionAttributeNames:            named(w.update.start, w.when.text, w.update.text),
			ExpressionAttributeValues:           merged(w.when.values, w.update.values),
			ReturnValuesOnConditionCheckFailure: w.oldOnFailure(),
		}}
	case w.remove:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &w.table, Key: w.key.attributes(), ConditionExpression: optional(w.when.text),
			ExpressionAttributeNames: names, ExpressionAttributeValues: vals,
		}}
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &w.table, Key: w.key.attributes(), ConditionExpression: &w.when.text,
		ExpressionAttributeNames: names, ExpressionAttributeValues: vals,
	}}
}

// transactAll carries several writes out, all or none. The SDK gives each call a fresh ClientRequestToken and keeps it over its own
// retries, so that a lost answer does not cancel its own success. A repeat by our caller is another call: it is refused, and what
// stands then carries the token that the caller wrote into the item.
func (s *Store) transactAll(ctx context.Context, ws []write) error {
	if err := fits(ws); err != nil {
		return err
	}
	in := &dynamodb.TransactWriteItemsInput{}
	for _, w := range ws {
		in.TransactItems = append(in.TransactItems, w.transact())
	}
	_, err := s.api.TransactWriteItems(ctx, in)
	return err
}

// put carries out one put: half the price of a transaction.
func (s *Store) put(ctx context.Context, w write) error {
	if err := fits([]write{w}); err != nil {
		return err
	}
	_, err := s.api.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &w.table, Item: w.item, ConditionExpression: optional(w.when.text), ExpressionAttributeNames: named("", w.when.text),
		ExpressionAttributeValues: merged(w.when.values, nil), ReturnValuesOnConditionCheckFailure: w.oldOnFailure(),
	})
	return err
}

// change carries out one update and returns the item after it.
func (s *Store) change(ctx context.Context, w write) (item, error) {
	if err := fits([]write{w}); err != nil {
		return nil, err
	}
	out, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &w.table, Key: w.key.attributes(), ConditionExpression: optional(w.when.text), UpdateExpression: &w.update.text,
		ExpressionAttributeNames:            named(w.update.start, w.when.text, w.update.text),
		ExpressionAttributeValues:           merged(w.when.values, w.update.values),
		ReturnValuesOnConditionCheckFailure: w.oldOnFailure(),
		ReturnValues:                        types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// read gives one item, or handoff.ErrNotFound.
func (s *Store) read(ctx context.Context, table string, k key) (item, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &table, Key: k.attributes(), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	if len(out.Item) == 0 {
		return nil, handoff.ErrNotFound
	}
	return out.Item, nil
}
