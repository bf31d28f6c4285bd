/**
 * Node's permissions as `deploy/systemd` gives them, in the folders of the tests: every process of the service and
 * of its commands runs with them, so what needs another fails.
 */
import { readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const UNIT = readFileSync(join(ROOT, "deploy/systemd/revenue@.service"), "utf8");
const SHIPPED = /^Environment="NODE_OPTIONS=(.*)"$/m.exec(UNIT)?.[1];
if (SHIPPED === undefined) throw new Error("the unit has no NODE_OPTIONS");

/** For `NODE_OPTIONS`. Packages may be those of another folder; the cache of compiled modules may be written. */
export const SEAT_BELT = [
  SHIPPED.replaceAll("/opt/revenue*", `${ROOT}/`).replaceAll("/etc/revenue/", `${tmpdir()}/`),
  `--allow-fs-read=${realpathSync(join(ROOT, "node_modules"))}/`,
  ...(process.env.NODE_COMPILE_CACHE ? [`--allow-fs-write=${process.env.NODE_COMPILE_CACHE}`] : []),
].join(" ");
