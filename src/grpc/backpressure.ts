/**
 * Back-pressure on bidirectional streams: the next request is delivered once the responses to
 * the requests before it are sent. Handlers such as @grpc/reflection's ignore the stream's
 * buffer, so a client that sends and never reads would otherwise exhaust the memory.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
} from "@grpc/grpc-js";

/** Applies back-pressure. For calls with a request stream. */
export const applyBackpressure: ServerInterceptor = (_method, call) => new BackpressureCall(call);

class BackpressureCall extends ServerInterceptingCall {
  #unsent = 0;
  #deliver: (() => void) | undefined;

  constructor(call: ServerInterceptingCallInterface) {
    super(call, {
      start: (next) => {
        next(
          new ServerListenerBuilder()
            .withOnReceiveMessage((message, deliver) => {
              // One slot is enough: grpc-js reads the next message after this one is delivered.
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
