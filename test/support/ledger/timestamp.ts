/** An instant as protobuf's JSON writes a Timestamp: milliseconds only where they are not zero. */
export function timestamp(iso: string): string {
  return iso.replace(".000Z", "Z");
}
