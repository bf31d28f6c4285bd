/** The arithmetic of the statement for a month: it adds up, or says what does not. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import {
  DailyRevenueSchema,
  GetServerBreakdownResponseSchema,
  type ServerBreakdownSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { statementOf } from "../../../web/src/statement/statement.ts";

const amounts = (gross: string, fee: string, earnings: string) => ({
  totalRevenue: { value: gross },
  platformFees: { value: fee },
  earnings: { value: earnings },
});

const breakdown = (
  whole: ReturnType<typeof amounts>,
  servers: MessageInitShape<typeof ServerBreakdownSchema>[],
) => create(GetServerBreakdownResponseSchema, { ...whole, servers, refunds: { value: "-2.00" } });

const days = (...gross: string[]) =>
  gross.map((value) => create(DailyRevenueSchema, { grossRevenue: { value } }));

// Each fee of 0.005 is rounded up; that of both is 0.01.
const HALVES = [amounts("0.05", "0.01", "0.04"), amounts("0.05", "0.01", "0.04")];

it("servers and the rest come to the sum, with the cents of rounding and what is of no server", () => {
  const idle = amounts("0.00", "0.00", "0.00");
  const whole = breakdown(amounts("1.10", "0.11", "0.99"), [...HALVES, idle]);
  const { servers, rest, sum, refunds, faults } = statementOf(whole, days("0.50", "0.60"));
  expect(servers.length).toBe(2);
  expect(rest).toMatchObject({ gross: 100n, fee: 9n, earnings: 91n });
  expect(sum).toMatchObject({ gross: 110n, fee: 11n, earnings: 99n });
  expect([refunds, faults]).toEqual([-200n, []]);
  for (const of of ["gross", "fee", "earnings"] as const) {
    expect(servers.reduce((total, line) => total + line[of], rest[of])).toBe(sum[of]);
  }
});

it("what does not add up is told", () => {
  const whole = amounts("0.10", "0.01", "0.09");
  expect(statementOf(breakdown(whole, HALVES), days("0.11")).faults).toEqual([
    "the days come to another gross revenue",
  ]);
  const wrong = [amounts("0.10", "0.01", "0.10")];
  expect(statementOf(breakdown(whole, wrong), days("0.10")).faults).toEqual([
    "fees and earnings are not gross revenue",
  ]);
});
