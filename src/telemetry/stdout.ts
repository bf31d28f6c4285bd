/** Standard output as a file descriptor on which a write fails with EAGAIN rather than block. */
import { constants, fstatSync, openSync } from "node:fs";
import { isatty } from "node:tty";

const FD = 1;

/**
 * Opens standard output for writing. A write to a regular file or a device may still take as long
 * as its disk does.
 */
export function openStdout(): number {
  const stdout = fstatSync(FD);
  if (!stdout.isFIFO() && !stdout.isSocket() && !isatty(FD)) return FD;
  // With Node's permission model nothing is opened for writing.
  if (process.permission !== undefined) return process.stdout.fd;
  try {
    // O_NONBLOCK belongs to the open file description, which the shell that started the process may
    // share: `(npm start; echo done) | tee`. A description of our own leaves its as it is.
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${FD}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // A socket cannot be opened again, nor can another user's pipe. Node makes the shared
    // description non-blocking when it opens `process.stdout`, and restores it at exit.
    return process.stdout.fd;
  }
}
