/** `npm run vitess`: the tests on a Vitess that is running, whose vtgate `VITESS_URL` names. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const VITEST = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

if (process.env.VITESS_URL === undefined) {
  console.log("not run: VITESS_URL is not set (mysql://user@host:port of vtgate)");
} else {
  const options = ["run", "--project", "vitess", ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, [VITEST, ...options], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
