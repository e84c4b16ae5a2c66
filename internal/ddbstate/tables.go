package ddbstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// IndexHolds is the sparse index of Receipts that lists holds: only items with held_stream are in it.
const IndexHolds = "holds"

// TTLAttribute is the second after which DynamoDB may drop an item of Receipts. It only cleans: nothing is decided by it.
const TTLAttribute = "expires_at"

// Definitions are the three tables as the template declares them, all on demand; the template adds recovery and deletion protection,
// and both switch TTL on for Receipts.
func Definitions(t Tables) []*dynamodb.CreateTableInput {
	streams, receipts, projections := definition(t.Streams), definition(t.Receipts), definition(t.Projections)
	receipts.AttributeDefinitions = append(receipts.AttributeDefinitions, attribute("held_stream"), attribute("held_at"))
	receipts.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName: aws.String(IndexHolds), KeySchema: schema("held_stream", "held_at"),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}}
	return []*dynamodb.CreateTableInput{streams, receipts, projections}
}

func definition(table string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest, KeySchema: schema("pk", "sk"),
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
	}
}

func attribute(name string) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
}

func schema(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
	}
}

// tableWait bounds how long a new table may take to become active.
const tableWait = 2 * time.Minute

// CreateTables makes those tables that do not exist, and waits for them: for tests and a local cloud. A deployment's come from its
// template.
func CreateTables(ctx context.Context, client *dynamodb.Client, t Tables) error {
	for _, in := range Definitions(t) {
		made, err := create(ctx, client, in)
		if err == nil && made && *in.TableName == t.Receipts {
			_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
				TableName:               &t.Receipts,
				TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(TTLAttribute), Enabled: aws.Bool(true)},
			})
		}
		if err != nil {
			return fmt.Errorf("create table %s: %w", *in.TableName, err)
		}
	}
	return nil
}

func create(ctx context.Context, client *dynamodb.Client, in *dynamodb.CreateTableInput) (made bool, err error) {
	_, err = client.CreateTable(ctx, in)
	var there *types.ResourceInUseException
	if made = err == nil; !made && !errors.As(err, &there) {
		return false, err
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 200 * time.Millisecond })
	return made, waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: in.TableName}, tableWait)
}
