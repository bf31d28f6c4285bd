/** The admin port: its three paths, and its limits. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
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

/** Opens connections; resolves once the port has accepted them. */
function open(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  return Promise.all(
    sockets.map(async (socket) => {
      await once(
        socket.on("error", () => {}),
        "connect",
      );
      return socket;
    }),
  );
}

/** Asks on an open connection. Resolves to the first bytes of the response. */
async function ask(socket: Socket, path: string): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [bytes] = await once(socket, "data");
  return String(bytes);
}

const isOpen = ({ destroyed }: Socket) => !destroyed;

describe("with as many connections as it keeps", () => {
  const { maxConnections } = ADMIN_LIMITS;
  const probe = async (port: number) => {
    // A kubelet's: on a connection of its own.
    const answer = await get(port, "/livez", { headers: { connection: "close" } });
    return answer.status;
  };

  it("a probe comes through, and the one that was idle longest goes", async () => {
    const port = await start();
    const sockets = await open(port, maxConnections);
    const uses = [
      () => {},
      (socket: Socket) => socket.write("GET /"),
      (socket: Socket) => ask(socket, "/readyz"),
    ];
    for (const [nth, socket] of sockets.entries()) await uses[nth % 3]?.(socket);
    expect(await Promise.all(Array.from({ length: 20 }, () => probe(port)))).toEqual(
      Array(20).fill(200),
    );
    await until(() => !sockets.slice(0, 1).some(isOpen));
    expect(sockets.filter(isOpen).length).toBeGreaterThanOrEqual(maxConnections - 20);
    for (const socket of sockets) socket.destroy();
  });
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
  expect((await get(port, "/livez")).status).toBe(200);
  expect((await get(port, "/readyz")).status).toBe(200);
  for (const resolve of pending) resolve();
  expect((await Promise.all(waiting)).every(({ status }) => status === 200)).toBe(true);
  const scrape = until(async () => (await get(port, "/metrics")).status === 200);
  await until(() => pending.length > ADMIN_LIMITS.maxScrapes);
  pending.at(-1)?.();
  await scrape;
});
