/**
 * The examples in other languages, run against the service on the demo data. An example is run by
 * hand where its tool is missing: Go needs modules from the network.
 */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(({ knex }) => seed(knex, Date.now(), () => {}));
});
afterAll(() => fixture?.dispose());

/** Runs an example. */
function run(
  command: string,
  args: readonly string[],
  { key = fixture.key, url = fixture.service.http } = {},
) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: 30_000,
    env: {
      ...process.env,
      REVENUE_URL: url,
      REVENUE_API_KEY: key,
      LC_ALL: "C",
      PYTHONIOENCODING: "utf-8",
    },
  });
  return { status, stdout, stderr };
}

async function textOf(target: string): Promise<string> {
  const headers = withKey(fixture.key);
  return (await rawHttp(fixture.service.http, { target, headers })).text;
}

/** The digits of a field in REST's JSON. */
function digitsOf(json: string, field: string): string {
  return json.match(new RegExp(`"${field}":(-?[\\d.]+)`))?.[1] ?? "";
}

const hasPython = spawnSync("python3", ["--version"]).status === 0;

it("curl prints the summary and the servers as CSV", async () => {
  const { status, stdout, stderr } = run("examples/curl/revenue.sh", []);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const [summary = "", header = ""] = stdout.split(/\r?\n/);
  expect(await textOf("/api/provider/revenue")).toContain(summary);
  expect(header).toMatch(/^serverId,serverName,/);
});

it("curl prints the message of an error", () => {
  const { status, stdout, stderr } = run("examples/curl/revenue.sh", [], { key: "rvk_wrong" });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain('"message":"API key authentication is required');
});

it.skipIf(!hasPython)(
  "Python prints the digits of the JSON, and its sum is the total",
  async () => {
    const { status, stdout, stderr } = run("python3", ["examples/python/revenue.py"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const overview = await textOf("/api/provider/revenue");
    expect(stdout).toContain(`earnings this year: ${digitsOf(overview, "totalEarningsYTD")}\n`);
    expect(stdout).toContain(`balance: ${digitsOf(overview, "availableBalance")}\n`);
    const breakdown = await textOf("/api/provider/revenue/servers");
    expect(stdout.trimEnd().split("\n").at(-1)?.trim()).toBe(
      `${digitsOf(breakdown, "totalRevenue")}  in all`,
    );
  },
);

it.skipIf(!hasPython)("Python prints the message of an error, and the request's id", () => {
  const { status, stderr } = run("python3", ["examples/python/revenue.py"], { key: "rvk_wrong" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^401 API key authentication is required.* \(request [0-9a-f-]{36}\)\n$/);
});

it.skipIf(!hasPython)("Python says which variable is missing", () => {
  const env = { PATH: process.env.PATH, REVENUE_URL: fixture.service.http };
  const options = { encoding: "utf8", env } as const;
  const { status, stderr } = spawnSync("python3", ["examples/python/revenue.py"], options);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: "set the environment variable REVENUE_API_KEY\n",
  });
});

it("an address may end with a slash, as the page's does", () => {
  const url = `${fixture.service.http}/`;
  expect(run("examples/curl/revenue.sh", [], { url }).status).toBe(0);
  if (hasPython) expect(run("python3", ["examples/python/revenue.py"], { url }).status).toBe(0);
});

it.skipIf(!hasPython)(
  "Python tries again before it reports that the service cannot be reached",
  () => {
    const started = performance.now();
    const { status, stderr } = run("python3", ["examples/python/revenue.py"], {
      url: "http://127.0.0.1:1",
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^the service cannot be reached: .*refused.*\n$/);
    // Three pauses, of 1, 2 and 3 s.
    expect(performance.now() - started).toBeGreaterThan(5_000);
  },
);
