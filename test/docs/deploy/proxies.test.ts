/**
 * The configurations of nginx and HAProxy, in the real programs, in front of two instances: under load through
 * both proxies each instance is stopped and started once, as `systemctl restart` does, and no call is lost.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { methodOf, requestMessage } from "../../support/clients/client.ts";
import { callGrpc } from "../../support/clients/grpc-client.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { createAuthority } from "../../support/tls/certificates.ts";
import { rootFile } from "../markdown.ts";
import { type DebianProgram, findDebianProgram } from "./debian-program.ts";

const PROXIES = ["nginx", "haproxy"] as const;
/** Clients of each protocol for each proxy. */
const CONNECTIONS = 2;
type Proxy = (typeof PROXIES)[number];

const folder = mkdtempSync(join(tmpdir(), "revenue-proxies-"));
const file = (name: string) => join(folder, name);

let ca: string;
let key: string;
let database: TestDatabase;
let programs: Readonly<Record<Proxy, DebianProgram>>;
/** The environments of the two instances, which keep their ports. */
let instances: Readonly<Record<string, string>>[];
let services: ServiceProcess[];
/** The ports of each proxy: as 443 and as 8443. */
const ports = {} as Record<Proxy, readonly [http: number, grpc: number]>;
const running: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = [];

beforeAll(() => {
  programs = {
    nginx: findDebianProgram("nginx", "usr/sbin/nginx"),
    haproxy: findDebianProgram("haproxy", "usr/sbin/haproxy"),
  };
});

beforeAll(async () => {
  const authority = await createAuthority();
  const pair = await authority.issue();
  ca = authority.cert;
  writeFileSync(file("tls.crt"), pair.cert);
  writeFileSync(file("tls.key"), pair.key);
  writeFileSync(file("tls.pem"), `${pair.cert}\n${pair.key}`);
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
  instances = [];
  for (const _ of [1, 2]) {
    const [HTTP_PORT, GRPC_PORT, ADMIN_PORT] = [await port(), await port(), await port()];
    // The defaults of the service, which tests shorten otherwise.
    const stop = { STOP_LAME_DUCK_MS: "5000", STOP_GRACE_MS: "10000" };
    instances.push({ HTTP_PORT, GRPC_PORT, ADMIN_PORT, ...stop, TRUSTED_PROXIES: "127.0.0.1" });
  }
  services = await Promise.all(
    instances.map((environment) => startService(database.url, environment)),
  );
  for (const proxy of PROXIES) await startProxy(proxy);
});

afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill("SIGTERM");
    await ended;
  }
  for (const service of services ?? []) await service.kill();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const port = async () => `${await freePort()}`;

/** The shipped file with addresses and paths of this test. Each of them is in it. */
function placed(path: string, proxy: Proxy): string {
  const [http, grpc] = ports[proxy];
  const changes: [string | RegExp, string][] = [
    ["/etc/revenue/", `${folder}/`],
    [/(?<=(listen |bind :))443\b/, `${http}`],
    [/(?<=(listen |bind :))8443\b/, `${grpc}`],
    ...instances.flatMap(({ HTTP_PORT, GRPC_PORT }, index): [string, string][] => [
      [`127.0.0.1:808${index + 1}`, `127.0.0.1:${HTTP_PORT}`],
      [`127.0.0.1:5005${index + 1}`, `127.0.0.1:${GRPC_PORT}`],
    ]),
    ...(proxy === "nginx" ? [] : instances).map(({ ADMIN_PORT }, index): [RegExp, string] => [
      new RegExp(`(?<=port )946${index + 1}\\b`, "g"),
      `${ADMIN_PORT}`,
    ]),
  ];
  return changes.reduce((text, [from, to]) => {
    expect(text).toMatch(from);
    return typeof from === "string" ? text.replaceAll(from, to) : text.replace(from, to);
  }, rootFile(path));
}

