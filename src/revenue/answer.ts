/** What an RPC answers, whatever the protocol. */
import type { Message } from "@bufbuild/protobuf";

/** The answer of an RPC. */
export interface Answer<Response extends Message> {
  readonly message: Response;
  /** In epoch ms: everything that was committed before is in the message. */
  readonly asOf: number;
}
