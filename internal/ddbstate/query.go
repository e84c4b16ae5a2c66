package ddbstate

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// selection says what a query or a scan reads, in order of key.
type selection struct {
	table, index string
	where        string // key condition; empty scans the whole table
	filter       string
	values       values
	after        item // the key to go on after
}

// query reads up to limit items, or all with 0. An answer may end anywhere (at 1 MB, or at what the filter left out), so only a missing
// last key is the end.
func (s *Store) query(ctx context.Context, sel selection, limit int) ([]item, error) {
	its, _, err := s.page(ctx, sel, limit)
	return its, err
}

// page is query, and whether more may follow.
func (s *Store) page(ctx context.Context, sel selection, limit int) (its []item, more bool, err error) {
	for {
		got, last, err := s.ask(ctx, sel, limit-len(its))
		if err != nil {
			return nil, false, err
		}
		its = append(its, got...)
		if limit > 0 && len(its) >= limit {
			return its[:limit], len(last) > 0 || len(its) > limit, nil
		}
		if len(last) == 0 {
			return its, false, nil
		}
		sel.after = last
	}
}

// leastAsked keeps a small listing from asking in crumbs where a filter leaves most items out.
const leastAsked = 100

// ask sends one request for about missing more items; 0 or less is no limit.
func (s *Store) ask(ctx context.Context, sel selection, missing int) (its []item, last item, err error) {
	var limit *int32
	if missing > 0 && sel.filter == "" {
		limit = aws.Int32(int32(min(missing, 1000)))
	} else if missing > 0 {
		limit = aws.Int32(int32(min(max(3*missing, leastAsked), 1000)))
	}
	names := named("", sel.where, sel.filter)
	if sel.where == "" {
		out, err := s.api.Scan(ctx, &dynamodb.ScanInput{
			TableName: &sel.table, FilterExpression: optional(sel.filter), ExpressionAttributeNames: names, ExpressionAttributeValues: sel.values,
			ConsistentRead: aws.Bool(true), ExclusiveStartKey: sel.after, Limit: limit,
		})
		if err != nil {
			return nil, nil, err
		}
		return out.Items, out.LastEvaluatedKey, nil
	}
	out, err := s.api.Query(ctx, &dynamodb.QueryInput{
		TableName: &sel.table, IndexName: optional(sel.index), KeyConditionExpression: &sel.where, FilterExpression: optional(sel.filter),
		ExpressionAttributeNames: names, ExpressionAttributeValues: sel.values, ConsistentRead: aws.Bool(sel.index == ""),
		ExclusiveStartKey: sel.after, Limit: limit,
	})
	if err != nil {
		return nil, nil, err
	}
	return out.Items, out.LastEvaluatedKey, nil
}

// errMark refuses a place that no listing gave.
func errMark() error {
	return &handoff.InvalidError{Reason: "the place to go on from is not one that a listing gave"}
}
