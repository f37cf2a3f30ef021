// A commit is applied and its answer never comes: the program asks what became of it.
// Run it: `go mod tidy && go test`. It needs icecheck on the PATH.
package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
)

const startMax = 20 * time.Second

type request struct {
	Status   int
	Answered bool
	Fault    string
}

// serve starts a catalog for one test and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	server := exec.Command("icecheck", "serve", "--port", "0", "--ready-file", ready, "--quiet")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		<-ended
	})
	for end := time.Now().Add(startMax); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var told struct{ URI string }
		if text, err := os.ReadFile(ready); err == nil && json.Unmarshal(text, &told) == nil {
			return told.URI
		}
	}
	t.Fatal("icecheck serve is not ready")
	return ""
}

// administer asks the administration of the catalog and reads its answer.
func administer(t *testing.T, uri, path string, body map[string]any, answer any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(uri+"/_mock/v1"+path, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		t.Fatalf("%s: %s", path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		t.Fatal(err)
	}
}

func TestACommitWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	ctx, uri := context.Background(), serve(t)
	catalog, err := rest.NewCatalog(ctx, "mock", uri, rest.WithWarehouseLocation("wh"))
	if err != nil {
		t.Fatal(err)
	}
	name := table.Identifier{"db", "orders"}
	if err := catalog.CreateNamespace(ctx, name[:1], nil); err != nil {
		t.Fatal(err)
	}
	id := iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64}
	orders, err := catalog.CreateTable(ctx, name, iceberg.NewSchema(0, id))
	if err != nil {
		t.Fatal(err)
	}

	var fault struct{ ID string }
	lose := map[string]any{"fault": "answer-lost", "table": "db.orders"}
	administer(t, uri, "/faults", lose, &fault)
	change := orders.NewTransaction()
	if err := change.SetProperties(iceberg.Properties{"owner": "sales"}); err != nil {
		t.Fatal(err)
	}
	if _, err := change.Commit(ctx); err == nil {
		t.Fatal("the commit was answered")
	}

	// An error says nothing about what the catalog did: the table does.
	if orders, err = catalog.LoadTable(ctx, name); err != nil {
		t.Fatal(err)
	}
	if owner := orders.Properties()["owner"]; owner != "sales" {
		t.Errorf("the owner is %q", owner)
	}
	var journal struct{ Requests []request }
	commits := map[string]any{"operation": "updateTable", "table": "db.orders"}
	administer(t, uri, "/requests/wait", map[string]any{"matching": commits}, &journal)
	want := request{Status: http.StatusOK, Answered: false, Fault: fault.ID}
	if len(journal.Requests) != 1 || journal.Requests[0] != want {
		t.Errorf("the catalog was asked %+v", journal.Requests)
	}
}
