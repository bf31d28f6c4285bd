/** How the interceptors of grpc-js are applied, and the one of unary calls. */
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from "@grpc/grpc-js";

/** Applies an interceptor to calls with a request stream. Other calls do not pay for it. */
export function forRequestStreams(intercept: ServerInterceptor): ServerInterceptor {
  return (method, call) => (method.requestStream ? intercept(method, call) : untouched(call));
}

/**
 * Sends the status of a unary call together with its message. grpc-js waits until the message is
 * written, and then writes a second time.
 */
export const sendStatusAtOnce: ServerInterceptor = (method, call) =>
  method.requestStream || method.responseStream ? untouched(call) : new UnaryCall(call);

class UnaryCall extends ServerInterceptingCall {
  override sendMessage(message: unknown, callback: () => void): void {
    super.sendMessage(message, () => {});
    callback();
  }
}

/** grpc-js calls only what the interface declares, although its type wants the class. */
function untouched(call: ServerInterceptingCallInterface): ServerInterceptingCall {
  return call as ServerInterceptingCall;
}
