/** Writing a response that several calls share once, not once for each. */

/** A writer that remembers what it wrote of a message for as long as the message lives. */
export function memoize<Message extends object, Written>(
  write: (message: Message) => Written,
): (message: Message) => Written {
  const known = new WeakMap<Message, Written>();
  return (message) => {
    const written = known.get(message) ?? write(message);
    known.set(message, written);
    return written;
  };
}