/** Starts a proxy as Debian does, in the foreground, and waits until it answers. */
async function startProxy(proxy: Proxy): Promise<void> {
  ports[proxy] = [await freePort(), await freePort()];
  const { path, env } = programs[proxy];
  const args = proxy === "nginx" ? nginxArguments() : haproxyArguments();
  const child = spawn(path, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push({ child, ended: once(child, "exit") });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${proxy} ended:\n${output}`);
    return get(proxy, "/openapi.json", "start").then(
      (status) => status === 200,
      () => false,
    );
  });
}

function nginxArguments(): string[] {
  writeFileSync(file("revenue.conf"), placed("deploy/nginx/revenue.conf", "nginx"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${file(name)};`,
  );
  const lines = [
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    `daemon off; pid ${file("nginx.pid")}; error_log stderr;`,
    `events {} http { access_log off; ${temporary.join(" ")} include ${file("revenue.conf")}; }`,
  ];
  writeFileSync(file("nginx.conf"), `${lines.join("\n")}\n`);
  return ["-e", "stderr", "-c", file("nginx.conf")];
}

function haproxyArguments(): string[] {
  writeFileSync(file("haproxy.cfg"), `global\n${placed("deploy/haproxy/revenue.cfg", "haproxy")}`);
  return ["-db", "-f", file("haproxy.cfg")];
}

/** One GET. Rejects if there is no complete response. */
async function get(proxy: Proxy, path: string, id: string, agent?: HttpsAgent): Promise<number> {
  const headers = { "x-api-key": key, "x-request-id": `${proxy}-${id}` };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const url = `https://localhost:${ports[proxy][0]}${path}`;
  httpsRequest(url, { ca, headers, ...(agent && { agent }) }, (response) => {
    buffer(response).then(() => resolve(response.statusCode ?? 0), reject);
  })
    .once("error", reject)
    .end();
  return promise;
}

/** Sends one call after the other through a proxy. Each tells what was lost; undefined if nothing was. */
function callers(proxy: Proxy): Record<string, () => Promise<string | undefined>> {
  const [http, grpc] = ports[proxy];
  const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
  const client = new Client(`localhost:${grpc}`, credentials.createSsl(Buffer.from(ca)));
  const transport = createConnectTransport({
    baseUrl: `https://localhost:${http}`,
    httpVersion: "2",
    nodeOptions: { ca },
  });
  const method = methodOf("GetOverview");
  const headers = (protocol: string) =>
    [...withKey(key), ["x-request-id", `${proxy}-${protocol}`]] as [string, string][];
  const toText = (error: unknown) => String(error);
  return {
    rest: () =>
      get(proxy, paths.GetOverview, "rest", agent).then(
        (status) => (status === 200 ? undefined : `${status}`),
        toText,
      ),
    connect: () =>
      transport
        .unary(
          method,
          undefined,
          undefined,
          headers("connect"),
          requestMessage({ method: "GetOverview" }),
        )
        .then(() => undefined, toText),
    grpc: async () => {
      const request = { method: "GetOverview", headers: headers("grpc") } as const;
      const outcome = await callGrpc(client, request);
      return "response" in outcome ? undefined : `${outcome.code}: ${outcome.message}`;
    },
  };
}

it("two restarts under load lose no call over REST, Connect and gRPC", async () => {
  const made: Record<string, number> = {};
  const lost: string[] = [];
  let stopped = false;
  const connections = PROXIES.flatMap((proxy) => Array<Proxy>(CONNECTIONS).fill(proxy));
  const loops = connections.flatMap((proxy) =>
    Object.entries(callers(proxy)).map(async ([protocol, call]) => {
      const name = `${proxy}-${protocol}`;
      made[name] ??= 0;
      while (!stopped) {
        const problem = await call();
        made[name]++;
        if (problem !== undefined) lost.push(`${name}: ${problem}`);
      }
    }),
  );
  const names = Object.keys(made);
  /** Every proxy sends it calls of every protocol. */
  const isUsed = (service: ServiceProcess) => () => {
    const output = service.output();
    return names.every((name) => output.includes(`"requestId":"${name}"`));
  };
  for (const [index, environment] of instances.entries()) {
    await Promise.all(services.map((service) => until(isUsed(service))));
    expect(await services[index]?.stop()).toBe(0);
    services[index] = await startService(database.url, environment);
  }
  await Promise.all(services.map((service) => until(isUsed(service))));
  stopped = true;
  await Promise.all(loops);
  expect(lost).toEqual([]);
  for (const name of names) expect(made[name], name).toBeGreaterThan(20);
});

it.each(PROXIES)("%s serves the pages", async (proxy) => {
  expect(await get(proxy, "/", "page")).toBe(200);
  expect(await get(proxy, "/docs", "page")).toBe(200);
});
