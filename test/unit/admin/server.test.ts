/** The admin port: its three paths, and its limits. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createReadiness, type Readiness } from "../../../src/admin/readiness.ts";
import { ADMIN_LIMITS, type AdminServer, createAdminServer } from "../../../src/admin/server.ts";
import { until } from "../../support/poll.ts";

let server: AdminServer | undefined;
afterEach(() => server?.close());

/** Starts a port; resolves to its number. */
async function start(
  readiness: Readiness = createReadiness(),
  metrics = async () => "# metrics\n",
): Promise<number> {
  server = createAdminServer({ metrics, readiness });
  return server.listen("127.0.0.1", 0);
}

const get = async (port: number, path: string, init?: RequestInit) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
};

it.each([
  ["/livez", 200, "ok\n"],
  ["/readyz", 200, "ok\n"],
  ["/readyz?verbose", 200, "[+]shutdown ok\n[+]schema ok\n[+]database ok\nreadyz check passed\n"],
  ["/metrics", 200, "# metrics\n"],
])("GET %s is answered with %i", async (path, status, text) => {
  const answer = await get(await start(), path);
  expect(answer).toMatchObject({ status, text });
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-type": `text/plain; ${path === "/metrics" ? "version=0.0.4; " : ""}charset=utf-8`,
  });
});

it("HEAD is GET without the body, and nothing else is served", async () => {
  const port = await start();
  expect(await get(port, "/livez", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  for (const path of ["/", "/api/provider/revenue"]) {
    expect(await get(port, path)).toMatchObject({ status: 404 });
  }
  expect(await get(port, "/metrics", { method: "POST", body: "x" })).toMatchObject({ status: 404 });
});

it("a failure of /metrics is a 500 that shows nothing", async () => {
  const port = await start(createReadiness(), async () => {
    throw new Error("secret");
  });
  const answer = await get(port, "/metrics");
  expect(answer).toMatchObject({ status: 500, text: "internal error\n" });
});

describe("/readyz", () => {
  it("fails with the checks while one fails, and /livez does not", async () => {
    const readiness = createReadiness();
    const port = await start(readiness);
    readiness.set("database", "connections failed");
    expect(await get(port, "/readyz")).toMatchObject({
      status: 503,
      text: "[+]shutdown ok\n[+]schema ok\n[-]database failed: connections failed\nreadyz check failed\n",
    });
    expect((await get(port, "/livez")).status).toBe(200);
    readiness.set("database", undefined);
    expect((await get(port, "/readyz")).status).toBe(200);
  });

  it("tells each change of the whole once", () => {
    const changes: unknown[] = [];
    const readiness = createReadiness((ready, failed) => changes.push([ready, ...failed]));
    readiness.set("database", undefined);
    readiness.set("database", "a");
    readiness.set("database", "b");
    readiness.set("schema", "c");
    readiness.set("database", undefined);
    expect(readiness.isReady()).toBe(false);
    readiness.set("schema", undefined);
    expect(changes).toEqual([[false, "database"], [true]]);
  });
});

it("holds no more connections than its limit, and answers again when one has ended", async () => {
  const port = await start();
  const sockets = Array.from({ length: ADMIN_LIMITS.maxConnections }, () =>
    connect(port, "127.0.0.1"),
  );
  for (const socket of sockets) socket.on("error", () => {});
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  await expect(get(port, "/livez")).rejects.toThrow("fetch failed");
  sockets[0]?.destroy();
  await until(() =>
    get(port, "/livez").then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  for (const socket of sockets) socket.destroy();
});
