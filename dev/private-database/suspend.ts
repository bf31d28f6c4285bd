/** Waits until SIGSTOP has taken effect on a process. */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait if thread states cannot be read, in ms. */
const FALLBACK_DELAY = 200;

/**
 * Resolves when every thread of a process that was sent SIGSTOP has stopped. One thread
 * handles the signal; the others run until it has.
 */
export async function untilSuspended(pid: number): Promise<void> {
  const threads = `/proc/${pid}/task`;
  for (;;) {
    let states: string[];
    try {
      const ids = await readdir(threads);
      states = await Promise.all(ids.map((id) => threadState(`${threads}/${id}/stat`)));
    } catch {
      return sleep(FALLBACK_DELAY); // not Linux, or a thread ended in the meantime
    }
    if (states.every((state) => state === "T")) return;
    await sleep(5);
  }
}

/** The state letter. It follows the command name, which is in parentheses and may contain any character: see proc(5). */
async function threadState(file: string): Promise<string> {
  const stat = await readFile(file, "utf8");
  return stat.charAt(stat.lastIndexOf(")") + 2);
}
