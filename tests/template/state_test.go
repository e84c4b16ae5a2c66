package template

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// schemaOf writes a table of the code as the template writes one.
func schemaOf(in *dynamodb.CreateTableInput) cfn.Map {
	var attributes, indexes []any
	for _, a := range in.AttributeDefinitions {
		attributes = append(attributes, cfn.Map{"AttributeName": *a.AttributeName, "AttributeType": string(a.AttributeType)})
	}
	for _, x := range in.GlobalSecondaryIndexes {
		indexes = append(indexes, cfn.Map{
			"IndexName": *x.IndexName, "KeySchema": keysOf(x.KeySchema), "Projection": cfn.Map{"ProjectionType": string(x.Projection.ProjectionType)},
		})
	}
	out := cfn.Map{"BillingMode": string(in.BillingMode), "AttributeDefinitions": attributes, "KeySchema": keysOf(in.KeySchema)}
	if indexes != nil {
		out["GlobalSecondaryIndexes"] = indexes
	}
	return out
}

func keysOf(schema []types.KeySchemaElement) (list []any) {
	for _, k := range schema {
		list = append(list, cfn.Map{"AttributeName": *k.AttributeName, "KeyType": string(k.KeyType)})
	}
	return list
}

func TestTablesAreTheCodes(t *testing.T) {
	t.Parallel()
	tables := read(t, nil).OfType("AWS::DynamoDB::Table")
	want := ddbstate.Definitions(ddbstate.Tables{Streams: "StreamsTable", Receipts: "ReceiptsTable", Projections: "ProjectionsTable"})
	if len(tables) != len(want) {
		t.Errorf("%d tables, the code has %d", len(tables), len(want))
	}
	for _, in := range want {
		got := cfn.Map{}
		for _, name := range []string{"BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes"} {
			if v, ok := tables[*in.TableName][name]; ok {
				got[name] = v
			}
		}
		if !same(got, schemaOf(in)) {
			t.Errorf("%s is\n%v, the code's is\n%v", *in.TableName, got, schemaOf(in))
		}
	}
}

// Whatever happens to the stack, state and archive stay, can be put back, and are not deleted by a slip of the hand.
func TestStateOutlivesTheStack(t *testing.T) {
	t.Parallel()
	template, kept := read(t, nil), 0
	for id, r := range template.Resources() {
		if r.Type != "AWS::DynamoDB::Table" && r.Type != "AWS::S3::Bucket" {
			continue
		}
		kept++
		if r.Raw["DeletionPolicy"] != "Retain" || r.Raw["UpdateReplacePolicy"] != "Retain" {
			t.Errorf("%s goes with the stack", id)
		}
	}
	if kept != 4 {
		t.Errorf("%d tables and buckets", kept)
	}
	for id, table := range template.OfType("AWS::DynamoDB::Table") {
		if table["DeletionProtectionEnabled"] != "true" {
			t.Errorf("%s has no deletion protection", id)
		}
		if under(table, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
			t.Errorf("%s cannot be restored", id)
		}
		expires := under(table, "TimeToLiveSpecification", "AttributeName")
		if want := id != "ProjectionsTable"; (expires == ddbstate.TTLAttribute) != want {
			t.Errorf("%s: TTL is on %v", id, expires)
		}
	}
}
