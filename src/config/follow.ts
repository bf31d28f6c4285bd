/**
 * Follows files that others replace while they are used: certificates, and secrets. The contents are
 * compared, not the times, so that every way of replacing a file counts: a write, a rename, a switched
 * link (Kubernetes).
 */
import { isDeepStrictEqual } from "node:util";

/** How often the files are read, in ms. They are small, and in memory as long as they are read so often. */
const CHECK_INTERVAL = 1_000;

/** What is followed. */
interface Followed<Contents> {
  /** What is in use at first. */
  readonly contents: Contents;
  /** Reads the files. Throws an Error with a line for each that cannot be read. */
  readonly read: () => Contents;
  /** Uses changed contents from now on. Throws an Error, with a line for each reason, if that is impossible. */
  readonly use: (contents: Contents) => void;
  /** Called once with the reasons why a change is not used. */
  readonly refuse: (problems: readonly string[]) => void;
}

/**
 * Reads files once a second. A change counts when two readings in a row have found the same: files are
 * replaced one after the other, and written in pieces. The timer does not keep the process alive.
 */
export function follow<Contents>({ contents, read, use, refuse }: Followed<Contents>): void {
  const look = () => attempt(read);
  let used = contents;
  let found = look();
  /** The problems that were reported, until there are none. */
  let reported: readonly string[] = [];

  function check(): void {
    const before = found;
    found = look();
    const { value, problems } = found;
    if (value !== undefined && isDeepStrictEqual(value, used)) reported = [];
    else if (isDeepStrictEqual(found, before)) settle(value, problems);
  }

  /** Uses what was found twice, or reports why not. */
  function settle(value: Contents | undefined, unread: readonly string[]): void {
    const problems = value === undefined ? unread : attempt(() => use(value)).problems;
    if (problems.length > 0 && !isDeepStrictEqual(problems, reported)) refuse(problems);
    if (value !== undefined && problems.length === 0) used = value;
    reported = problems;
  }

  setInterval(check, CHECK_INTERVAL).unref();
}

/** What work returns, or the lines of its error. */
function attempt<Value>(work: () => Value): {
  readonly value?: Value;
  readonly problems: readonly string[];
} {
  try {
    return { value: work(), problems: [] };
  } catch (error) {
    return { problems: (error as Error).message.split("\n") };
  }
}
