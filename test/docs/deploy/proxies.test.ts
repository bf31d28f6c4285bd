/**
 * nginx and HAProxy as shipped in front of two instances: no call is lost when one is restarted as `systemctl
 * restart` does, nor when a client or an instance does what it should not.
 */
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect as connectTcp, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths } from "../../support/request.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { blockWith } from "../markdown.ts";
import {
  type Call,
  createProxyFixture,
  findProxy,
  type InstancePorts,
  instancePorts,
  PROXIES,
  type ProxyFixture,
  type ProxyName,
  type RunningProxy,
} from "./proxy-fixture.ts";

let fixture: ProxyFixture;
let key: string;
let database: TestDatabase;
let ports: InstancePorts[];
/** The environments of the two instances, which keep their ports. */
let instances: Readonly<Record<string, string>>[];
let services: ServiceProcess[];
const proxies = {} as Record<ProxyName, RunningProxy>;

beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
  ports = [await instancePorts(), await instancePorts()];
  // The defaults of the service, which tests shorten otherwise.
  const stop = { STOP_LAME_DUCK_MS: "5000", STOP_GRACE_MS: "10000" };
  instances = ports.map((own) => ({ ...own, ...stop, TRUSTED_PROXIES: "127.0.0.1" }));
  services = await Promise.all(instances.map((own) => startService(database.url, own)));
  fixture = await createProxyFixture();
  for (const name of PROXIES) proxies[name] = await fixture.start(name, ports);
});
afterAll(async () => {
  await fixture?.dispose();
  for (const service of services ?? []) await service.kill();
  await database?.drop();
});

/** Makes calls one after the other. Resolves to what was lost. */
async function lostOf(call: Call, times: number): Promise<string[]> {
  const problems: string[] = [];
  for (let made = 0; made < times; made++) problems.push((await call("repeated")) ?? "");
  return problems.filter((problem) => problem !== "");
}

it("a restart under load loses no call over REST, Connect, gRPC-Web and gRPC", async () => {
  const lost: string[] = [];
  let stopped = false;
  // Two callers of each protocol: HAProxy gives one of them to each instance.
  const loops = [...PROXIES, ...PROXIES].flatMap((proxy) =>
    Object.entries<Call>(fixture.callers(proxies[proxy], key)).map(([protocol, call]) => ({
      name: `${proxy}-${protocol}`,
      call,
    })),
  );
  const ended = loops.map(async ({ name, call }) => {
    while (!stopped) {
      const problem = await call(name);
      if (problem !== undefined) lost.push(`${name}: ${problem}`);
      await sleep(100);
    }
  });
  /** Every proxy sends it calls of every protocol. */
  const isUsed = (service: ServiceProcess) => () => {
    const output = service.output();
    return loops.every(({ name }) => output.includes(`"requestId":"${name}"`));
  };
  await Promise.all(services.map((service) => until(isUsed(service))));
  expect(await services[0]?.stop()).toBe(0);
  services[0] = await startService(database.url, instances[0]);
  await until(isUsed(services[0]));
  stopped = true;
  await Promise.all(ended);
  expect(lost).toEqual([]);
});

const ids = () => services.flatMap((service) => service.log()).map(({ requestId }) => requestId);

it.each(PROXIES)("%s logs the id that the service logs, and tells browsers HTTPS", async (name) => {
  const proxy = proxies[name];
  const own = `${name}.own/1`;
  for (const call of Object.values<Call>(fixture.callers(proxy, key))) {
    expect(await call(own)).toBeUndefined();
  }
  await until(
    () => proxy.log().split(own).length > 4 && ids().filter((id) => id === own).length === 4,
  );
  // One that the service would not take, and in place of one.
  for (const sent of [{ "x-request-id": `${name} rvk_secret` }, { "x-request-id": "rvk_1" }, {}]) {
    const headers = { "x-api-key": key, ...sent };
    const path = `${paths.GetOverview}?key=rvk_2`;
    const made = (await fixture.get(proxy, path, headers)).headers["x-request-id"];
    await until(() => proxy.log().includes(`${made}`) && ids().includes(made));
  }
  expect(proxy.log()).not.toContain("rvk_");
  const { headers } = await fixture.get(proxy, "/missing");
  expect(headers["strict-transport-security"]).toBe("max-age=31536000");
});

const MESSAGE = Buffer.alloc(5);
const LONG = "x".repeat(7_500);
/** Requests without a key that end more than their own stream, or did. */
const BAD_REQUESTS = [
  [{}, Buffer.alloc(2_000)], // behind its message
  [{ ":path": `/${LONG}` }, MESSAGE],
  [{ "grpc-timeout": LONG }, MESSAGE],
] as const;

