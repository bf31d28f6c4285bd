/** What a start says of a configuration that shows service keys to others. */
import { expect, it } from "vitest";
import { exposures } from "../../src/config/exposure.ts";
import { readConfig } from "../../src/config.ts";

const exposed = (environment: Readonly<Record<string, string>>) =>
  exposures(readConfig({ DATABASE_URL: "mysql://u:p@h/d", ...environment }));

it.each([
  ["another address of loopback", { HOST: "127.1.2.3" }],
  ["loopback of IPv6", { HOST: "::1" }],
  ["no service keys", { HOST: "::", SERVICE_KEYS: "off" }],
])("%s exposes nothing", (_, environment) => {
  expect(exposed(environment)).toEqual([]);
});

it.each([
  [{ HOST: "::" }, /^the gRPC port accepts service keys, without TLS, on :: \(HOST\): /],
  [{ HOST: "0.0.0.0", SERVICE_KEYS: "all" }, /^both ports accept .* on 0\.0\.0\.0 /],
  [{ HOST: "localhost.example.com" }, /^the gRPC port accepts /],
])("%j is one warning", (environment, warning) => {
  expect(exposed(environment)).toEqual([expect.stringMatching(warning)]);
});

it("with TLS nothing is exposed", () => {
  const config = { host: "::", serviceKeys: "all", tlsCertFile: "/etc/revenue/tls.crt" } as const;
  expect(exposures(config)).toEqual([]);
});
