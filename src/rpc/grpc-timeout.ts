/**
 * The timeout of a gRPC or gRPC-Web request: `grpc-timeout`, up to 8 digits and a unit.
 *
 * @see https://github.com/grpc/grpc/blob/v1.76.0/doc/PROTOCOL-HTTP2.md (Timeout)
 */

/** The units, in ms. */
const UNITS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** A value of the header in ms; NaN if it is malformed. */
export function parseGrpcTimeout(value: string): number {
  const [, amount, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  return Number(amount) * (UNITS[unit] ?? Number.NaN);
}
