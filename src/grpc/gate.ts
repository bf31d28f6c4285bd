/**
 * The gate of every call: an interceptor that keeps a client from making the process hold responses
 * which it does not read.
 *
 * - A response waits while its connection has too many unread bytes.
 * - The next request of a stream (reflection) is delivered once the responses to those before it are
 *   sent: @grpc/reflection does not look at the stream's buffer.
 *
 * The status of a unary call is sent together with its message. grpc-js waits until the message is
 * written, and then writes a second time.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
} from "@grpc/grpc-js";
import type { Streams } from "./streams.ts";

/** Creates the interceptor of a server. */
export function createGate(streams: Streams): ServerInterceptor {
  return ({ requestStream, responseStream }, call) =>
    requestStream
      ? new RequestStreamCall(call, streams)
      : new GatedCall(call, streams, !responseStream);
}

class GatedCall extends ServerInterceptingCall {
  readonly #streams: Streams;
  readonly #isUnary: boolean;

  constructor(call: ServerInterceptingCallInterface, streams: Streams, isUnary: boolean) {
    super(call);
    this.#streams = streams;
    this.#isUnary = isUnary;
  }

  override sendMessage(message: unknown, callback: () => void): void {
    const connection = this.#streams.connectionOf(this.getPeer());
    if (connection === undefined) return; // it has closed, and the call is cancelled
    connection.whenRead(() => {
      super.sendMessage(message, () => {
        connection.written();
        if (!this.#isUnary) callback();
      });
      if (this.#isUnary) callback();
    });
  }
}

class RequestStreamCall extends GatedCall {
  #unsent = 0;
  #deliver: (() => void) | undefined;

  constructor(call: ServerInterceptingCallInterface, streams: Streams) {
    const listener = new ServerListenerBuilder().withOnReceiveMessage((message, deliver) => {
      // One place is enough: grpc-js reads the next message after this one is delivered.
      if (this.#unsent === 0) deliver(message);
      else this.#deliver = () => deliver(message);
    });
    super(
      new ServerInterceptingCall(call, { start: (next) => next(listener.build()) }),
      streams,
      false,
    );
  }

  override sendMessage(message: unknown, callback: () => void): void {
    this.#unsent++;
    super.sendMessage(message, () => {
      this.#unsent--;
      callback();
      if (this.#unsent > 0) return;
      const deliver = this.#deliver;
      this.#deliver = undefined;
      deliver?.();
    });
  }
}
