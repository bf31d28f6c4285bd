/** nginx as a proxy in front of a service, in a folder of its own. Installs Debian's package if there is none. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../dev/free-port.ts";
import { canInstallPackages, installPackages } from "../../dev/private-database/debian-packages.ts";
import { findProgram } from "../../dev/private-database/server-binary.ts";
import { poll } from "./poll.ts";

/** A running nginx. */
export type Nginx = Awaited<ReturnType<typeof startNginx>>;

/**
 * Starts nginx. Its base URL is `http://127.0.0.1:PORT`.
 *
 * @param server what is in the block `server` of its configuration
 * @throws Error if there is no nginx and none can be installed, or if it does not start
 */
export async function startNginx(server: string) {
  if (!findProgram("nginx") && canInstallPackages())
    installPackages(["nginx-light"], console.error);
  const program = findProgram("nginx");
  if (program === undefined) throw new Error("this test needs nginx: apt-get install nginx-light");
  const folder = mkdtempSync(join(tmpdir(), "revenue-nginx-"));
  const port = await freePort();
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(" ");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http { access_log off; ${paths} server { listen 127.0.0.1:${port}; ${server} } }
`,
  );
  const child = spawn(program, ["-p", folder, "-c", "nginx.conf"], { stdio: "pipe" });
  const ended = once(child, "close");
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const url = `http://127.0.0.1:${port}`;
  await poll(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended:\n${output}`);
    return fetch(url).catch(() => undefined);
  });
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
