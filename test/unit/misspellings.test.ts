/** What is told at start about names that are almost those of settings. */
import { expect, it } from "vitest";
import { misspelled } from "../../src/config/misspellings.ts";
import { VARIABLES } from "../../src/config.ts";

it.each([
  ["MAX_CONECTIONS", "MAX_CONNECTIONS"],
  ["LOG_LEVLE", "LOG_LEVEL"],
  ["log_level", "LOG_LEVEL"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["ROLLUP_WATCH", "ROLLUP_WATCH_SECONDS"],
])("%s is taken for a slip of %s", (name, meant) => {
  expect(misspelled({ [name]: "1" }, ["ROLLUP_WATCH_SECONDS"])).toEqual([
    `${name} is set, which is no setting: did you mean ${meant}?`,
  ]);
});

it("what others use is none: theirs, Node's, Kubernetes', a shell's", () => {
  const others = `HOME HOSTNAME HOSTS POST PORT PATH PWD USER SHELL TERM LANG TZ SHLVL EDITOR MAIL LOGNAME
    DATABASE DATABASE_HOST DATABASE_USER DATABASE_PASSWORD MYSQL_HOST DB_URL MYSQLD WEBS HTTP_PROXY HTTPS_PROXY
    NO_PROXY NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR GRPC_TRACE GRPC_VERBOSITY DEBUG
    UV_THREADPOOL_SIZE INVOCATION_ID JOURNAL_STREAM LISTEN_FDS NOTIFY_SOCKET CREDENTIALS_DIRECTORY
    KUBERNETES_SERVICE_HOST KUBERNETES_PORT REVENUE_PORT REVENUE_SERVICE_PORT_HTTP REVENUE_GRPC_PORT
    OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_ENDPOINT npm_config_cache npm_package_json`;
  const environment = Object.fromEntries(others.split(/\s+/).map((name) => [name, "1"]));
  expect(misspelled(environment)).toEqual([]);
  const ours = Object.fromEntries(Object.values(VARIABLES).map(({ name }) => [name, "1"]));
  expect(misspelled(ours)).toEqual([]);
});
