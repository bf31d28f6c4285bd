/** A status of the platform, as stored: its text is never changed. */

const TONES = new Map([
  ["Active", "good"],
  ["Completed", "good"],
  ["Maintenance", "warn"],
  ["Pending", "warn"],
  ["Failed", "bad"],
]);

/** Shows a status. The colour only repeats what the text says, and of an unknown one nothing. */
export function Status({ status }: { readonly status: string }) {
  return <span class={`badge ${TONES.get(status) ?? ""}`}>{status}</span>;
}
