/** The provider of a call: what a key may ask about, and when the database is asked. */
import { beforeEach, expect, it } from "vitest";
import {
  checkPlatformCaller,
  createFindProvider,
  type FindProvider,
} from "../../../src/auth/provider.ts";
import { createRead, type Read } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { type CallerKey, shareOf } from "../../../src/handler.ts";
import { providerKey, serviceKey } from "../../support/caller-key.ts";
import { databaseOfFile } from "../file-database.ts";

const { signal } = new AbortController();
const { knex } = await databaseOfFile(["providers"]);
const read = createRead(knex);

/** The shares in which providers were looked up. */
let lookups: (string | undefined)[];
let find: FindProvider;
beforeEach(() => {
  lookups = [];
  const counted: Read = (work, options) => {
    lookups.push(options.owner);
    return read(work, options);
  };
  find = createFindProvider(counted);
});

/** The provider, or the kind of the error. */
const outcomeOf = (key: CallerKey, ...named: string[]) =>
  find(key, named, signal).catch((thrown) =>
    thrown instanceof ServiceError ? thrown.kind : thrown,
  );

it("of a provider's key no look-up decides, whatever it names", async () => {
  const named = [[], ["7"], ["8"], [""], ["07"], ["7", "7"], ["7, 7"], ["7,7"], ["rvk_"]];
  const outcomes = await Promise.all(named.map((ids) => outcomeOf(providerKey("7"), ...ids)));
  expect(outcomes).toEqual(["7", "7", ...Array(7).fill("permissionDenied")]);
  expect(lookups).toEqual([]);
});

it("a service key's provider is looked up once in the share of the key, while it is known", async () => {
  await knex("providers").insert({ id: 7, name: "seven" });
  expect(await outcomeOf(serviceKey("12"), "7")).toBe("7");
  expect(await outcomeOf(serviceKey("13"), "7")).toBe("7");
  expect(lookups).toEqual(["service key 12"]);
});

it("a provider that was not found is looked up each time, and found as soon as it is there", async () => {
  expect(await outcomeOf(serviceKey(), "8")).toBe("providerNotFound");
  expect(await outcomeOf(serviceKey(), "8")).toBe("providerNotFound");
  // The very number, also beyond what a double can tell.
  const last = "18446744073709551615";
  await knex("providers").insert([
    { id: 8, name: "eight" },
    { id: last, name: "last" },
  ]);
  expect(await outcomeOf(serviceKey(), "8")).toBe("8");
  expect(await outcomeOf(serviceKey(), "18446744073709551614")).toBe("providerNotFound");
  expect(await outcomeOf(serviceKey(), last)).toBe(last);
  expect(lookups).toHaveLength(5);
});

it("what is no id is refused without a look-up", async () => {
  const ids = ["0", "07", "+7", " 7", "7\n", "٧", "7,7", "18446744073709551616"];
  const named = [[], ["7", "7"], ...ids.map((id) => [id])];
  const outcomes = await Promise.all(named.map((ids) => outcomeOf(serviceKey(), ...ids)));
  expect(outcomes).toEqual(named.map(() => "invalidArgument"));
  expect(lookups).toEqual([]);
});

it("an RPC about all providers is for service keys, and names none", () => {
  const kindOf = (key: CallerKey, ...named: string[]) => {
    try {
      return checkPlatformCaller(key, named);
    } catch (thrown) {
      return (thrown as ServiceError).kind;
    }
  };
  expect(kindOf(serviceKey())).toBeUndefined();
  expect(kindOf(serviceKey(), "7")).toBe("invalidArgument");
  expect(kindOf(providerKey("7"))).toBe("permissionDenied");
});

it("a kind of key that nothing names has no provider, no share and no platform", async () => {
  const key = { kind: "token", id: "1", providerId: "7" } as never;
  expect(await Promise.all([outcomeOf(key), outcomeOf(key, "7")])).toEqual(
    Array(2).fill("permissionDenied"),
  );
  for (const work of [() => shareOf(key), () => checkPlatformCaller(key, [])]) {
    expect(work).toThrow(new ServiceError("permissionDenied"));
  }
  expect(lookups).toEqual([]);
});
