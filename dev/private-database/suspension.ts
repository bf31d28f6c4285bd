/** Suspending a process: SIGSTOP, and knowing that it has taken hold. */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** How long it is waited for where the system does not tell, in milliseconds. */
const GUESS = 200;

/**
 * Resolves when every thread of a process that was sent SIGSTOP stands still: the
 * signal is handed over by one of them, and the others run on until it has.
 */
export async function standstill(pid: number): Promise<void> {
  const threads = `/proc/${pid}/task`;
  for (;;) {
    let states: string[];
    try {
      const ids = await readdir(threads);
      states = await Promise.all(ids.map((id) => stateOf(`${threads}/${id}/stat`)));
    } catch {
      return sleep(GUESS); // not a Linux, or a thread that has just ended
    }
    if (states.every((state) => state === "T")) return;
    await sleep(5);
  }
}

/** The letter after the name in brackets, which may hold anything: see proc(5). */
async function stateOf(file: string): Promise<string> {
  const stat = await readFile(file, "utf8");
  return stat.charAt(stat.lastIndexOf(")") + 2);
}
