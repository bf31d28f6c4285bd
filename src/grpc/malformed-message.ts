/**
 * Malformed messages on request streams are the caller's fault: INVALID_ARGUMENT. grpc-js would
 * answer INTERNAL where a message cannot be deserialized, before any interceptor sees it.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  type ServiceDefinition,
  status,
} from "@grpc/grpc-js";

/** What a malformed message is deserialized to. */
const MALFORMED = Symbol("malformed message");

/** The same definition; its requests are deserialized to a marker where that fails. */
export function markMalformed(definition: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize(bytes: Buffer) {
          try {
            return method.requestDeserialize(bytes);
          } catch {
            return MALFORMED;
          }
        },
      },
    ]),
  );
}

/** Ends a call whose message was marked with INVALID_ARGUMENT. */
export const refuseMalformed: ServerInterceptor = (method, call) =>
  method.requestStream
    ? new ServerInterceptingCall(call, {
        start(next) {
          next(
            new ServerListenerBuilder()
              .withOnReceiveMessage((message, deliver) => {
                if (message !== MALFORMED) deliver(message);
                else call.sendStatus({ code: status.INVALID_ARGUMENT, details: DETAILS });
              })
              .build(),
          );
        },
      })
    : new ServerInterceptingCall(call);

const DETAILS = "the message cannot be decoded";
