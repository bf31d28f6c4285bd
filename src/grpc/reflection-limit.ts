/**
 * Limits on reflection, which needs no key: open streams, questions of a stream, questions per
 * second, and time without a question. Beyond a limit, the stream ends with RESOURCE_EXHAUSTED.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from "@grpc/grpc-js";
import { createPlaces } from "./places.ts";

/** The default of `maxReflections`. */
export const MAX_REFLECTIONS = 50;
/** Open streams of one connection. */
export const MAX_REFLECTIONS_PER_CONNECTION = 5;
/** Questions of one stream. */
export const MAX_QUESTIONS = 1_000;
/** The default of `maxReflectionQuestions`. */
export const MAX_QUESTIONS_PER_SECOND = 200;
/** How long a stream may be open without a question, in ms. */
export const REFLECTION_IDLE_TIMEOUT = 60_000;

/** What the limits are made of. */
export interface ReflectionLimits {
  /** Open streams in all. */
  readonly maxReflections?: number | undefined;
  /** Questions per second, of all streams together. */
  readonly maxReflectionQuestions?: number | undefined;
  /** Counts streams that are ended: `reflectionLimit`. */
  readonly report: (event: string) => void;
  /** By default `REFLECTION_IDLE_TIMEOUT`. */
  readonly idleTimeout?: number;
}

/** For calls with a request stream. Of this server's services, only reflection has them. */
export function limitReflection({
  maxReflections = MAX_REFLECTIONS,
  maxReflectionQuestions = MAX_QUESTIONS_PER_SECOND,
  report,
  idleTimeout = REFLECTION_IDLE_TIMEOUT,
}: ReflectionLimits): ServerInterceptor {
  const places = createPlaces(maxReflections, MAX_REFLECTIONS_PER_CONNECTION);
  const mayAsk = createRate(maxReflectionQuestions);

  return (_method, call) => {
    const refuse = (details: string) => {
      report("reflectionLimit");
      call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details });
    };
    let release: (() => void) | undefined;
    let idle: NodeJS.Timeout | undefined;
    let questions = 0;
    return new ServerInterceptingCall(call, {
      start(next) {
        next(
          new ServerListenerBuilder()
            .withOnReceiveMetadata((metadata, deliver) => {
              release = places.take(call.getPeer());
              if (release === undefined) return refuse("too many reflection streams are open");
              idle = setTimeout(() => {
                call.sendStatus({ code: status.DEADLINE_EXCEEDED, details: "the stream is idle" });
              }, idleTimeout).unref();
              deliver(metadata);
            })
            .withOnReceiveMessage((message, deliver) => {
              idle?.refresh();
              if (++questions > MAX_QUESTIONS) refuse("too many questions on one stream");
              else if (!mayAsk()) refuse("too many reflection questions; retry after one second");
              else deliver(message);
            })
            .withOnCancel(() => {
              clearTimeout(idle);
              release?.();
            })
            .build(),
        );
      },
    });
  };
}

/** Returns a function that is true at most this many times in each second. */
function createRate(perSecond: number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) count = 0;
    second = now;
    return ++count <= perSecond;
  };
}
