/** The SQL of GetServerBreakdown. All places in time are parameters. */
import { CONFIRMED } from "../../rollup/read/facts.ts";
import { BY_OWNER, periodQueries } from "../period-sums.ts";
import { compileQuestion } from "../question-statements.ts";
import { WALLET } from "../wallet.ts";

/** Every server, including deleted ones. */
const SERVERS = {
  select: {
    id: "id",
    uuid: "uuid",
    name: "name",
    type: "type",
    status: "status",
    deleted: "deleted_at IS NOT NULL",
  },
  from: "servers WHERE provider_id = :provider",
};

/** Every instance, including deleted ones. */
const INSTANCES = {
  select: {
    id: "id",
    server: "server_id",
    publicId: "public_id",
    name: "name",
    deleted: "deleted_at IS NOT NULL",
  },
  from: "instances WHERE provider_id = :provider",
};

const { raw, completing, stored } = periodQueries(BY_OWNER);

/** The statements of a breakdown. */
export const breakdownStatements = compileQuestion(
  {
    raw: { confirmed: WALLET, ...raw },
    completing: { confirmed: CONFIRMED, ...completing },
    stored,
    others: { servers: SERVERS, instances: INSTANCES },
  },
  "breakdown",
);
