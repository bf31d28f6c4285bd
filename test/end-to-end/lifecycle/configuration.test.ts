/** Mistakes in the environment: all told at once, exit code 1, and no password in the output. */
import { expect, it } from "vitest";
import { runService } from "../../support/service/service-process.ts";

const FORM = "it should read mysql://user:password@host:3306/database";
const LEVELS = "trace, debug, info, warn, error, fatal, silent";

type Environment = Readonly<Record<string, string>>;

it.each<[string, Environment, string[]]>([
  ["nothing set", { DATABASE_URL: "" }, [`DATABASE_URL is not set; ${FORM}`]],
  [
    "everything wrong",
    {
      DATABASE_URL: "postgres://u:hunter2@h/d",
      HOST: "local host",
      HTTP_PORT: "http",
      GRPC_PORT: "65536",
      LOG_LEVEL: "loud",
    },
    [
      `DATABASE_URL starts with "postgres://"; ${FORM}`,
      'HOST is "local host"; it should be an address, like 127.0.0.1 or ::',
      'HTTP_PORT is "http"; it should be a port, 0 to 65535',
      'GRPC_PORT is "65536"; it should be a port, 0 to 65535',
      `LOG_LEVEL is "loud"; it should be one of ${LEVELS}`,
    ],
  ],
  [
    "one port for both",
    { DATABASE_URL: "mysql://u:hunter2@h", HTTP_PORT: "8080", GRPC_PORT: "8080" },
    [
      `DATABASE_URL names no database, or more than one; ${FORM}`,
      "HTTP_PORT and GRPC_PORT are both 8080; each needs a port of its own",
    ],
  ],
  ["no URL", { DATABASE_URL: "hunter2" }, [`DATABASE_URL is not a URL; ${FORM}`]],
  ["no user", { DATABASE_URL: "mysql://h/d" }, [`DATABASE_URL names no user; ${FORM}`]],
  [
    "a damaged password",
    { DATABASE_URL: "mysql://u:hunter2%@h/d" },
    [`DATABASE_URL has a malformed percent-encoding in its password; ${FORM}`],
  ],
  [
    "an unknown parameter",
    { DATABASE_URL: "mysql://u:hunter2@h/d?timezone=local" },
    [`DATABASE_URL has an unknown parameter "timezone" (known: ssl-mode); ${FORM}`],
  ],
])("%s", async (_, environment, mistakes) => {
  const { ending, stdout, stderr } = await runService(environment);
  expect({ ending, stdout }).toEqual({ ending: 1, stdout: "" });
  expect(stderr).toBe(mistakes.map((mistake) => `cannot start: ${mistake}\n`).join(""));
  expect(stderr).not.toContain("hunter2");
});