it.each(PROXIES)("%s: bad gRPC requests take no instance from the others", async (name) => {
  const proxy = proxies[name];
  const { grpc } = fixture.callers(proxy, key);
  for (const [headers, body] of BAD_REQUESTS) {
    const session = connectHttp2(`https://localhost:${proxy.grpc}`, { ca: fixture.ca });
    session.on("error", () => {});
    // Two for each instance.
    for (let sent = 0; sent < 4; sent++) {
      const stream = session.request({
        ":method": "POST",
        ":path": "/revenue.v1.RevenueService/GetOverview",
        "content-type": "application/grpc",
        te: "trailers",
        ...headers,
      });
      const closed = new Promise((resolve) => stream.once("close", resolve));
      stream.on("error", () => {}).resume();
      stream.end(body);
      await closed;
    }
    session.destroy();
    expect(await lostOf(grpc, 4)).toEqual([]);
  }
});

// Before those that start another nginx in the folder.
it("certbot's hook puts a renewed certificate where nginx and HAProxy look, and reloads what runs", async () => {
  const { folder, authority, ca } = fixture;
  const [lineage, programs] = [join(folder, "live"), join(folder, "programs")];
  for (const path of [lineage, programs]) mkdirSync(path);
  const renewed = await authority.issue({ name: "renewed" });
  writeFileSync(join(lineage, "fullchain.pem"), `${renewed.cert}\n`);
  writeFileSync(join(lineage, "privkey.pem"), `${renewed.key}\n`);
  const nginx = findProxy("nginx");
  // As systemd does where nginx runs and HAProxy does not.
  const systemctl = `case "$*" in
    "is-active --quiet nginx") ;;
    "reload nginx") kill -HUP "$(cat ${folder}/nginx.pid)" ;;
    *) exit 1 ;;
  esac`;
  const test = `exec ${nginx.path} "$@" -e stderr -c ${folder}/nginx.conf`;
  for (const [name, text] of Object.entries({ systemctl, nginx: test })) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const hook = join(folder, "hook");
  const text = blockWith("sh", "RENEWED_LINEAGE").replaceAll("/etc/revenue/", `${folder}/`);
  writeFileSync(hook, text, { mode: 0o755 });
  const PATH = `${programs}:${process.env.PATH}`;
  const env = { ...process.env, ...nginx.env, PATH, RENEWED_LINEAGE: lineage };
  expect(await runProgram(hook, [], { env })).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "tls.pem"), "utf8")).toBe(`${renewed.cert}\n${renewed.key}\n`);
  await until(async () => {
    const socket = connect({ port: proxies.nginx.http, host: "localhost", ca });
    await once(socket, "secureConnect");
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN === "renewed";
  });
});

/** An instance that is ready, and ends each connection when a request has come. Counts these. */
async function startClosingInstance() {
  const own = await instancePorts();
  let requests = 0;
  const closing = createServer((request) => {
    requests++;
    request.resume().on("end", () => request.socket.destroy());
  });
  const servers: [Server, string][] = [
    [closing, own.HTTP_PORT],
    [createServer((_, response) => response.end()), own.ADMIN_PORT],
    [createHttp2Server(), own.GRPC_PORT],
  ];
  for (const [server, port] of servers) {
    await once(server.listen(Number(port), "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
  }
  return { ports: own, requests: () => requests };
}

it.each(PROXIES)("%s: what an instance does not answer is sent to the other one", async (name) => {
  const closing = await startClosingInstance();
  const proxy = await fixture.start(name, [closing.ports, ports[1] as InstancePorts]);
  const { grpc: _, ...calls } = fixture.callers(proxy, key);
  for (const [protocol, call] of Object.entries<Call>(calls)) {
    const before = closing.requests();
    expect(await lostOf(call, 8), protocol).toEqual([]);
    expect(closing.requests(), protocol).toBeGreaterThan(before);
  }
});

it("HAProxy ends connections without a handshake, and keeps a health watch that is silent for longer", async () => {
  // The watch is silent for as many timeouts as handshakes are awaited.
  const proxy = await fixture.start("haproxy", ports, (text) =>
    text.replace(/timeout client \d+s/, "timeout client 500ms"),
  );
  const tls = credentials.createSsl(Buffer.from(fixture.ca));
  const client = new Client(`localhost:${proxy.grpc}`, tls);
  onTestFinished(() => client.close());
  const events: string[] = [];
  const watch = client.makeServerStreamRequest(
    "/grpc.health.v1.Health/Watch",
    () => Buffer.alloc(0),
    (bytes) => bytes,
    {},
    new Metadata(),
  );
  watch.on("data", () => events.push("status"));
  watch.on("error", () => {}).on("close", () => events.push("end"));
  await until(() => events.length === 1);
  for (const port of [proxy.grpc, proxy.http]) {
    for (const sent of ["", "160301020001"]) {
      const socket = connectTcp(port, "127.0.0.1");
      socket.on("error", () => {}).resume();
      socket.write(Buffer.from(sent, "hex"));
      await once(socket, "close");
    }
  }
  expect(events).toEqual(["status"]);
  watch.cancel();
});
