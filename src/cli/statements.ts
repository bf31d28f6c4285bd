/** Every statement that the service sends, by name, with `?` for each binding. */
import { keysByHash, SIZES } from "../auth/key-lookup.ts";
import { PROVIDER_BY_ID } from "../auth/provider.ts";
import type { Statements } from "../db/contract/rights.ts";
import { PAGE_TOKEN_KEY } from "../db/page-token-key.ts";
import { HEARTBEAT } from "../db/statement.ts";
import { STATEMENTS } from "../revenue/statements.ts";

/** @param limitsAge whether answers have a greatest age, so that the heartbeat is read */
export function serviceStatements(limitsAge: boolean): Statements {
  // `size` names keys that a view has not. All that it decides is a line in the log, so it may be refused.
  const ofRpcs = Object.entries(STATEMENTS)
    .filter(([name]) => name !== "size")
    .map(([name, { sql }]) => [name, sql] as const);
  const ofKeys = SIZES.map((size) => [`api_keys of ${size}`, keysByHash(size)] as const);
  return Object.fromEntries([
    ...ofKeys,
    ["provider", PROVIDER_BY_ID],
    ["page_token_key", PAGE_TOKEN_KEY],
    ...ofRpcs,
    ...(limitsAge ? [["heartbeat", HEARTBEAT]] : []),
  ]);
}
