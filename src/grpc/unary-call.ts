/**
 * Unary calls, and two things that grpc-js does otherwise:
 *
 * - A call starts in the turn of the event loop after its request, if it is still open then: one that is
 *   cancelled at once costs little.
 * - Its status is sent together with its message. grpc-js waits until the message is written, and then
 *   writes a second time.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
} from "@grpc/grpc-js";

/** The interceptor of a server. Streams pass it as they are. */
export const interceptUnary: ServerInterceptor = ({ requestStream, responseStream }, call) =>
  requestStream || responseStream ? new ServerInterceptingCall(call) : new UnaryCall(call);

class UnaryCall extends ServerInterceptingCall {
  constructor(call: ServerInterceptingCallInterface) {
    let isOver = false;
    const listener = new ServerListenerBuilder()
      // grpc-js tells it at the end of each call.
      .withOnCancel(() => {
        isOver = true;
      })
      .withOnReceiveHalfClose((start) => {
        setImmediate(() => {
          if (!isOver) start();
        });
      })
      .build();
    super(call, { start: (next) => next(listener) });
  }

  override sendMessage(message: unknown, callback: () => void): void {
    super.sendMessage(message, () => {});
    callback();
  }
}
