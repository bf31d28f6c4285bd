/** `npm run key`: issues, lists and revokes API keys. */
import { InvalidArgumentError } from "commander";
import type { Knex } from "knex";
import { parseKey } from "../auth/api-key.ts";
import {
  isServiceKey,
  issueKey,
  issueServiceKey,
  type KeySelector,
  listKeys,
  type RegisteredKey,
  revokeKey,
} from "../auth/key-registry.ts";
import { isProviderId } from "../auth/provider.ts";
import { toDatetime } from "../db/datetime.ts";
import { parsePeriod } from "../revenue/period.ts";
import { createCommand } from "./command.ts";
import { formatError } from "./format-error.ts";
import { runOnDatabase } from "./run.ts";
import { formatTable, printable } from "./table.ts";

/** The length of the column `api_keys.name`, in characters. */
const MAX_NAME_LENGTH = 255;

const program = createCommand(
  "npm run key",
  "Issues, lists and revokes the API keys of providers and services, in DATABASE_URL.",
);

program
  .command("create")
  .description("issue an API key and print it once; the last line of stdout is the key alone")
  .option("--provider <id>", "the provider whose data the key gives access to", toOneId)
  .option("--service", "a key for a service of the platform, which may read every provider")
  .option("--name <text>", 'a name for the key; of a provider\'s key "API key" by default', toName)
  .option("--expires <date>", "2027-01-01 or 2027-01-01T09:30:00Z (UTC by default)", toExpiry)
  .action(({ provider, service = false, name, expires = null }: CreateOptions) => {
    if (service === (provider !== undefined))
      program.error("error: expected either --provider or --service");
    if (service && !name?.trim())
      program.error("error: a service key needs a --name: logs show it");
    return runOnDatabase(async (database) => {
      const issued =
        provider === undefined
          ? await issueServiceKey(database, name ?? "", expires)
          : await issueKey(database, provider, name ?? "API key", expires);
      const access =
        issued.providerName === undefined
          ? "every provider"
          : `provider ${issued.providerId}, "${printable(issued.providerName)}"`;
      const { key, expiresAt, hint } = issued;
      const expiry = expiresAt === null ? "does not expire" : `expires ${toSecond(expiresAt)} UTC`;
      console.log(
        `Issued ${nounOf(issued)} ${issued.id}, "${printable(issued.name)}", ${hint}…; ${expiry}.`,
      );
      console.log(`Access to ${access}.`);
      console.log("Store the key now: it cannot be shown again.\n");
      console.log(key);
    });
  });

program
  .command("list")
  .description("list the keys, by their first characters")
  .option("--provider <id>", "only the keys of one provider", toId)
  .action((options: { provider?: string }) =>
    runOnDatabase(async (database) => {
      const keys = await listKeys(database, options.provider);
      const now = toDatetime(Date.now());
      console.log(
        keys.length === 0
          ? "There are no keys. Issue one: npm run key -- create --provider ID"
          : formatTable(
              ["ID", "KIND", "PROVIDER", "KEY", "CREATED (UTC)", "EXPIRES (UTC)", "STATUS", "NAME"],
              keys.map((key) => [
                key.id,
                isServiceKey(key) ? "service" : "provider",
                isServiceKey(key) ? "any" : key.providerId,
                `${key.hint}…`,
                toSecond(key.createdAt),
                key.expiresAt === null ? "never" : toSecond(key.expiresAt),
                validityOf(key, now),
                key.name,
              ]),
            ),
      );
    }),
  );

program
  .command("revoke")
  .description("revoke keys, immediately and permanently")
  .argument("[id-or-key...]", "IDs from the list, or the keys themselves", toSelectors)
  .option("--all-services", "every service key, as after a restore")
  .action((selectors: readonly KeySelector[] = [], { allServices = false }: RevokeOptions) => {
    if (allServices === selectors.length > 0)
      program.error("error: expected IDs or keys, or --all-services");
    return runOnDatabase(async (database) => {
      const keys = allServices ? (await listKeys(database)).filter(isServiceKey) : selectors;
      if (keys.length === 0) console.log("There are no service keys.");
      for (const key of keys) {
        // One that is not there, as after a restore, is no reason to leave the others valid.
        const line = await revoke(database, key).catch((error: unknown) => {
          console.error(`error: ${formatError(error)}`);
          process.exitCode = 1;
        });
        if (line !== undefined) console.log(line);
      }
    });
  });

await program.parseAsync();

interface CreateOptions {
  readonly provider?: string;
  readonly service?: boolean;
  readonly name?: string;
  readonly expires?: number | null;
}

interface RevokeOptions {
  readonly allServices?: boolean;
}

/** Revokes a key. Resolves to the line that says so. */
async function revoke(database: Knex, selector: KeySelector): Promise<string> {
  const { row, changed } = await revokeKey(database, selector);
  const owner = isServiceKey(row) ? "" : ` of provider ${row.providerId}`;
  const name = `${nounOf(row)} ${row.id}, "${printable(row.name)}", ${row.hint}…${owner}`;
  return changed
    ? `Revoked ${name}. The service rejects it within one second.`
    : `No change: ${name} was revoked ${toSecond(row.revokedAt ?? "")} UTC.`;
}

function nounOf(key: RegisteredKey): string {
  return isServiceKey(key) ? "service key" : "key";
}

function toId(text: string): string {
  if (isProviderId(text)) return text;
  throw new InvalidArgumentError("Expected an id from the table `providers`, such as 1.");
}

/** Given twice, the last one would win, and get the key to another provider's figures. */
function toOneId(text: string, before?: string): string {
  if (before === undefined) return toId(text);
  throw new InvalidArgumentError("Expected one provider: a key is for no other.");
}

function toName(text: string): string {
  const length = [...text].length;
  if (length <= MAX_NAME_LENGTH) return text;
  throw new InvalidArgumentError(`Expected at most ${MAX_NAME_LENGTH} characters, not ${length}.`);
}

/** A date or a time as in the API: a date is its first instant, and without an offset it is in UTC. */
function toExpiry(text: string): number {
  const expiry = startOf(text);
  if (expiry === undefined) {
    throw new InvalidArgumentError("Expected a date or a time: 2027-01-01, 2027-01-01T09:30:00Z.");
  }
  if (expiry > Date.now()) return expiry;
  const given = toSecond(toDatetime(expiry));
  throw new InvalidArgumentError(`Expected a time in the future, not ${given} UTC.`);
}

function startOf(text: string): number | undefined {
  try {
    return parsePeriod(text, "").start;
  } catch {
    return undefined;
  }
}

function toSelectors(text: string, before: readonly KeySelector[] = []): readonly KeySelector[] {
  return [...before, toSelector(text)];
}

function toSelector(text: string): KeySelector {
  const key = parseKey(text.trim());
  if (key !== undefined) return { key };
  if (isProviderId(text)) return { id: text };
  throw new InvalidArgumentError("Expected an ID from `npm run key -- list`, or a complete key.");
}

/** @param now DATETIME text, which compares in order of time */
function validityOf(key: RegisteredKey, now: string): string {
  if (key.revokedAt !== null) return `revoked ${toSecond(key.revokedAt)}`;
  return key.expiresAt !== null && key.expiresAt <= now ? "expired" : "active";
}

/** Cuts DATETIME text to the second. */
function toSecond(datetime: string): string {
  return datetime.slice(0, "YYYY-MM-DD HH:MM:SS".length);
}
