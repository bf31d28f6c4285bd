/** The tables in the documentation are those of the schema, and the example in SQL has the responses shown. */
import type { Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";
import { toDatetime } from "../../src/db/datetime.ts";
import { createRead } from "../../src/db/query.ts";
import { bindRoutes } from "../../src/gateway/transcoding/routes.ts";
import type { Answer, Context } from "../../src/handler.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { TABLES } from "../../src/rollup/coverage.ts";
import { build } from "../database/rollup/write/built.ts";
import { parseNumbers } from "../support/clients/exact-json.ts";
import { connectTo, createDatabase, type TestDatabase } from "../support/database.ts";
import { atTimeOfCall, callAt } from "../support/ledger/call.ts";
import { blocksOf, codeIn, page, proseOf, section, tableIn } from "./markdown.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

/** Tables of the program, without those of its migrations. */
const OWN = [...Object.values(TABLES), "heartbeat", "page_token_keys"];

it("the tables are those of the schema, with their columns and types", async () => {
  const [columns]: Record<string, string>[][] = await database.knex.raw(
    `SELECT TABLE_NAME AS \`table\`, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY ORDINAL_POSITION`,
  );
  const tables: Record<string, string[][]> = {};
  for (const { table = "", name, type, nullable } of columns ?? []) {
    if (OWN.includes(table) || /migration/.test(table)) continue;
    // MariaDB adds a display width to integers.
    const plain = type?.replace(/^((?:big|small|tiny)?int)\(\d+\)/, "$1");
    const row = [`\`${name}\``, `\`${plain}\`${nullable === "YES" ? ", null" : ""}`];
    tables[table] = [...(tables[table] ?? []), row];
  }
  const documented = page("docs/data-model.md")
    .split("\n### ")
    .slice(1)
    .map((text) => [
      text.split("\n")[0],
      tableIn(text.split("\n## ")[0] ?? "", "column", "type", "meaning").map((row) =>
        row.slice(0, 2),
      ),
    ]);
  expect(Object.fromEntries(documented)).toEqual(tables);
});

describe("a rental from start to payout", () => {
  const example = section("docs/data-model.md", "A rental from start to payout");
  const routes = bindRoutes([RevenueService]);

  /** The REST response at an instant to a target, as JSON text. */
  async function get(now: string, target: string): Promise<string> {
    const url = new URL(target, "http://localhost");
    const route = routes.find(({ path }) => path === url.pathname);
    if (route === undefined) throw new Error(`no route ${url.pathname}`);
    const service = createRevenueService(atTimeOfCall(createRead(database.knex)));
    type Handler = (request: Message, context: Context) => Promise<Answer<Message>>;
    const handle = service[route.method.localName as keyof typeof service] as unknown as Handler;
    const request = route.bind(url.search.slice(1));
    const context = {
      caller: { providerId: "1", share: "1" },
      now: Date.parse(now),
      signal: new AbortController().signal,
    };
    const answer = await callAt(now, () => handle(request, context));
    return route.write(answer.message);
  }

  /** A JSON text as a value, with numbers that keep their digits. */
  const exact = (json: string) => parseNumbers(json, (digits) => ({ digits }));

  /** The responses of which a part of the example shows fields: `At …, GET … returns "a": 1`. */
  function shownIn(part: string) {
    return [...proseOf(part).matchAll(/At `([^`]+)`, `GET ([^`]+)` returns(.*)/g)].map(
      ([, now = "", target = "", rest = ""]) => {
        const fields = codeIn(rest).filter((code) => code.startsWith('"'));
        return { now, target, fields: exact(`{${fields.join(",")}}`) as object };
      },
    );
  }

  // Each part ends with a block, or with the end of the section.
  const parts = example.split(/(?<=^```\n)(?=\n[^`])/m);

  it("has the responses shown, also after a rollup", async () => {
    const connection = await connectTo(database.url, { multipleStatements: true });
    let responses = 0;
    try {
      for (const part of parts) {
        for (const { language, text } of blocksOf(part)) {
          if (language === "sql") await connection.query(text);
        }
        for (const { now, target, fields } of shownIn(part)) {
          expect(exact(await get(now, target))).toMatchObject(fields);
          // The rows were written when the example says, and not now.
          await database.knex.raw("UPDATE charges SET recorded_at = charged_at");
          await database.knex.raw("UPDATE rentals SET updated_at = COALESCE(ended_at, started_at)");
          await build(database.knex, "1", toDatetime(Date.parse(now)));
          expect(exact(await get(now, target))).toMatchObject(fields);
          responses++;
        }
      }
    } finally {
      await connection.end();
    }
    expect(responses).toBe(3);
  });
});
