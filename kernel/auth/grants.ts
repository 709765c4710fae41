import type { SvcError } from "../../sdk/errors.ts";
import type { Revocations } from "./revocations.ts";

/** One of the things a connection was let in by: a secret, a device, a proxy's word. */
export interface Right {
  /** Aborts when it ends; the reason is an error whose field `reason` is the text of the close frame. */
  readonly signal: AbortSignal;
  /** Asked when the rules changed: the same right under the new ones, if there is any. */
  renewed?(): Right | undefined;
}

/**
 * Follows all rights of a connection; the first that ends without being renewed ends the connection. One that has ended before counts too.
 * @returns stops following
 */
export function followRights(rights: readonly Right[], revocations: Revocations, end: (reason: string) => void): () => void {
  const stops: Array<() => void> = [];
  const follow = (right: Right, place: number) => {
    const lost = () => {
      const next = right.renewed?.();
      if (next) follow(next, place);
      else end(String((right.signal.reason as SvcError).fields.reason));
    };
    if (right.signal.aborted) lost();
    else stops[place] = revocations.follow(right.signal, lost);
  };
  rights.forEach(follow);
  return () => stops.forEach((stop) => void stop());
}
