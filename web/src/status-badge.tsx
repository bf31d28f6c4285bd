/** A status of the platform, as stored: its text is never changed. */

const TONES = new Map([
  ["Active", "good"],
  ["Completed", "good"],
  ["Deleted", "over"],
  ["Cancelled", "over"],
  ["Failed", "bad"],
]);

/** Whether a status is of something that went wrong. One that is not known has not. */
export function isBad(status: string): boolean {
  return toneOf(status) === "bad";
}

/** Shows a status. The colour only repeats what the text says. */
export function StatusBadge({ status }: { status: string }) {
  return <span class={`badge badge-${toneOf(status)}`}>{status}</span>;
}

function toneOf(status: string): string {
  return TONES.get(status) ?? "other";
}
