/**
 * Back-pressure on bidirectional streams: a message is read when the answers to those before it
 * have been sent. Without it, a client that asks and never reads fills the memory, because
 * handlers such as @grpc/reflection's write without looking at the stream's buffer.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
} from "@grpc/grpc-js";

/** Applies back-pressure to calls whose requests are a stream; leaves the others as they are. */
export const applyBackpressure: ServerInterceptor = (method, call) =>
  method.requestStream ? new BackpressureCall(call) : new ServerInterceptingCall(call);

class BackpressureCall extends ServerInterceptingCall {
  #unsent = 0;
  #deliver: (() => void) | undefined;

  constructor(call: ServerInterceptingCallInterface) {
    super(call, {
      start: (next) => {
        next(
          new ServerListenerBuilder()
            .withOnReceiveMessage((message, deliver) => {
              // At most one is held: grpc-js reads the next one only after it was delivered.
              if (this.#unsent === 0) deliver(message);
              else this.#deliver = () => deliver(message);
            })
            .build(),
        );
      },
    });
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
