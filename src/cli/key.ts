/** `npm run key`: issues, lists and revokes API keys. */
import { Command, InvalidArgumentError } from "commander";
import { parseKey, redactKeys } from "../auth/api-key.ts";
import { parseExpiry } from "../auth/expiry.ts";
import {
  issueKey,
  type KeySelector,
  listKeys,
  type RegisteredKey,
  revokeKey,
} from "../auth/key-registry.ts";
import { runOnDatabase } from "./run.ts";
import { formatTable, printable } from "./table.ts";

/** The largest bigint unsigned, and the length of `api_keys.name`. */
const LARGEST_ID = 2n ** 64n - 1n;
const LONGEST_NAME = 255;

const program = new Command("npm run key --")
  .description("Issues, lists and revokes the API keys of providers, on DATABASE_URL.")
  .configureOutput({ outputError: (text, write) => write(redactKeys(text)) });

program
  .command("create")
  .description("make an API key and print it, once: the last line of stdout is the key alone")
  .requiredOption("--provider <id>", "the provider whose data it opens", toId)
  .option("--name <text>", "what people call it", toName, "API key")
  .option("--expires <date>", "when it ends: 2027-01-01 or 2027-01-01T09:30:00Z (UTC)", toExpiry)
  .action((options: { provider: string; name: string; expires?: number }) =>
    runOnDatabase(async (database) => {
      const { provider, name, expires = null } = options;
      const issued = await issueKey(database, provider, name, expires);
      const until = expires === null ? "it does not expire" : `it expires ${instant(expires)}`;
      console.log(`Made key ${issued.id}, "${printable(name)}", ${issued.hint}…; ${until}.`);
      console.log(
        `It opens the data of provider ${provider}, "${printable(issued.providerName)}".`,
      );
      console.log("Keep it now: only its hash is stored, and it is never shown again.\n");
      console.log(issued.key);
    }),
  );

program
  .command("list")
  .description("show which keys there are, by their first characters")
  .option("--provider <id>", "only those of one provider", toId)
  .action((options: { provider?: string }) =>
    runOnDatabase(async (database) => {
      const keys = await listKeys(database, options.provider);
      const now = Date.now();
      console.log(
        keys.length === 0
          ? "There are no keys. Make one: npm run key -- create --provider ID"
          : formatTable(
              ["ID", "PROVIDER", "KEY", "CREATED (UTC)", "EXPIRES (UTC)", "STATUS", "NAME"],
              keys.map((key) => [
                key.id,
                key.providerId,
                `${key.hint}…`,
                toSecond(key.createdAt),
                key.expiresAt === null ? "never" : toSecond(key.expiresAt),
                statusOf(key, now),
                key.name,
              ]),
            ),
      );
    }),
  );

program
  .command("revoke")
  .description("end a key at once and for good")
  .argument("<id-or-key>", "its ID in the list, or the key itself", toSelector)
  .action((selector: KeySelector) =>
    runOnDatabase(async (database) => {
      const key = await revokeKey(database, selector);
      const which = `key ${key.id}, "${printable(key.name)}", ${key.hint}… of provider ${key.providerId}`;
      console.log(
        key.revokedAt === null
          ? `Revoked ${which}. It is refused from now on.`
          : `Nothing to do: ${which} was revoked ${toSecond(key.revokedAt)} UTC.`,
      );
    }),
  );

await program.parseAsync();

function toId(text: string): string {
  if (/^[1-9]\d{0,19}$/.test(text) && BigInt(text) <= LARGEST_ID) return text;
  throw new InvalidArgumentError("An id is a whole number, as in the table `providers`: 1");
}

function toName(text: string): string {
  const length = [...text].length;
  if (length <= LONGEST_NAME) return text;
  throw new InvalidArgumentError(`A name has at most ${LONGEST_NAME} characters, not ${length}.`);
}

function toExpiry(text: string): number {
  const expiry = parseExpiry(text);
  if (expiry === undefined) {
    throw new InvalidArgumentError("Write a date, 2027-01-01, or a time, 2027-01-01T09:30:00Z.");
  }
  if (expiry <= Date.now()) {
    throw new InvalidArgumentError(`That is ${instant(expiry)}, which has passed.`);
  }
  return expiry;
}

function toSelector(text: string): KeySelector {
  const key = parseKey(text.trim());
  if (key !== undefined) return { key };
  if (/^\d+$/.test(text)) return { id: toId(text) };
  throw new InvalidArgumentError(
    "It is neither an ID of `npm run key -- list` nor a whole key; is it mistyped?",
  );
}

function statusOf(key: RegisteredKey, now: number): string {
  if (key.revokedAt !== null) return `revoked ${toSecond(key.revokedAt)}`;
  return key.expiresAt !== null && key.expiresAt <= datetime(now) ? "expired" : "active";
}

/** An instant (epoch milliseconds) as the database writes it, `YYYY-MM-DD HH:MM:SS.mmm`. */
function datetime(epoch: number): string {
  return new Date(epoch).toISOString().replace("T", " ").replace("Z", "");
}

function instant(epoch: number): string {
  return `${toSecond(datetime(epoch))} UTC`;
}

function toSecond(datetime: string): string {
  return datetime.slice(0, "YYYY-MM-DD HH:MM:SS".length);
}
