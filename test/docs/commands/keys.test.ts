/** The `npm run key` commands of docs/api.md, pasted one after the other. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { codeIn, commands, section } from "../markdown.ts";
import { type Outcome, paste } from "./terminal.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex("providers").insert({ id: 1, name: "first" });
  await database
    .knex("api_keys")
    .insert({ id: 7, provider_id: 1, name: "leaked", key_hash: randomBytes(32) });
});
afterAll(() => database?.drop());

/** Pastes the only command that starts with `npm run key -- ` and `start`. */
async function key(start: string): Promise<Outcome> {
  const found = commands.filter(({ text }) => text.startsWith(`npm run key -- ${start}`));
  expect(found).toHaveLength(1);
  const outcome = await paste(found[0]?.text ?? "", { DATABASE_URL: database.url });
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
  return outcome;
}

const [pattern = "never"] = codeIn(section("docs/api.md", "API keys")).filter((code) =>
  code.startsWith("rvk_["),
);

it("create prints a key that matches the documented pattern, alone on its last line", async () => {
  const { stdout } = await key("create");
  expect(stdout.trimEnd().split("\n").at(-1)).toMatch(new RegExp(`^${pattern}$`));
  const made = await database.knex("api_keys").where({ name: "billing dashboard" }).first();
  expect(made).toMatchObject({ provider_id: "1", revoked_at: null });
  expect(made.expires_at).toMatch(/^2099-12-31 00:00:00/);
});

it("list shows all keys", async () => {
  const { stdout } = await key("list");
  expect(stdout).toMatch(/^7 .*active +leaked$/m);
  expect(stdout).toMatch(/active +billing dashboard$/m);
});

it("revoke revokes the key with the number", async () => {
  await key("revoke");
  const { revoked_at } = await database.knex("api_keys").where({ id: 7 }).first("revoked_at");
  expect(revoked_at).not.toBeNull();
});
