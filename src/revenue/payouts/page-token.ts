/**
 * Page tokens: the position of the last payout of a page, and a hash of it and of the parameters that must not
 * change. The hash finds mistakes; it is no signature, as a position leads to nothing but payouts of the caller.
 *
 * @see https://google.aip.dev/158
 */

import { createHash } from "node:crypto";
import { LAST_INSTANT } from "../../db/datetime.ts";

/** Where a page ends. */
export interface Position {
  /** The time of the payout as DATETIME(3) text, of which the date need not exist. */
  readonly at: string;
  /** `payouts.id` */
  readonly id: string;
}

/** Before all payouts, the latest of which comes first. */
export const BEFORE_FIRST: Position = { at: LAST_INSTANT, id: String(2n ** 64n - 1n) };

const FORM = /^(?<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) (?<id>\d{1,20}) /;

/** The token of a position. `parameters` is a text that tells all parameters which must stay the same. */
export function toPageToken({ at, id }: Position, parameters: string): string {
  const position = `${at} ${id}`;
  const hash = createHash("sha256").update(`${position} ${parameters}`).digest("base64url");
  return Buffer.from(`${position} ${hash.slice(0, 16)}`).toString("base64url");
}

/** The position of a token; undefined if it is not one of these parameters. */
export function fromPageToken(token: string, parameters: string): Position | undefined {
  const { at, id } = FORM.exec(Buffer.from(token, "base64url").toString("latin1"))?.groups ?? {};
  if (at === undefined || id === undefined) return undefined;
  return toPageToken({ at, id }, parameters) === token ? { at, id } : undefined;
}
