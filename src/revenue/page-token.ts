/**
 * Page tokens of all lists: what must stay the same from page to page, what the first page has fixed, and the place
 * where the next one begins. A place has the number of a row, which no provider may see, so tokens are encrypted, with
 * one key for all instances. What a token belongs to is authenticated with it: one that was changed, or is of another
 * list or owner, cannot be read.
 *
 * @see https://google.aip.dev/158
 */
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { ServiceError } from "../errors.ts";
import { quote } from "../quote.ts";

/** Tokens of another version are refused: what they say is something else. */
const VERSION = "1";

const CIPHER = "aes-256-gcm";
/** The lengths of what comes before the encrypted text, in bytes. */
const NONCE = 12;
const TAG = 16;

/** What a token belongs to. */
export interface PagedRequest {
  /** The name of the list. */
  readonly list: string;
  /** Whose list it is: a provider, or whoever else has one. */
  readonly owner: string;
  /** The parameters that must stay the same, by name: a text for each meaning, "" if it is left out. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Writes and reads page tokens. */
export type PageTokens = ReturnType<typeof createPageTokens>;

/** @param secret of all who are to read each other's tokens, 32 random bytes */
export function createPageTokens(secret: Uint8Array) {
  const digest = (text: string) => createHmac("sha256", secret).update(text).digest();
  const key = digest("encryption"); // no JSON, as the texts of nonces are

  function decrypt(token: string, belonging: string): readonly string[] | undefined {
    const bytes = Buffer.from(token, "base64url");
    if (bytes.toString("base64url") !== token) return undefined; // it skips what it does not know
    try {
      const nonce = bytes.subarray(0, NONCE);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG })
        .setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
        .setAAD(Buffer.from(belonging));
      return JSON.parse(decipher.update(bytes.subarray(NONCE + TAG)) + decipher.final("utf8"));
    } catch {
      return undefined;
    }
  }

  return {
    /** The token of the page that begins with `contents`: the same one each time, so that the page's entity tag is. */
    write(request: PagedRequest, contents: readonly string[]): string {
      const belonging = belongingOf(request);
      const text = JSON.stringify([...Object.values(request.parameters), ...contents]);
      // Another text has another nonce, and the same one the same: a random nonce would change the page's entity tag.
      const nonce = digest(belonging + text).subarray(0, NONCE);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(belonging));
      const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64url");
    },
    /**
     * The contents of a token.
     *
     * @throws ServiceError `invalidArgument` if it is not one of this request; the message says what differs
     */
    read(token: string, request: PagedRequest): readonly string[] {
      const names = Object.keys(request.parameters);
      const texts = decrypt(token, belongingOf(request));
      if (texts === undefined) {
        throw refused(
          token,
          names,
          "it was changed, is of another version, or belongs to another list or provider",
        );
      }
      const changed = names.find((name, nth) => texts[nth] !== request.parameters[name]);
      if (changed !== undefined) throw refused(token, names, `its ${changed} was another one`);
      return texts.slice(names.length);
    },
  };
}

/** What a token belongs to, as text. Other parameters have other names. */
function belongingOf({ list, owner, parameters }: PagedRequest): string {
  return JSON.stringify([VERSION, list, owner, ...Object.keys(parameters)]);
}

const AND = new Intl.ListFormat("en-GB");

function refused(token: string, names: readonly string[], reason: string): ServiceError {
  return new ServiceError(
    "invalidArgument",
    `pageToken: expected the nextPageToken of a response to the same ${AND.format(names)}, got ${quote(token)} (${reason})`,
    { field: "pageToken" },
  );
}
