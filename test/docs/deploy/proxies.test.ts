/**
 * nginx and HAProxy as shipped in front of two instances: under load through both proxies each instance is
 * stopped and started once, as `systemctl restart` does, and no call is lost.
 */
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths } from "../../support/request.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { blockWith } from "../markdown.ts";
import {
  createProxyFixture,
  findProxies,
  instancePorts,
  PROXIES,
  type ProxyFixture,
  type RunningProxy,
} from "./proxy-fixture.ts";

/** Clients of each protocol for each proxy. */
const CLIENTS = 2;

let fixture: ProxyFixture;
let key: string;
let database: TestDatabase;
/** The environments of the two instances, which keep their ports. */
let instances: Readonly<Record<string, string>>[];
let services: ServiceProcess[];
let proxies: RunningProxy[];

beforeAll(() => void findProxies());

beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
  const ports = [await instancePorts(), await instancePorts()];
  // The defaults of the service, which tests shorten otherwise.
  const stop = { STOP_LAME_DUCK_MS: "5000", STOP_GRACE_MS: "10000" };
  instances = ports.map((own) => ({ ...own, ...stop, TRUSTED_PROXIES: "127.0.0.1" }));
  services = await Promise.all(
    instances.map((environment) => startService(database.url, environment)),
  );
  fixture = await createProxyFixture();
  proxies = [];
  for (const name of PROXIES) proxies.push(await fixture.start(name, ports));
});

afterAll(async () => {
  await fixture?.dispose();
  for (const service of services ?? []) await service.kill();
  await database?.drop();
});

const proxyOf = (name: string) => proxies.find((proxy) => proxy.name === name) as RunningProxy;

it("two restarts under load lose no call over REST, Connect, gRPC-Web and gRPC", async () => {
  const made: Record<string, number> = {};
  const lost: string[] = [];
  let stopped = false;
  const loops = proxies
    .flatMap((proxy) => Array<RunningProxy>(CLIENTS).fill(proxy))
    .flatMap((proxy) =>
      Object.entries(fixture.callers(proxy, key)).map(async ([protocol, call]) => {
        const name = `${proxy.name}-${protocol}`;
        made[name] ??= 0;
        while (!stopped) {
          const problem = await call(name);
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

it.each(PROXIES)("%s serves the pages, to browsers that then use HTTPS alone", async (name) => {
  for (const path of ["/", "/docs", "/missing"]) {
    const { status, headers } = await fixture.get(proxyOf(name), path);
    expect(status).toBe(path === "/missing" ? 404 : 200);
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  }
});

const ids = () => services.flatMap((service) => service.log()).map(({ requestId }) => requestId);

it.each(PROXIES)(
  "%s logs the id that the service logs: the request's own, or a new one",
  async (name) => {
    const proxy = proxyOf(name);
    const own = `${name}.own/1`;
    for (const call of Object.values(fixture.callers(proxy, key))) {
      expect(await call(own)).toBeUndefined();
    }
    await until(
      () => proxy.log().split(own).length > 4 && ids().filter((id) => id === own).length === 4,
    );
    // One that the service would not take, and in place of one.
    for (const sent of [
      { "x-request-id": `${name} rvk_secret` },
      { "x-request-id": "rvk_1" },
      {},
    ]) {
      const headers = { "x-api-key": key, ...sent };
      const made = (await fixture.get(proxy, paths.GetOverview, headers)).headers["x-request-id"];
      await until(() => proxy.log().includes(`${made}`) && ids().includes(made));
    }
    expect(proxy.log()).not.toContain("rvk_");
  },
);

it("certbot's hook puts a renewed certificate where nginx and HAProxy look, and reloads what runs", async () => {
  const { folder, authority, ca } = fixture;
  const lineage = join(folder, "live");
  const programs = join(folder, "programs");
  for (const path of [lineage, programs]) mkdirSync(path);
  const { cert, key } = await authority.issue({ name: "renewed" });
  writeFileSync(join(lineage, "fullchain.pem"), cert);
  writeFileSync(join(lineage, "privkey.pem"), key);
  // As systemd does where nginx runs and HAProxy does not.
  const { nginx } = findProxies();
  const programTexts = {
    systemctl: `case "$*" in
      "is-active --quiet nginx") ;;
      "reload nginx") kill -HUP "$(cat ${folder}/nginx.pid)" ;;
      *) exit 1 ;;
    esac`,
    nginx: `exec ${nginx.path} "$@" -e stderr -c ${folder}/nginx.conf`,
  };
  for (const [name, text] of Object.entries(programTexts)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const hook = join(folder, "hook");
  const text = blockWith("sh", "RENEWED_LINEAGE").replaceAll("/etc/revenue/", `${folder}/`);
  writeFileSync(hook, text, { mode: 0o755 });
  const PATH = `${programs}:${process.env.PATH}`;
  const env = { ...process.env, ...nginx.env, PATH, RENEWED_LINEAGE: lineage };
  expect(await runProgram(hook, [], { env })).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "tls.pem"), "utf8")).toBe(cert + key);
  await until(async () => {
    const socket = connect({ port: proxyOf("nginx").http, host: "localhost", ca });
    await once(socket, "secureConnect");
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN === "renewed";
  });
});
