/** A status of the platform, as stored: its text is never changed. */

const GOOD = ["Active", "Completed"];
const OVER = ["Deleted", "Failed", "Cancelled"];

/** Shows a status. The colour only repeats what the text says. */
export function StatusBadge({ status }: { status: string }) {
  const tone = GOOD.includes(status) ? "good" : OVER.includes(status) ? "over" : "other";
  return <span class={`badge badge-${tone}`}>{status}</span>;
}
