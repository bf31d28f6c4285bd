/** The API key in a text that a person pasted. */
import type { Problem } from "./call/problem.ts";

/** The form of a key (`src/auth/api-key.ts`), with nothing right before or behind that could belong to it. */
const KEYS = /(?<![\p{L}\p{N}])rvk_[0-9A-Za-z]{49}(?![\p{L}\p{N}])/gu;
/** The digits of a key, by their values. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECK_DIGITS = 6;

/**
 * The key that a text has, whatever stands around it: quotes, `Bearer`, the name of a header or of a variable.
 * Characters that nobody sees, which come along when somebody copies from a chat or a document, do not
 * count. Undefined if there is none, or more than one.
 */
export function keyIn(text: string): string | undefined {
  const [key, another] = keysIn(text);
  return another === undefined ? key : undefined;
}

/** What is wrong with a text in place of a key; undefined if its key may be valid. It needs no call. */
export function faultOfKey(text: string): Problem | undefined {
  const fault = (title: string, advice: string) =>
    ({ kind: "key", title, advice, requestId: undefined }) as const;
  const [key, another] = keysIn(text);
  if (another !== undefined) {
    return fault("These are two API keys", "Enter one of them.");
  }
  if (key === undefined) {
    return /rvs_/.test(text)
      ? fault(
          "This is a service key",
          "It is for services of the platform. Enter the key of a provider: rvk_…",
        )
      : fault("This is not an API key", "A key is rvk_ and 49 letters and digits. Copy all of it.");
  }
  if (!key.endsWith(checkDigitsOf(key.slice(0, -CHECK_DIGITS)))) {
    return fault(
      "This API key is mistyped",
      "Its check digits are wrong. Copy it again, or correct it.",
    );
  }
  return undefined;
}

function keysIn(text: string): string[] {
  const visible = text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  return [...new Set(visible.match(KEYS))];
}

/** The CRC-32 of a text in ASCII as base62 digits. */
function checkDigitsOf(body: string): string {
  let crc = ~0;
  for (const char of body) {
    crc ^= char.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  let rest = ~crc >>> 0;
  let digits = "";
  while (digits.length < CHECK_DIGITS) {
    digits = DIGITS[rest % DIGITS.length] + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return digits;
}
