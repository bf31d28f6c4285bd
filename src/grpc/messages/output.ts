/** A buffer that grows at its end, with the parts of protobuf's wire format. */

const INITIAL_CAPACITY = 16 * 1024;
/** A byte of a varint holds seven bits of it, and one that says whether another byte follows. */
const VARINT_BITS = 7;
const VARINT_RADIX = 2 ** VARINT_BITS;
const VARINT_MASK = VARINT_RADIX - 1;
const VARINT_CONTINUES = 0x80;
const MAX_VARINT_SIZE = 8;
/** Up to it, JavaScript's bitwise operators work on a number. */
const MAX_BITWISE = 2 ** 31 - 1;
const MAX_ASCII = 0x7f;

/** An empty output. Its space can be used again: set `length` to 0. */
export class Output {
  /** How many bytes were written. */
  length = 0;
  #bytes = Buffer.allocUnsafe(INITIAL_CAPACITY);

  /** How many bytes it has space for. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** What was written. Later writes do not change it. */
  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.length));
  }

  /** `value` is a safe integer, 0 or more. */
  varint(value: number): void {
    this.#reserve(MAX_VARINT_SIZE);
    let rest = value;
    for (; rest > MAX_BITWISE; rest = Math.floor(rest / VARINT_RADIX)) {
      this.#bytes[this.length++] = (rest % VARINT_RADIX) | VARINT_CONTINUES;
    }
    for (; rest > VARINT_MASK; rest >>>= VARINT_BITS) {
      this.#bytes[this.length++] = (rest & VARINT_MASK) | VARINT_CONTINUES;
    }
    this.#bytes[this.length++] = rest;
  }

  /** Bytes without a length prefix. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A string in UTF-8 with its length prefix. Lone surrogates become U+FFFD, as in `toBinary`. */
  text(text: string): void {
    if (text.length <= VARINT_MASK && this.#ascii(text)) return;
    const size = Buffer.byteLength(text);
    this.varint(size);
    this.#reserve(size);
    this.length += this.#bytes.write(text, this.length);
  }

  /** Leaves space for a length prefix. Returns where its bytes start, for `endDelimited`. */
  beginDelimited(): number {
    this.#reserve(1);
    return ++this.length;
  }

  /** Writes the length prefix of the bytes since `start`. */
  endDelimited(start: number): void {
    const size = this.length - start;
    this.length = start - 1;
    // Most prefixes take the one byte that was left. A longer one moves the bytes.
    let end = start;
    for (let rest = size >>> VARINT_BITS; rest > 0; rest >>>= VARINT_BITS) end++;
    this.#reserve(end - this.length + size);
    if (end > start) this.#bytes.copyWithin(end, start, start + size);
    this.varint(size);
    this.length = end + size;
  }

  /** Writes a string of up to 127 characters. Returns false, with nothing written, if it is not ASCII. */
  #ascii(text: string): boolean {
    this.#reserve(1 + text.length);
    const bytes = this.#bytes;
    let end = this.length;
    bytes[end++] = text.length;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > MAX_ASCII) return false;
      bytes[end++] = code;
    }
    this.length = end;
    return true;
  }

  #reserve(size: number): void {
    if (this.length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.length + size));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
