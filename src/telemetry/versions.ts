/** The versions that an operator watches: of the service, of Node, and of Node's time zone data. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MANIFEST = join(import.meta.dirname, "../../package.json");
const { version }: { readonly version: string } = JSON.parse(readFileSync(MANIFEST, "utf8"));

/** As in the log and in the labels of `revenue_build_info`. `tzdata` is a release of IANA's, such as `2026c`. */
export const versions = {
  version,
  node: process.versions.node,
  tzdata: process.versions.tz ?? "",
};
