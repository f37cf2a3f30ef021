//! What a user of iceberg-rust does with a catalog; run as `cargo run -- URL WAREHOUSE`.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use iceberg::io::LocalFsStorageFactory;
use iceberg::spec::{
    DataContentType, DataFileBuilder, DataFileFormat, NestedField, PrimitiveType, Schema, Struct, Type,
};
use iceberg::transaction::{AddColumn, ApplyTransactionAction, Transaction};
use iceberg::{Catalog, CatalogBuilder, NamespaceIdent, TableCreation, TableIdent};
use iceberg_catalog_rest::{
    REST_CATALOG_PROP_URI, REST_CATALOG_PROP_WAREHOUSE, RestCatalogBuilder,
};

fn step(url: &str, name: &str) {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /step/{name} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
}

#[tokio::main]
async fn main() -> iceberg::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let (url, warehouse) = (&arguments[1], &arguments[2]);
    let space = NamespaceIdent::new("recorded_space".to_string());
    let orders = TableIdent::new(space.clone(), "recorded_orders".to_string());
    let moved = TableIdent::new(space.clone(), "recorded_moved".to_string());

    step(url, "tables/connect");
    let properties = HashMap::from([
        (REST_CATALOG_PROP_URI.to_string(), url.clone()),
        (REST_CATALOG_PROP_WAREHOUSE.to_string(), warehouse.clone()),
    ]);
    let catalog = RestCatalogBuilder::default()
        .with_storage_factory(Arc::new(LocalFsStorageFactory))
        .load("recorded", properties)
        .await?;
    step(url, "tables/create-namespace");
    catalog.create_namespace(&space, HashMap::new()).await?;
    step(url, "tables/create-table");
    let schema = Schema::builder()
        .with_fields(vec![
            NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Long)).into(),
            NestedField::optional(2, "word", Type::Primitive(PrimitiveType::String)).into(),
        ])
        .build()?;
    let creation = TableCreation::builder()
        .name(orders.name().to_string())
        .schema(schema)
        .build();
    catalog.create_table(&space, creation).await?;
    step(url, "tables/load");
    let table = catalog.load_table(&orders).await?;
    step(url, "tables/append");
    let file = DataFileBuilder::default()
        .content(DataContentType::Data)
        .file_path(format!("{}/data/one.parquet", table.metadata().location()))
        .file_format(DataFileFormat::Parquet)
        .file_size_in_bytes(100)
        .record_count(1)
        .partition_spec_id(table.metadata().default_partition_spec_id())
        .partition(Struct::empty())
        .build()
        .unwrap();
    let change = Transaction::new(&table);
    let change = change.fast_append().add_data_files(vec![file]).apply(change)?;
    let table = change.commit(&catalog).await?;
    assert!(table.metadata().current_snapshot().is_some());
    step(url, "tables/add-column");
    let change = Transaction::new(&table);
    let more = AddColumn::optional("more", Type::Primitive(PrimitiveType::String));
    let change = change.update_schema().add_column(more).apply(change)?;
    let table = change.commit(&catalog).await?;
    assert!(table.metadata().current_schema().field_by_name("more").is_some());
    step(url, "tables/list");
    assert!(catalog.list_tables(&space).await?.contains(&orders));
    step(url, "tables/rename");
    catalog.rename_table(&orders, &moved).await?;
    step(url, "tables/drop-table");
    catalog.drop_table(&moved).await?;
    step(url, "tables/drop-namespace");
    catalog.drop_namespace(&space).await?;
    Ok(())
}
