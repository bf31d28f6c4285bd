/** The demo's ledger: the history of its providers as table rows. */
import { DAY } from "../duration.ts";
import { createRandom, type Random } from "../random.ts";
import { chargesOf } from "./charges.ts";
import { settle } from "./payouts.ts";
import { type DemoProvider, type DemoServer, demoProviders } from "./providers.ts";
import { rentalsOf } from "./rentals.ts";

/** The tables that the demo fills, in this order. */
export const demoTables = [
  "providers",
  "wallets",
  "servers",
  "instances",
  "rentals",
  "charges",
  "payouts",
] as const;

/** A row. Omitted columns get their defaults. */
type Row = Record<string, string | number | Date | null>;

/** The rows of each table. */
export type Ledger = Readonly<Record<(typeof demoTables)[number], Row[]>>;

/** Creates the ledger as of `now` (epoch ms). It is deterministic: it depends on `now` only. */
export function createLedger(now: number): Ledger {
  const ledger: Ledger = {
    providers: [],
    wallets: [],
    servers: [],
    instances: [],
    rentals: [],
    charges: [],
    payouts: [],
  };
  const random = createRandom(20_240_229);
  for (const provider of demoProviders) addProvider(ledger, provider, now, random);
  const ids = createRandom(20_241_128);
  for (const charge of ledger.charges) charge.public_id = `ch_${ids.hex(12)}`;
  return ledger;
}

function addProvider(ledger: Ledger, provider: DemoProvider, now: number, random: Random): void {
  const id = ledger.providers.length + 1;
  ledger.providers.push({ id, name: provider.name, created_at: daysAgo(provider.created, now) });
  const charges = provider.servers
    .flatMap((server) => addServer(ledger, id, server, now, random))
    .sort((a, b) => a.chargedAt - b.chargedAt);
  for (const { chargedAt, cents, ...row } of charges) {
    const at = new Date(chargedAt);
    ledger.charges.push({ ...row, charged_at: at, recorded_at: at, gross: usd(cents) });
  }
  if (charges.length === 0) return; // a provider gets its wallet with its first charge
  const { payouts, balance } = settle(charges, provider.methods, now);
  ledger.wallets.push({ provider_id: id, available_balance: usd(balance) });
  for (const { paidAt, cents, method, status } of payouts) {
    ledger.payouts.push({
      provider_id: id,
      public_id: `po_${random.hex(12)}`,
      paid_at: new Date(paidAt),
      amount: usd(cents),
      method,
      status,
    });
  }
}

function addServer(
  ledger: Ledger,
  providerId: number,
  server: DemoServer,
  now: number,
  random: Random,
) {
  const serverId = ledger.servers.length + 1;
  const created = daysAgo(server.created, now);
  const deleted = server.deleted === undefined ? null : daysAgo(server.deleted, now);
  ledger.servers.push({
    id: serverId,
    provider_id: providerId,
    uuid: uuid(random),
    name: server.name,
    type: server.type,
    status: server.status,
    price_per_hour: server.price,
    created_at: created,
    deleted_at: deleted,
  });

  const rent = (instanceId: number | null, until: Date | null) => {
    const available = {
      from: created.getTime(),
      until: until?.getTime() ?? (server.idle === undefined ? Infinity : now - server.idle * DAY),
    };
    return rentalsOf(available, server.demand, now, random).flatMap((rental) => {
      const id = ledger.rentals.length + 1;
      const owner = { provider_id: providerId, server_id: serverId, instance_id: instanceId };
      ledger.rentals.push({
        id,
        ...owner,
        started_at: new Date(rental.startedAt),
        ended_at: rental.endedAt === null ? null : new Date(rental.endedAt),
      });
      return chargesOf(rental, Number(server.price), now, random).map((charge) => ({
        ...owner,
        rental_id: id,
        ...charge,
      }));
    });
  };

  if (server.instances.length === 0) return rent(null, deleted);
  return server.instances.flatMap((instance) => {
    const id = ledger.instances.length + 1;
    const deletedAt = instance.deleted === undefined ? deleted : daysAgo(instance.deleted, now);
    ledger.instances.push({
      id,
      provider_id: providerId,
      server_id: serverId,
      public_id: `inst_${random.hex(12)}`,
      name: instance.name,
      created_at: created,
      deleted_at: deletedAt,
    });
    return rent(id, deletedAt);
  });
}

function daysAgo(days: number, now: number): Date {
  return new Date(now - days * DAY);
}

/** Formats cents as USD: -5 is -0.05. */
function usd(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** A random UUID (RFC 9562, section 5.4). */
function uuid(random: Random): string {
  const variant = (8 + random.integer(0, 4)).toString(16);
  return `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-${variant}${random.hex(3)}-${random.hex(12)}`;
}
