/** `npm run check` asks npm's registry for advisories, whatever that answers. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { checkAdvisories, checkSignatures } from "../../../dev/check/registry.ts";

beforeEach(() => {
  // npm keeps what registries tell, and would take it for advisories on this machine.
  const cache = mkdtempSync(join(tmpdir(), "revenue-npm-"));
  vi.stubEnv("npm_config_cache", cache);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(cache, { recursive: true, force: true });
  });
});

/** A busy machine may take its time. */
const NO_LIMIT = 600_000;

/** The URL of a registry that answers each request in one way. */
async function registryThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const advisoryOf = (severity: string) => ({
  mysql2: [
    {
      ...{ id: 1, url: "https://example.com/1", title: "A flaw", severity },
      ...{ vulnerable_versions: ">=1.0.0", cwe: [], cvss: { score: 0, vectorString: null } },
    },
  ],
});
/** Answers the question for advisories; of the versions of a package it knows nothing. */
const answersWith =
  (body: object): RequestListener =>
  (request, response) => {
    request.resume();
    if (request.method === "GET") response.writeHead(404).end("{}");
    else response.end(JSON.stringify(body));
  };

it.each([
  ["passes without any", {}, { outcome: "passed", note: "none" }],
  [
    "counts those below high",
    advisoryOf("moderate"),
    { outcome: "passed", note: "1 below high: npm audit" },
  ],
  [
    "fails with a high one, and names the package",
    advisoryOf("high"),
    { outcome: "failed", output: expect.stringContaining("high: mysql2 ") },
  ],
])("asks for advisories, and %s", async (_, body, result) => {
  const registry = await registryThat(answersWith(body));
  expect(await checkAdvisories({ registry, patience: NO_LIMIT })).toMatchObject(result);
});

it.each([
  ["refuses the question", (_, response) => response.writeHead(405).end()],
  ["answers with something else", (_, response) => response.end("<html>")],
  ["never answers", () => undefined],
] satisfies [string, RequestListener][])(
  "says that it was not done with a registry that %s",
  async (_, answers) => {
    const options = { registry: await registryThat(answers), patience: 5_000 };
    const results = await Promise.all([checkAdvisories(options), checkSignatures(options)]);
    expect(results).toMatchObject([{ outcome: "NOT DONE" }, { outcome: "NOT DONE" }]);
  },
);
