/** The admin port: its three paths, and its limits. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createReadiness, type Readiness } from "../../../src/admin/readiness.ts";
import { ADMIN_LIMITS, type AdminServer, createAdminServer } from "../../../src/admin/server.ts";
import { until } from "../../support/poll.ts";

let server: AdminServer | undefined;
afterEach(() => server?.close());

const EXPOSITION = { contentType: "text/plain; version=0.0.4", body: "# metrics\n" };

/** Starts a port; resolves to its number. */
async function start(
  readiness: Readiness = createReadiness(),
  metrics = async (_accept: string) => EXPOSITION,
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
  ["/", 404, "not found\n"],
  ["/%zz", 404, "not found\n"],
])("GET %s is answered with %i", async (path, status, text) => {
  const answer = await get(await start(), path);
  expect(answer).toMatchObject({ status, text });
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-type": `text/plain; ${path === "/metrics" ? "version=0.0.4" : "charset=utf-8"}`,
  });
});

it("HEAD is GET without the body, and other methods are refused with 405", async () => {
  const port = await start();
  expect(await get(port, "/livez", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  const refused = await get(port, "/metrics?a", { method: "POST", body: "x" });
  expect(refused).toMatchObject({ status: 405, text: "method not allowed\n" });
  expect(refused.headers.get("allow")).toBe("GET, HEAD");
});

it("/metrics gets the Accept header, and a failure of it is a 500 that shows nothing", async () => {
  let accepted: string | undefined;
  const port = await start(createReadiness(), async (accept) => {
    accepted = accept;
    throw new Error("secret");
  });
  const answer = await get(port, "/metrics", { headers: { accept: "text/x" } });
  expect(answer).toMatchObject({ status: 500, text: "internal error\n" });
  expect(accepted).toBe("text/x");
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

it("answers a probe while others hold all connections that it keeps", async () => {
  const port = await start();
  const { maxConnections } = ADMIN_LIMITS;
  const sockets = Array.from({ length: maxConnections }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) socket.on("error", () => {});
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  expect((await get(port, "/livez")).status).toBe(200);
  await until(() => sockets.some(({ closed }) => closed));
  expect(sockets.filter(({ closed }) => closed)).toEqual([sockets[0]]);
  for (const socket of sockets) socket.destroy();
});

it("refuses scrapes beyond its limit, answers probes all the same, and recovers", async () => {
  const pending: (() => void)[] = [];
  const port = await start(
    createReadiness(),
    () => new Promise((resolve) => pending.push(() => resolve(EXPOSITION))),
  );
  const waiting = Array.from({ length: ADMIN_LIMITS.maxScrapes }, () => get(port, "/metrics"));
  await until(() => pending.length === ADMIN_LIMITS.maxScrapes);
  expect(await get(port, "/metrics")).toMatchObject({
    status: 503,
    text: "too many requests are being answered\n",
  });
  for (const path of ["/livez", "/readyz"]) expect((await get(port, path)).status).toBe(200);
  for (const resolve of pending) resolve();
  expect((await Promise.all(waiting)).every(({ status }) => status === 200)).toBe(true);
  const scrape = get(port, "/metrics");
  await until(() => pending.length > ADMIN_LIMITS.maxScrapes);
  pending.at(-1)?.();
  expect((await scrape).status).toBe(200);
});
