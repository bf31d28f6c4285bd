/** Serializes a response that coalesced calls share once, not once per call. */

/** Caches the result of `write` for each message, as long as the message is alive. */
export function memoize<Message extends object, Written>(
  write: (message: Message) => Written,
): (message: Message) => Written {
  const cache = new WeakMap<Message, Written>();
  return (message) => {
    const written = cache.get(message) ?? write(message);
    cache.set(message, written);
    return written;
  };
}
