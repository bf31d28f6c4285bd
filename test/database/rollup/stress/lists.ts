/** Lists of charges whose connections get lost: each charge of before the first page comes once, later ones at most once. */
import type { Knex } from "knex";
import { expect } from "vitest";
import { createRandom } from "../../../../dev/random.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { chargesOf } from "../../../support/ledger/call.ts";
import type { ProcessList } from "../../../support/process-list.ts";
import { SEED } from "../../../support/seed.ts";

const { pick, happens } = createRandom(SEED);

interface Page {
  readonly charges: readonly { readonly chargeId: string }[];
  readonly nextPageToken: string;
  readonly startDate: string;
  readonly endDate: string;
}

/** What has happened so far. */
export interface ListCounts {
  lists: number;
  killed: number;
  /** Charges that came although they were recorded after the first page. */
  late: number;
}

/**
 * Reads lists of provider 1 until the signal aborts.
 *
 * @param readers a pool with one connection, so that it is known which one the next page will be read on
 */
export async function readLists(
  knex: Knex,
  readers: Knex,
  processes: ProcessList,
  signal: AbortSignal,
  counts: ListCounts,
): Promise<void> {
  const service = createRevenueService(createRead(readers));
  const ask = async (request: object) => (await chargesOf(service, 1n, request)) as unknown as Page;
  const charges = () => knex("charges").where({ provider_id: 1 });
  while (!signal.aborted) {
    const request = { startDate: pick(["", "2001-01-01", "0001-01-01"]), pageSize: pick([20, 90]) };
    const before = await charges().select("public_id", "charged_at");
    const pages = [await ask(request)];
    for (let last = pages[0]; last?.nextPageToken && !signal.aborted; last = pages.at(-1)) {
      const page = { ...request, pageToken: last.nextPageToken };
      if (happens(0.3)) {
        const [[{ id }]] = await readers.raw("SELECT CONNECTION_ID() AS id");
        const during = happens(0.5) ? ask(page) : undefined;
        await processes.kill(Number(id)).catch(() => {}); // it may be gone
        counts.killed++;
        await during;
      }
      pages.push(await ask(page));
    }
    if (signal.aborted) return;
    const [start = "", end = ""] = [pages[0]?.startDate, pages[0]?.endDate].map((time = "") =>
      new Date(time).toISOString().slice(0, -1).replace("T", " "),
    );
    const ids = pages.flatMap((page) => page.charges.map(({ chargeId }) => chargeId));
    const listed = new Set(ids);
    expect(listed.size).toBe(ids.length);
    const expected = before
      .filter(({ charged_at }) => start <= charged_at && charged_at <= end)
      .map(({ public_id }) => public_id as string);
    expect(expected.filter((id) => !listed.has(id))).toEqual([]);
    const all = new Set(await charges().pluck("public_id"));
    expect(ids.filter((id) => !all.has(id))).toEqual([]);
    counts.late += ids.length - expected.length;
    counts.lists++;
  }
}
