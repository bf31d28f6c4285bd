import { expect, it } from "vitest";
import { mistakesOf } from "../../src/config/mistake.ts";
import { readConfig } from "../../src/config.ts";

/** The mistakes that the service reports for an environment. */
const mistakesIn = (environment: Readonly<Record<string, string>>) =>
  mistakesOf(() => readConfig(environment));

const URL_FORM = "expected mysql://user:password@host:3306/database, percent-encoded";
const LOG_LEVELS = "trace, debug, info, warn, error, fatal, silent";

it.each<[string, Record<string, string>, string[]]>([
  ["nothing is set", { DATABASE_URL: "" }, [`DATABASE_URL is not set; ${URL_FORM}`]],
  [
    "everything is malformed",
    {
      DATABASE_URL: "postgres://u:hunter2@h/d",
      ADMIN_HOST: "local host",
      HTTP_PORT: "http",
      LOG_LEVEL: "loud",
      MAX_CALLS: "1.5",
      MAX_CALL_MS: "30000",
      TRUSTED_PROXIES: "10.0.0.0/8, 0.0.0.0/0",
    },
    [
      `DATABASE_URL starts with "postgres://"; ${URL_FORM}`,
      'HTTP_PORT is "http"; expected a port from 0 to 65535',
      'ADMIN_HOST is "local host"; expected an address such as 127.0.0.1 or ::',
      `LOG_LEVEL is "loud"; expected one of ${LOG_LEVELS}`,
      'TRUSTED_PROXIES is "0.0.0.0/0"; expected addresses or networks such as 10.0.0.0/8,::1',
      'MAX_CALL_MS is "30000"; expected a time in ms from 1 to 25000',
      'MAX_CALLS is "1.5"; expected a whole number from 1 to 1000000',
    ],
  ],
  [
    "the URL names no database",
    { DATABASE_URL: "mysql://u:hunter2@h" },
    [`DATABASE_URL does not name exactly one database; ${URL_FORM}`],
  ],
  [
    "the URL comes from two places",
    { DATABASE_URL: "mysql://u:hunter2@h/d", DATABASE_URL_FILE: "/run/secrets/url" },
    ["DATABASE_URL and DATABASE_URL_FILE are both set; expected one of them"],
  ],
  [
    "the file of the URL holds something else",
    { DATABASE_URL_FILE: import.meta.filename },
    [`the URL in DATABASE_URL_FILE is not a URL; ${URL_FORM}`],
  ],
  [
    "the key of a certificate is not given",
    { DATABASE_URL: "mysql://u:hunter2@h/d", TLS_CERT_FILE: "/nowhere/tls.crt" },
    ["TLS needs both TLS_CERT_FILE and TLS_KEY_FILE"],
  ],
])("if %s, every mistake is reported, without the password", (_, environment, mistakes) => {
  expect(mistakesIn(environment)).toEqual(mistakes);
  expect(mistakes.join("\n")).not.toContain("hunter2");
});

it.each([
  ["hunter2", "is not a URL"],
  ["mysql://h/d", "has no user"],
  ["mysql://u:hunter2%@h/d", "has a malformed percent-encoding in its password: % itself is %25"],
  ["mysql://u:hunter2#@h/d", "is not a URL"],
  ["mysql://u:1@h/d?hunter2@h/d", "has an unknown parameter (known: ssl-mode)"],
  ["mysql://u:1@h/d#hunter2@h/d", "has a part after #"],
  [
    "mysql://u:hunter2@10.0.0.1/d?ssl-mode=VERIFY_IDENTITY",
    'has ssl-mode "VERIFY_IDENTITY" with an address; it needs a host name',
  ],
])("the mistake in DATABASE_URL=%s is told without the password: it %s", (url, mistake) => {
  expect(mistakesIn({ DATABASE_URL: url })).toEqual([`DATABASE_URL ${mistake}; ${URL_FORM}`]);
});

it("a password is decoded, and a database may have an @, as a target of Vitess has", () => {
  const DATABASE_URL = "mysql://u:p@:%40%23%2F%3F%25@h/revenue:-80@replica";
  const { databaseUrl } = readConfig({ DATABASE_URL });
  const password = "p@:@#/?%";
  expect(databaseUrl).toMatchObject({ host: "h", password, database: "revenue:-80@replica" });
});

it.each([
  ["TRUSTED_PROXIES", "10.0.0.0/8,::1", { trustedProxies: ["10.0.0.0/8", "::1"] }],
  [
    "CORS_ORIGINS",
    "https://app.example,http://localhost:5173",
    { corsOrigins: ["https://app.example", "http://localhost:5173"] },
  ],
  ["SERVICE_KEYS", "", { serviceKeys: "grpc" }],
  ["ADMIN_PORT", "off", { adminPort: undefined }],
  ["MAX_CALL_MS", "", { maxCall: 10_000 }],
] as const)("%s may be %j", (name, text, expected) => {
  expect(readConfig({ DATABASE_URL: "mysql://u:p@h/d", [name]: text })).toMatchObject(expected);
});
