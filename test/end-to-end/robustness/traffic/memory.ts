/** The memory of the service process that this test process started, from Linux's /proc. */
import { readFile } from "node:fs/promises";

/** A MiB in kB, the unit of /proc. */
const MEBIBYTE = 1024;

/** A measurement that runs. */
export interface Growth {
  /** Stops measuring. Returns the largest growth so far, in MiB. */
  stop(): number;
}

/** Measures ten times a second how far the resident memory of the service exceeds its current size. */
export async function measureGrowth(): Promise<Growth> {
  const pid = await servicePid();
  const before = await residentMebibytes(pid);
  let largest = before;
  const timer = setInterval(async () => {
    largest = Math.max(largest, await residentMebibytes(pid).catch(() => 0));
  }, 100);
  return {
    stop() {
      clearInterval(timer);
      return Math.round(largest - before);
    },
  };
}

async function residentMebibytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / MEBIBYTE;
}

/** The newest child of this process that runs the service. */
async function servicePid(): Promise<number> {
  const { pid } = process;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  for (const child of children.trim().split(" ").reverse()) {
    const command = await readFile(`/proc/${child}/cmdline`, "utf8");
    if (command.includes("src/main.ts")) return Number(child);
  }
  throw new Error("this process has not started a service");
}
