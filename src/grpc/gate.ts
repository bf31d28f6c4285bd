/**
 * The gate of every call: an interceptor that keeps a client from making the process hold responses
 * which it does not read.
 *
 * - A response waits while its connection has too many unread bytes.
 * - The next request of a stream (reflection) is delivered once the responses to those before it are
 *   sent: @grpc/reflection does not look at the stream's buffer.
 * - A call with one request starts in the turn of the event loop after it, if it is still open then: one
 *   that is cancelled at once, or whose connection is closed for its many streams, costs little.
 *
 * The status of a unary call is sent together with its message. grpc-js waits until the message is
 * written, and then writes a second time.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
  type ServerMethodDefinition,
} from "@grpc/grpc-js";
import { endsOf } from "../net/address.ts";
import type { Connection } from "./connection.ts";
import type { Streams } from "./streams.ts";

/** Creates the interceptor of a server. */
export function createGate(streams: Streams): ServerInterceptor {
  return (method, call) =>
    new GatedCall(call, streams.connectionOf(endsOf(call.getConnectionInfo())), method);
}

class GatedCall extends ServerInterceptingCall {
  /** Undefined if it closes just now. Then grpc-js drops what is sent. */
  readonly #connection: Connection | undefined;
  readonly #isUnary: boolean;
  /** Gives up the response that waits. grpc-js sends one at a time. */
  #giveUp: (() => void) | undefined;
  #unsent = 0;
  #deliver: (() => void) | undefined;
  #isOver = false;

  constructor(
    call: ServerInterceptingCallInterface,
    connection: Connection | undefined,
    { requestStream, responseStream }: ServerMethodDefinition<unknown, unknown>,
  ) {
    // grpc-js tells it at the end of each call.
    const listener = new ServerListenerBuilder().withOnCancel(() => {
      this.#isOver = true;
      this.#giveUp?.();
    });
    if (requestStream) {
      listener.withOnReceiveMessage((message, deliver) => {
        // One place is enough: grpc-js reads the next message after this one is delivered.
        if (this.#unsent === 0) deliver(message);
        else this.#deliver = () => deliver(message);
      });
    } else {
      listener.withOnReceiveHalfClose((deliver) => {
        setImmediate(() => {
          if (!this.#isOver && !connection?.isClosed) deliver();
        });
      });
    }
    super(call, { start: (next) => next(listener.build()) });
    this.#connection = connection;
    this.#isUnary = !requestStream && !responseStream;
  }

  override sendMessage(message: unknown, callback: () => void): void {
    this.#unsent++;
    const write = () => {
      super.sendMessage(message, () => {
        this.#connection?.written();
        this.#written(callback);
      });
      if (this.#isUnary) callback();
    };
    if (this.#connection === undefined) write();
    else this.#giveUp = this.#connection.whenRead(write);
  }

  #written(callback: () => void): void {
    this.#unsent--;
    if (!this.#isUnary) callback();
    if (this.#unsent > 0) return;
    const deliver = this.#deliver;
    this.#deliver = undefined;
    deliver?.();
  }
}
