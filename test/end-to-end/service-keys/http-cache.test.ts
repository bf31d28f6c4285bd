/**
 * One HTTP cache between a service and two providers, which keeps what it must not: nginx, told to ignore
 * `Cache-Control`. `Vary` alone then keeps providers apart.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { findDebianProgram } from "../../docs/deploy/debian-program.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "revenue-cache-"));
let fixture: Fixture;
let key: string;
let cache: string;
let nginx: ChildProcess;

beforeAll(async () => {
  const { path, env } = findDebianProgram("nginx", "usr/sbin/nginx");
  fixture = await createFixture(smallLedger, { SERVICE_KEYS: "all" });
  key = await fixture.issueServiceKey("cached");
  const port = await freePort();
  cache = `http://127.0.0.1:${port}`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const configuration = `
    ${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${join(folder, "pid")}; error_log stderr;
    events {}
    http {
      access_log off; ${temporary.join(" ")}
      proxy_cache_path ${join(folder, "cache")} keys_zone=all:1m;
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass ${fixture.service.http};
          proxy_cache all;
          proxy_cache_key $uri;
          proxy_cache_valid 200 10m;
          proxy_ignore_headers Cache-Control Expires;
          add_header X-Cache $upstream_cache_status always;
        }
      }
    }`;
  writeFileSync(join(folder, "nginx.conf"), configuration);
  nginx = spawn(path, ["-e", "stderr", "-c", join(folder, "nginx.conf")], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  nginx.stderr?.on("data", (text) => (output += text));
  await until(async () => {
    if (nginx.exitCode !== null) throw new Error(output);
    return rawHttp(cache, { target: "/nowhere" }).then(
      () => true,
      () => false,
    );
  });
});

afterAll(async () => {
  nginx?.kill("SIGTERM");
  if (nginx?.exitCode === null) await once(nginx, "exit");
  await fixture?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const get = (providerId: string, target: string = paths.ListPayouts, etag = "none") =>
  rawHttp(cache, {
    target,
    headers: [...withKey(key), ["x-provider-id", providerId], ["if-none-match", etag]],
  });

it("a cache that keeps private responses mixes no provider's with another's", async () => {
  const seen = new Set<unknown>();
  for (let round = 0; round < 3; round++) {
    for (const id of ["1", "2"]) {
      const { headers, text } = await get(id);
      expect(headers["x-provider-id"]).toBe(id);
      expect(JSON.parse(text).payouts).toHaveLength(id === "1" ? 1 : 0);
      seen.add(headers["x-cache"]);
    }
  }
  // It did keep them.
  expect(seen).toEqual(new Set(["MISS", "HIT"]));
});

it("an entity tag of one provider is none of another's", async () => {
  const { headers } = await get("1", paths.GetOverview);
  const own = await get("1", paths.GetOverview, `${headers.etag}`);
  const other = await get("2", paths.GetOverview, `${headers.etag}`);
  expect([own.status, other.status]).toEqual([304, 200]);
});
