/** The memory of the service process that this test file started, from Linux's /proc. */
import { readFile } from "node:fs/promises";

const MEBIBYTE = 1024;

/** The largest growth so far, in MiB. */
export interface Growth {
  /** Stops measuring. */
  stop(): number;
}

/** Measures how much memory the process takes more than now, ten times a second, until it is stopped. */
export async function measureGrowth(): Promise<Growth> {
  const pid = await servicePid();
  const before = await residentMebibytes(pid);
  let most = before;
  const timer = setInterval(async () => {
    most = Math.max(most, await residentMebibytes(pid).catch(() => 0));
  }, 100);
  return {
    stop() {
      clearInterval(timer);
      return Math.round(most - before);
    },
  };
}

async function residentMebibytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / MEBIBYTE;
}

/** The child of this process that runs the service. */
async function servicePid(): Promise<number> {
  const { pid } = process;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  for (const child of children.trim().split(" ").reverse()) {
    const command = await readFile(`/proc/${child}/cmdline`, "utf8");
    if (command.includes("src/main.ts")) return Number(child);
  }
  throw new Error("this process runs no service");
}
