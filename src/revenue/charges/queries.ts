/** The SQL of ListCharges. It reads the ledger alone, and of servers and instances those of the page. */
import { compileStatement } from "../../db/statement.ts";
import { DEFAULT_SIZE, MAX_SIZE, rowsAfter } from "../pages.ts";
import { WALLET } from "../wallet.ts";

/** What is read of a charge. */
const COLUMNS = [
  ...["id", "public_id", "charged_at", "recorded_at"],
  ...["server_id", "instance_id", "gross"],
];

/** The charges of a page, with the names of what they are for. The limit is within, so that few rows are joined. */
const withNames = (page: string) => ({
  select: {
    at: "page.charged_at",
    order: "page.id",
    publicId: "page.public_id",
    recordedAt: "page.recorded_at",
    gross: "page.gross",
    server: "servers.uuid",
    serverName: "servers.name",
    instance: "instances.public_id",
    instanceName: "instances.name",
  },
  from: `${page}
    LEFT JOIN servers ON servers.provider_id = :provider AND servers.id = page.server_id
    LEFT JOIN instances ON instances.provider_id = :provider AND instances.id = page.instance_id`,
});

const chargesAfter = (limit: number) =>
  compileStatement(
    { wallet: WALLET, page: withNames(rowsAfter("charges", COLUMNS, "charged_at", limit)) },
    "charges",
  );

/** The statements for a page of at most that many, and one more that tells whether there is another page. */
export const chargesOfDefault = chargesAfter(DEFAULT_SIZE + 1);
export const chargesOfMaximum = chargesAfter(MAX_SIZE + 1);
