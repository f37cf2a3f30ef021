package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.UpdateSchema;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Run it: {@code mvn test}. It needs icecheck on the PATH, and Java 17. */
class LostAnswerTest {
  private static final Duration START_MAX = Duration.ofSeconds(20);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir static Path directory;
  private static Process server;
  private static String uri;

  @BeforeAll
  static void startTheCatalog() throws Exception {
    Path ready = directory.resolve("ready.json");
    server =
        new ProcessBuilder("icecheck", "serve", "--port", "0", "--ready-file", ready.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("server.log").toFile())
            .start();
    Instant end = Instant.now().plus(START_MAX);
    while (!Files.exists(ready)) {
      assertTrue(server.isAlive(), "icecheck serve ended");
      assertTrue(Instant.now().isBefore(end), "icecheck serve is not ready");
      Thread.sleep(50);
    }
    uri = JSON.readTree(ready.toFile()).get("uri").asText();
  }

  @AfterAll
  static void stopTheCatalog() throws Exception {
    server.destroy();
    server.waitFor();
  }

  @Test
  void aChangeWhoseAnswerIsAnErrorMayHaveBeenMade() throws Exception {
    try (RESTCatalog catalog = connect()) {
      Table table = createTable(catalog, "changed");
      String fault = inject("commit-unknown", "db.changed");

      UpdateSchema change = table.updateSchema().addColumn("note", Types.StringType.get());
      assertThrows(CommitStateUnknownException.class, change::commit);

      table.refresh();
      assertNotNull(table.schema().findField("note"));
      assertCommittedOnce("db.changed", fault);
    }
  }

  @Test
  void anAppendWhoseAnswerIsAnErrorIsLookedForByTheClient() throws Exception {
    try (RESTCatalog catalog = connect()) {
      Table table = createTable(catalog, "appended");
      String fault = inject("commit-unknown", "db.appended");

      table.newAppend().appendFile(fileOf(table)).commit();

      // It is there once, and no manifest was removed as that of a failed append.
      assertEquals(1, count(table.snapshots()));
      assertEquals(1, count(table.currentSnapshot().addedDataFiles(table.io())));
      assertCommittedOnce("db.appended", fault);
    }
  }

  private static RESTCatalog connect() {
    RESTCatalog catalog = new RESTCatalog();
    catalog.initialize(
        "mock",
        Map.of(
            "uri", uri,
            "warehouse", "wh",
            "io-impl", "org.apache.iceberg.inmemory.InMemoryFileIO"));
    return catalog;
  }

  private static Table createTable(RESTCatalog catalog, String name) {
    Namespace namespace = Namespace.of("db");
    if (!catalog.namespaceExists(namespace)) {
      catalog.createNamespace(namespace);
    }
    Schema schema = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()));
    return catalog.createTable(TableIdentifier.of(namespace, name), schema);
  }

  private static DataFile fileOf(Table table) {
    return DataFiles.builder(table.spec())
        .withPath(table.location() + "/data/one.parquet")
        .withFileSizeInBytes(100)
        .withRecordCount(1)
        .build();
  }

  private static long count(Iterable<?> all) {
    return StreamSupport.stream(all.spliterator(), false).count();
  }

  private static String inject(String fault, String table) throws Exception {
    return administer("/faults", Map.of("fault", fault, "table", table)).get("id").asText();
  }

  private static void assertCommittedOnce(String table, String fault) throws Exception {
    Map<String, String> commits = Map.of("operation", "updateTable", "table", table);
    JsonNode journal = administer("/requests/wait", Map.of("matching", commits));
    assertEquals(1, journal.get("count").asInt());
    assertEquals(500, journal.at("/requests/0/status").asInt());
    assertEquals(fault, journal.at("/requests/0/fault").asText());
  }

  private static JsonNode administer(String path, Map<String, ?> body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(uri + "/_mock/v1" + path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(JSON.writeValueAsString(body)))
            .build();
    HttpResponse<String> answer = HTTP.send(request, BodyHandlers.ofString());
    assertTrue(answer.statusCode() < 300, answer.body());
    return JSON.readTree(answer.body());
  }
}
