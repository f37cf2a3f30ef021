// What a user of iceberg-go does with a catalog; run as `go run . URL WAREHOUSE`.
package main

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"
)

var schema = iceberg.NewSchema(0,
	iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64},
	iceberg.NestedField{ID: 2, Name: "word", Type: iceberg.PrimitiveTypes.String})

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func rows() arrow.Table {
	fields := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "word", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, fields)
	builder.Field(0).(*array.Int64Builder).Append(1)
	builder.Field(1).(*array.StringBuilder).Append("one")
	return array.NewTableFromRecords(fields, []arrow.Record{builder.NewRecord()})
}

func main() {
	url, warehouse := os.Args[1], os.Args[2]
	step := func(name string) { must(http.Get(url + "/step/" + name)).Body.Close() }
	ctx, space := context.Background(), table.Identifier{"recorded_space"}
	named := func(name string) table.Identifier { return table.Identifier{space[0], "recorded_" + name} }

	step("tables/connect")
	cat := must(rest.NewCatalog(ctx, "recorded", url, rest.WithWarehouseLocation(warehouse)))
	step("tables/create-namespace")
	check(cat.CreateNamespace(ctx, space, iceberg.Properties{}))
	step("tables/create-table")
	must(cat.CreateTable(ctx, named("orders"), schema))
	step("tables/load")
	orders := must(cat.LoadTable(ctx, named("orders")))
	step("tables/append")
	orders = must(orders.AppendTable(ctx, rows(), 1, nil))
	if read := must(orders.Scan().ToArrowTable(ctx)); read.NumRows() != 1 {
		panic("not one row")
	}
	step("tables/add-column")
	change := orders.NewTransaction()
	check(change.UpdateSchema(true, false).
		AddColumn([]string{"more"}, iceberg.PrimitiveTypes.String, "", false, nil).Commit())
	orders = must(change.Commit(ctx))
	if orders.Schema().NumFields() != 3 {
		panic("not three columns")
	}
	step("tables/list")
	listed := false
	for each, err := range cat.ListTables(ctx, space) {
		check(err)
		listed = listed || strings.Join(each, ".") == strings.Join(named("orders"), ".")
	}
	if !listed {
		panic("not listed")
	}
	step("tables/rename")
	must(cat.RenameTable(ctx, named("orders"), named("moved")))
	step("tables/drop-table")
	check(cat.DropTable(ctx, named("moved")))
	step("transactions/create-tables")
	both := must(catalog.NewMultiTableTransaction(cat))
	for _, name := range []string{"lines", "parts"} {
		one := must(cat.CreateTable(ctx, named(name), schema)).NewTransaction()
		check(one.AppendTable(ctx, rows(), 1, nil))
		check(both.AddTransaction(one))
	}
	step("transactions/commit")
	check(both.Commit(ctx))
	if must(cat.LoadTable(ctx, named("lines"))).CurrentSnapshot() == nil {
		panic("no snapshot")
	}
	step("transactions/drop-tables")
	check(cat.DropTable(ctx, named("lines")))
	check(cat.DropTable(ctx, named("parts")))
	step("views/create-view")
	version := must(view.NewVersionFromSQL(1, 0, "SELECT 1 AS id", space))
	must(cat.CreateView(ctx, named("shown"), version, schema))
	step("views/load-view")
	must(cat.LoadView(ctx, named("shown")))
	step("views/drop-view")
	check(cat.DropView(ctx, named("shown")))
	step("tables/drop-namespace")
	check(cat.DropNamespace(ctx, space))
}
