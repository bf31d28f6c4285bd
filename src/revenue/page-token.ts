/**
 * Page tokens of all lists: what must stay the same from page to page, what the first page has fixed, and the place
 * where the next one begins. Clients take them as they are. The hash finds mistakes; it is no signature, as a token
 * leads to nothing but what its caller may list anyway.
 *
 * @see https://google.aip.dev/158
 */
import { createHash } from "node:crypto";
import { ServiceError } from "../errors.ts";
import { quote } from "../quote.ts";

/** Tokens of another version are refused: what they say is something else. */
const VERSION = "1";

/** What a token belongs to. */
export interface PagedRequest {
  /** The name of the list. */
  readonly list: string;
  /** Whose list it is: a provider, or whoever else has one. */
  readonly owner: string;
  /** The parameters that must stay the same, by name: a text for each meaning, "" if it is left out. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The token of the page that begins with `contents`. */
export function toPageToken(request: PagedRequest, contents: readonly string[]): string {
  return seal(request, [...Object.values(request.parameters), ...contents]);
}

/**
 * The contents of a token.
 *
 * @param form of each of the contents: anybody can make a token, also one that leads nowhere
 * @throws ServiceError `invalidArgument` if it is not one of this request; the message says what differs
 */
export function fromPageToken(
  token: string,
  request: PagedRequest,
  form: readonly RegExp[],
): readonly string[] {
  const names = Object.keys(request.parameters);
  const [version, ...values] = textsOf(token);
  if (/^\d+$/.test(version ?? "") && version !== VERSION) {
    throw refused(token, names, "it is of another version of the service");
  }
  values.pop(); // the hash
  const contents = values.slice(names.length);
  const isWhole = contents.length === form.length && seal(request, values) === token;
  if (!isWhole || contents.some((text, nth) => !form[nth]?.test(text))) {
    throw refused(
      token,
      names,
      "it was changed, is of another version, or belongs to another list or provider",
    );
  }
  const changed = names.find((name, nth) => values[nth] !== request.parameters[name]);
  if (changed !== undefined) throw refused(token, names, `its ${changed} was another one`);
  return contents;
}

function seal({ list, owner }: PagedRequest, values: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify([list, owner, ...values]));
  const texts = [VERSION, ...values, hash.digest("base64url").slice(0, 16)];
  return Buffer.from(JSON.stringify(texts)).toString("base64url");
}

/** The texts of a token; none if it has not the form of one. */
function textsOf(token: string): readonly string[] {
  try {
    const texts: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    return Array.isArray(texts) && texts.every((text) => typeof text === "string") ? texts : [];
  } catch {
    return [];
  }
}

const AND = new Intl.ListFormat("en-GB");

function refused(token: string, names: readonly string[], reason: string): ServiceError {
  return new ServiceError(
    "invalidArgument",
    `pageToken: expected the nextPageToken of a response to the same ${AND.format(names)}, got ${quote(token)} (${reason})`,
    { field: "pageToken" },
  );
}
