/** Random ledgers that favour values which are easily counted wrong. */
import fc from "fast-check";
import { around } from "./instants.ts";
import type { Charge, Instance, Ledger, Payout, Rental, Server } from "./ledger.ts";

/** All providers draw their ids from these, so that ids collide between providers. */
const IDS = [1n, 2n, 9n, 10n, 11n, 100n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 2n] as const;
const NAMES = [
  "",
  "a",
  "a ",
  "A",
  "b",
  "ä",
  "a\u0301",
  "～",
  "😀",
  "O'Neill \\\" %",
  "שרת",
] as const;
const STATUSES = ["Active", "Active", "Maintenance", "active", "ACTIVE", "Deleted", ""] as const;
const PRICES = [0n, 1n, 10n, 100n, 3_475n, 25_000n, 30_000n, 999_999_999_999n] as const;
/** In cents: amounts whose fee ends in half a cent, of either sign, and the limits of the column. */
const AMOUNTS = [0n, 1n, 4n, 5n, -5n, 15n, -15n, 25n, 99n, -1n, 10n ** 14n - 1n, 1n - 10n ** 14n];

/** The server and instance of a charge or a rental. */
type Place = Pick<Charge, "server" | "instance">;

const id = fc.constantFrom(...IDS);
const name = fc.constantFrom(...NAMES);
const cents = fc.oneof(fc.constantFrom(...AMOUNTS), fc.bigInt({ min: -100_000n, max: 100_000n }));
const price = fc.oneof(fc.constantFrom(...PRICES), fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }));

/** A ledger of a provider whose instants lie near `marks` (ISO 8601). */
export function anyLedger(provider: bigint, marks: readonly string[]): fc.Arbitrary<Ledger> {
  const instant = around(marks);
  const deletedAt = fc.option(instant, { freq: 2 });
  const server: fc.Arbitrary<Server> = fc
    .record({
      ...{ id, name, price, deletedAt },
      type: fc.constantFrom("GPU", "CPU", ""),
      status: fc.constantFrom(...STATUSES),
    })
    .map((server) => ({ ...server, uuid: uuid(provider, server.id) }));
  const instance: fc.Arbitrary<Instance> = fc
    .record({ id, server: id, name, deletedAt })
    .map((instance) => ({ ...instance, publicId: `instance-${provider}-${instance.id}` }));
  const payout: fc.Arbitrary<Payout> = fc
    .record({
      ...{ id: fc.bigInt({ min: 1n, max: 20n }), paidAt: instant, amount: cents },
      method: fc.constantFrom("Bank Transfer", "PayPal", ""),
      status: fc.constantFrom("Completed", "Pending"),
    })
    .map((payout) => ({ ...payout, publicId: `payout-${provider}-${payout.id}` }));
  return fc.tuple(distinct(server, 6), distinct(instance, 7)).chain(([servers, instances]) => {
    const place = anyPlace(servers, instances);
    const charge = fc
      .record({ place, at: instant, gross: cents })
      .map(({ place, ...rest }): Charge => ({ ...place, ...rest }));
    return fc.record({
      provider: fc.constant(provider),
      name,
      balance: fc.option(cents, { freq: 3 }),
      servers: fc.constant(servers),
      instances: fc.constant(instances),
      rentals: fc.array(anyRental(place, instant), { maxLength: 20, size: "max" }),
      charges: fc.array(charge, { maxLength: 30, size: "max" }),
      payouts: distinct(payout, 14),
    });
  });
}

/** Mostly a known instance, or a known server without an instance; sometimes ids of unknown ones. */
function anyPlace(servers: readonly Server[], instances: readonly Instance[]) {
  const known: Place[] = [
    ...instances.map(({ id, server }) => ({ server, instance: id })),
    ...servers.map(({ id }) => ({ server: id, instance: null })),
  ];
  const anywhere: fc.Arbitrary<Place> = fc.record({ server: id, instance: fc.option(id) });
  if (known.length === 0) return anywhere;
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...known) },
    { weight: 1, arbitrary: anywhere },
  );
}

/** A rental starts at the earlier of two instants and ends at the later, or has no end. */
function anyRental(
  place: fc.Arbitrary<Place>,
  instant: fc.Arbitrary<string>,
): fc.Arbitrary<Rental> {
  return fc.tuple(place, instant, fc.option(instant, { freq: 3 })).map(([place, one, other]) => {
    const [startedAt, endedAt] = other === null || one <= other ? [one, other] : [other, one];
    return { ...place, startedAt, endedAt };
  });
}

function uuid(provider: bigint, id: bigint): string {
  const digits = id.toString(16).padStart(16, "0");
  return `${String(provider).padStart(8, "0").slice(-8)}-${digits.slice(0, 4)}-4000-8000-${digits.slice(4)}`;
}

function distinct<T extends { readonly id: bigint }>(item: fc.Arbitrary<T>, maxLength: number) {
  return fc.uniqueArray(item, { selector: ({ id }) => id, maxLength, size: "max" });
}
