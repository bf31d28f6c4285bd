/** A list that the service has in pages, as state of a component. */
import type { CallOptions } from "@connectrpc/connect";
import { useMemo, useState } from "preact/hooks";
import { type CallState, type Reject, useCall } from "./use-call.ts";

/** The rows that are there, and the token of the page after them: empty if there is none. */
interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly next: string;
}

/** The list, as far as it was asked for. */
export interface Pages<Row> extends CallState<Rows<Row>> {
  /** Asks for further rows; undefined if there are none. */
  readonly more: (() => void) | undefined;
}

/**
 * Asks for pages until there are enough rows, and for further ones when somebody asks.
 *
 * @param list asks for the page of a token
 * @param isEnough whether no page is asked for unasked after these rows, which are not all
 * @param after what the list follows: with another one it begins again; undefined for no call yet
 */
export function usePages<Row>(
  list: (pageToken: string, options: CallOptions) => Promise<Rows<Row>>,
  isEnough: (rows: readonly Row[]) => boolean,
  after: unknown,
  reject: Reject,
): Pages<Row> {
  const [further, setFurther] = useState<Rows<Row> & { readonly after: unknown }>();
  const before = further?.after === after ? further : undefined;
  // The functions of another rendering ask for the same.
  const send = useMemo(() => {
    if (!after) return undefined;
    return (options: CallOptions) =>
      readPages((token) => list(token, options), isEnough, before ?? { rows: [], next: "" });
  }, [before, after]);
  const call = useCall(send, reject);
  const { data, loading } = call;
  return {
    ...call,
    more: data?.next && !loading ? () => setFurther({ ...data, after }) : undefined,
  };
}

/** Reads the pages after those before, one at least, until there are enough rows or no more. */
export async function readPages<Row>(
  list: (pageToken: string) => Promise<Rows<Row>>,
  isEnough: (rows: readonly Row[]) => boolean,
  { rows, next }: Rows<Row>,
): Promise<Rows<Row>> {
  const page = await list(next);
  const read = { rows: [...rows, ...page.rows], next: page.next };
  return read.next === "" || isEnough(read.rows) ? read : readPages(list, isEnough, read);
}
