package roles

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// use is an IAM action and the table, index or bucket that it works on, by the name that was sent.
type use struct{ action, name, index string }

// usesOf gives the IAM actions that a call needs. A transaction has none of its own: each of its items has. A call that is not
// listed gives false, so that a new one cannot pass unseen.
func usesOf(params any) (uses []use, known bool) {
	one := func(action string, name *string) ([]use, bool) { return []use{{action: action, name: *name}}, true }
	switch in := params.(type) {
	case *dynamodb.GetItemInput:
		return one("dynamodb:GetItem", in.TableName)
	case *dynamodb.PutItemInput:
		return one("dynamodb:PutItem", in.TableName)
	case *dynamodb.UpdateItemInput:
		return one("dynamodb:UpdateItem", in.TableName)
	case *dynamodb.ScanInput:
		return one("dynamodb:Scan", in.TableName)
	case *dynamodb.QueryInput:
		u := use{action: "dynamodb:Query", name: *in.TableName}
		if in.IndexName != nil {
			u.index = *in.IndexName
		}
		return []use{u}, true
	case *dynamodb.BatchGetItemInput:
		return tables("dynamodb:BatchGetItem", in.RequestItems), true
	case *dynamodb.BatchWriteItemInput:
		return tables("dynamodb:BatchWriteItem", in.RequestItems), true
	case *dynamodb.TransactWriteItemsInput:
		for _, it := range in.TransactItems {
			uses = append(uses, part(it))
		}
		return uses, true
	}
	return objectUses(params)
}

func tables[T any](action string, items map[string]T) (uses []use) {
	for name := range items {
		uses = append(uses, use{action: action, name: name})
	}
	return uses
}

func part(it types.TransactWriteItem) use {
	switch {
	case it.Put != nil:
		return use{action: "dynamodb:PutItem", name: *it.Put.TableName}
	case it.Update != nil:
		return use{action: "dynamodb:UpdateItem", name: *it.Update.TableName}
	case it.Delete != nil:
		return use{action: "dynamodb:DeleteItem", name: *it.Delete.TableName}
	default:
		return use{action: "dynamodb:ConditionCheckItem", name: *it.ConditionCheck.TableName}
	}
}

// everyKey marks an action on objects, not on the bucket.
const everyKey = "*"

// objectUses: to read a key is also to be told that it is not there, for which S3 asks for ListBucket.
func objectUses(params any) ([]use, bool) {
	switch in := params.(type) {
	case *s3.PutObjectInput:
		return []use{{"s3:PutObject", *in.Bucket, everyKey}}, true
	case *s3.GetObjectInput:
		return []use{{"s3:GetObject", *in.Bucket, everyKey}, {action: "s3:ListBucket", name: *in.Bucket}}, true
	case *s3.CopyObjectInput:
		return []use{{"s3:GetObject", *in.Bucket, everyKey}, {"s3:PutObject", *in.Bucket, everyKey}}, true
	case *s3.ListObjectsV2Input:
		return []use{{action: "s3:ListBucket", name: *in.Bucket}}, true
	}
	return nil, false
}

// Operations maps a method of an SDK client to the actions it may need, without the resource. Of a transaction it needs some.
var Operations = map[string][]string{
	"dynamodb.BatchGetItem":         {"dynamodb:BatchGetItem"},
	"dynamodb.BatchWriteItem":       {"dynamodb:BatchWriteItem"},
	"dynamodb.GetItem":              {"dynamodb:GetItem"},
	"dynamodb.PutItem":              {"dynamodb:PutItem"},
	"dynamodb.Query":                {"dynamodb:Query"},
	"dynamodb.Scan":                 {"dynamodb:Scan"},
	"dynamodb.UpdateItem":           {"dynamodb:UpdateItem"},
	"s3.CopyObject":                 {"s3:GetObject", "s3:PutObject"},
	"s3.GetObject":                  {"s3:GetObject", "s3:ListBucket"},
	"s3.ListObjectsV2":              {"s3:ListBucket"},
	"s3.PutObject":                  {"s3:PutObject"},
	"secretsmanager.GetSecretValue": {"secretsmanager:GetSecretValue"},
	"sqs.SendMessageBatch":          {"sqs:SendMessage"},
	"ssm.GetParameter":              {"ssm:GetParameter"},
}

// Transaction is the SDK's method that writes several items, and what its items may need.
const Transaction = "dynamodb.TransactWriteItems"

// TransactionActions are what the items of a transaction may need.
var TransactionActions = []string{"dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}
