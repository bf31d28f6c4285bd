/** Parsers of variables. Each takes the text and the name of the variable, and throws `ConfigError`. */
import { isIP } from "node:net";
import { compile } from "@fastify/proxy-addr";
import { mistake } from "./mistake.ts";

/** Parses an address to listen on, or a name of one, neither of them with a port. */
export function address(text: string, name: string): string {
  const isName = /^[\w.-]+$/.test(text) && /[a-z]/i.test(text);
  if (isIP(text) !== 0 || isName) return text;
  throw mistake(name, text, "an address such as 127.0.0.1 or ::");
}

/** Parses an address to listen on; undefined for none. */
export function optionalAddress(text: string, name: string): string | undefined {
  return text === "" ? undefined : address(text, name);
}

/** Parses a decimal integer from `min` to `max`. `what` names it in the message: "a port". */
export function integer(what: string, min: number, max: number) {
  return (text: string, name: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw mistake(name, text, `${what} from ${min} to ${max}`);
  };
}

/** Parses a port; undefined for `off`. */
export function optionalPort(text: string, name: string): number | undefined {
  return text === "off" ? undefined : integer("a port or off,", 0, 65_535)(text, name);
}

/** Parses a path; undefined for none. */
export function path(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** Parses one of several words. */
export function oneOf<Choice extends string>(choices: readonly Choice[]) {
  return (text: string, name: string): Choice => {
    const choice = choices.find((known) => known === text);
    if (choice !== undefined) return choice;
    throw mistake(name, text, `one of ${choices.join(", ")}`);
  };
}

/** The items of a comma-separated list. */
function itemsOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Parses a comma-separated list of IP addresses and networks, as `createAddresses` takes it: `10.0.0.0/8,::1`. */
export function networks(text: string, name: string): readonly string[] {
  const items = itemsOf(text);
  for (const item of items) {
    try {
      compile(item);
    } catch {
      throw mistake(name, item, "addresses or networks such as 10.0.0.0/8,::1");
    }
  }
  return items;
}

/** Parses a comma-separated list of origins: `https://app.example.com,http://localhost:5173`, or `*`. */
export function origins(text: string, name: string): readonly string[] {
  const items = itemsOf(text);
  for (const item of items) {
    const valid = item === "*" || (/^https?:/.test(item) && URL.parse(item)?.origin === item);
    if (!valid) throw mistake(name, item, "origins such as https://app.example.com, or *");
  }
  return items;
}
