/** The arithmetic of the statement for a month. All amounts are in cents. */
import type {
  DailyRevenue,
  GetServerBreakdownResponse,
  ServerBreakdown,
} from "../../../clients/typescript/src/index.ts";
import { hundredths } from "../amount/decimal-text.ts";
import { add } from "../amount/sums.ts";

/** A line of the statement: of a server, or of others together. */
export interface StatementLine {
  /** Empty for others. */
  readonly serverId: string;
  readonly serverName: string;
  readonly gross: bigint;
  readonly fee: bigint;
  readonly earnings: bigint;
}

/** The figures of a month. */
export interface StatementFigures {
  readonly refunds: bigint;
  readonly servers: readonly StatementLine[];
  /** What the servers lack of the sum: charges of no server that is listed, and cents of rounding. */
  readonly rest: StatementLine;
  readonly sum: StatementLine;
  /** What does not add up. */
  readonly faults: readonly string[];
}

/** The figures of a month by a breakdown of it. The days of the month, from another call, have to come to the same. */
export function statementOf(
  breakdown: GetServerBreakdownResponse,
  days: readonly DailyRevenue[],
): StatementFigures {
  const sum = lineOf({ serverId: "", serverName: "Sum", ...breakdown });
  const servers = breakdown.servers.map(lineOf);
  const lack = (of: "gross" | "fee" | "earnings") =>
    servers.reduce((rest, line) => rest - line[of], sum[of]);
  const [gross, fee, earnings] = [lack("gross"), lack("fee"), lack("earnings")];
  const byDay = add(days.map(({ grossRevenue }) => grossRevenue));
  const isWhole = (line: StatementLine) => line.fee + line.earnings === line.gross;
  const checks = [
    ["fees and earnings are not gross revenue", [sum, ...servers].every(isWhole)],
    ["the days come to another gross revenue", byDay === sum.gross],
  ] as const;
  return {
    refunds: hundredths(breakdown.refunds),
    servers: servers.filter((line) => line.gross !== 0n),
    rest: { ...sum, serverName: "Rounding, and charges of no server", gross, fee, earnings },
    sum,
    faults: checks.filter(([, isRight]) => !isRight).map(([fault]) => fault),
  };
}

type Amounts = Pick<
  ServerBreakdown,
  "serverId" | "serverName" | "totalRevenue" | "platformFees" | "earnings"
>;

function lineOf(of: Amounts): StatementLine {
  const { serverId, serverName } = of;
  const [gross, fee] = [hundredths(of.totalRevenue), hundredths(of.platformFees)];
  return { serverId, serverName, gross, fee, earnings: hundredths(of.earnings) };
}
