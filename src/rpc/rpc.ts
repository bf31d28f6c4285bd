/**
 * The way of every call: admitted, authenticated, decoded, run under a deadline (together
 * with those that ask the same), measured and logged, in this order, whatever the door it
 * came by.
 */
import {
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Logger } from "pino";
import type { Authenticate } from "../access/authentication.ts";
import type { Caller } from "../access/caller.ts";
import { Failure } from "../failure.ts";
import type { Context } from "../revenue/context.ts";
import { ADMISSION_BOUNDS, type AdmissionBounds, createAdmission } from "./admission.ts";
import type { IncomingCall, Rpc } from "./call.ts";
import { logCall } from "./call-log.ts";
import { startLimits } from "./deadline.ts";
import { createSharing } from "./sharing.ts";

/** The functions of a service, by the RPC's name in TypeScript: `getOverview`. */
export type Functions<Methods extends Record<string, DescMethodUnary>> = {
  readonly [Name in keyof Methods]: (
    request: MessageShape<Methods[Name]["input"]>,
    context: Context,
  ) => Promise<MessageShape<Methods[Name]["output"]>>;
};

export interface RpcParts<Methods extends Record<string, DescMethodUnary>> {
  readonly service: { readonly method: Methods };
  readonly functions: Functions<Methods>;
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly bounds?: AdmissionBounds;
  /** Tells the time in epoch ms; the machine's clock by default. */
  readonly clock?: () => number;
}

/** Joins a service's functions to what every call goes through. */
export function createRpc<Methods extends Record<string, DescMethodUnary>>({
  service,
  functions,
  authenticate,
  log,
  bounds = ADMISSION_BOUNDS,
  clock = Date.now,
}: RpcParts<Methods>): Rpc {
  const admission = createAdmission(bounds);
  const sharing = createSharing();
  const byMethod = new Map<
    DescMethodUnary,
    (request: Message, context: Context) => Promise<Message>
  >(Object.entries(service.method).map(([name, method]) => [method, functions[name] as never]));

  /** Runs an admitted call and hands its caller over as soon as it is known. */
  async function run(
    incoming: IncomingCall<DescMessage, DescMessage>,
    recognise: (caller: Caller) => void,
  ): Promise<Message> {
    const now = clock();
    const limits = startLimits(now, incoming.deadline, incoming.signal);
    try {
      limits.signal.throwIfAborted();
      const caller = await authenticate(incoming.credentials, limits, now);
      recognise(caller);
      const answer = byMethod.get(incoming.method);
      if (!answer) throw new Error(`no function for ${incoming.method}`);
      const request = incoming.request();
      if (incoming.method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) {
        return await answer(request, { caller, now, limits });
      }
      // A shared run's one instant is that of its beginning: not before any of its calls.
      return await sharing.share(questionOf(caller, incoming.method, request), limits, (shared) =>
        answer(request, { caller, now: clock(), limits: shared }),
      );
    } finally {
      limits.end();
    }
  }

  return {
    async call<I extends DescMessage, O extends DescMessage>(incoming: IncomingCall<I, O>) {
      const began = performance.now();
      let providerId: string | undefined;
      let admitted = false;
      let counted: string | undefined;
      let failure: Failure | undefined;
      try {
        admission.enter();
        admitted = true;
        const response = await run(incoming, (caller) => {
          providerId = caller.providerId;
          admission.enterFor(providerId);
          counted = providerId;
        });
        return response as MessageShape<O>;
      } catch (thrown) {
        failure = Failure.from(thrown);
        throw failure;
      } finally {
        if (admitted) admission.leave(counted);
        logCall(log, {
          requestId: incoming.requestId,
          door: incoming.door,
          method: incoming.method.name,
          providerId,
          milliseconds: performance.now() - began,
          failure,
        });
      }
    },
  };
}

/** Who asks what: the same text for calls that one answer is right for. */
function questionOf(
  { providerId }: Caller,
  { name, input }: DescMethodUnary,
  request: Message,
): string {
  return `${providerId} ${name} ${Buffer.from(toBinary(input, request)).toString("latin1")}`;
}
