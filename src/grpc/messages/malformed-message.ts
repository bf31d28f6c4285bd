/**
 * Fails a request stream with INVALID_ARGUMENT at a malformed message. grpc-js would fail it with
 * INTERNAL: it deserializes messages before any interceptor sees them.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  type ServiceDefinition,
  status,
} from "@grpc/grpc-js";
import { decompress } from "./compression.ts";

/** Stands for a message that could not be deserialized. */
const MALFORMED = Symbol("malformed message");

/** Returns the definition with request deserializers that return a marker instead of throwing. */
export function markMalformed(definition: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize(bytes: Buffer) {
          try {
            return method.requestDeserialize(decompress(bytes));
          } catch {
            return MALFORMED;
          }
        },
      },
    ]),
  );
}

/** Fails calls with a marked message. For calls with a request stream. */
export const refuseMalformed: ServerInterceptor = (_method, call) =>
  new ServerInterceptingCall(call, {
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
  });

const DETAILS = "the message cannot be decoded";
