// A busy catalog refuses a commit: the job waits and asks again, and the commit is made once.
// Run it: `npm install && npm test`. It needs icecheck on the PATH, and Node.js 22.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { IcebergError, IcebergRestCatalog } from "iceberg-js";

const START_MS_MAX = 20_000;
const directory = mkdtempSync(join(tmpdir(), "icecheck-"));
let server, uri;

before(async () => {
  const ready = join(directory, "ready.json");
  server = spawn("icecheck", ["serve", "--port", "0", "--ready-file", ready, "--quiet"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  let ended;
  server.on("error", (error) => (ended = error.message));
  server.on("exit", (code) => (ended ??= `icecheck serve ended with ${code}`));
  for (const end = Date.now() + START_MS_MAX; uri === undefined; await sleep(50)) {
    assert.equal(ended, undefined);
    assert.ok(Date.now() < end, "icecheck serve is not ready");
    try {
      uri = JSON.parse(readFileSync(ready, "utf8")).uri;
    } catch {
      // The file is not there yet.
    }
  }
});

after(() => {
  server.kill();
  rmSync(directory, { recursive: true });
});

async function administer(method, path, body) {
  const answer = await fetch(`${uri}/_mock/v1${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** Commit a change; while the catalog says that it is busy, wait and send it again. */
async function commitPatiently(catalog, table, change) {
  for (;;) {
    try {
      return await catalog.updateTable(table, change);
    } catch (error) {
      if (!(error instanceof IcebergError && error.status === 429)) throw error;
      await sleep(100);
    }
  }
}

test("a commit that is refused twice is made once", async () => {
  const catalog = new IcebergRestCatalog({ baseUrl: uri, catalogName: "wh" });
  const orders = { namespace: ["db"], name: "orders" };
  const schema = {
    type: "struct",
    fields: [{ id: 1, name: "id", type: "long", required: true }],
  };
  await catalog.createNamespace({ namespace: ["db"] });
  await catalog.createTable({ namespace: ["db"] }, { name: "orders", schema });

  const fault = await administer("POST", "/faults", {
    fault: "throttled",
    operation: "updateTable",
    table: "db.orders",
    times: 2,
  });
  await commitPatiently(catalog, orders, {
    requirements: [],
    updates: [{ action: "set-properties", updates: { owner: "sales" } }],
  });

  assert.equal((await catalog.loadTable(orders)).properties.owner, "sales");
  const { requests } = await administer("POST", "/requests/wait", {
    matching: { operation: "updateTable", table: "db.orders" },
    count: 3,
  });
  assert.deepEqual(
    requests.map(({ status, fault }) => [status, fault]),
    [[429, fault.id], [429, fault.id], [200, ""]],
  );
});
