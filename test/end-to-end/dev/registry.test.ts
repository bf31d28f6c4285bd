/** `npm run check` asks npm's registry for advisories, whatever that answers. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { checkAdvisories, checkSignatures } from "../../../dev/check/registry.ts";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";

// npm keeps what registries tell, and would take it for advisories on this machine.
const cache = mkdtempSync(join(tmpdir(), "revenue-npm-"));
beforeAll(() => void vi.stubEnv("npm_config_cache", cache));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true, force: true });
});

/** The URL of a registry that answers each request in one way. */
async function registryThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers the question for advisories with one; of the versions of a package it knows nothing. */
const withAdvisory =
  (severity: string): RequestListener =>
  (request, response) => {
    const flaw = { id: severity.length, url: "https://example.com/1", title: "A flaw", severity };
    const advisory = { ...flaw, vulnerable_versions: ">=1.0.0", cwe: [], cvss: { score: 0 } };
    request.resume();
    if (request.method === "GET") response.writeHead(404).end("{}");
    else response.end(JSON.stringify({ mysql2: [advisory] }));
  };

it.each([
  ["moderate", { outcome: "passed", note: "1 below high: npm audit" }],
  ["high", { outcome: "failed", output: expect.stringContaining("high: mysql2 ") }],
])("an advisory that is %s is counted, or fails the check", async (severity, result) => {
  const registry = await registryThat(withAdvisory(severity));
  expect(await checkAdvisories({ registry, patience: TIME_LIMIT })).toMatchObject(result);
});

it("says that it was not done with a registry that answers with something else, or never", async () => {
  const other = await registryThat((_, response) => response.end("<html>"));
  const silent = await registryThat(() => undefined);
  const results = await Promise.all([
    checkAdvisories({ registry: other, patience: TIME_LIMIT }),
    checkSignatures({ registry: silent, patience: 1_000 }),
  ]);
  expect(results).toMatchObject([{ outcome: "NOT DONE" }, { outcome: "NOT DONE" }]);
});
