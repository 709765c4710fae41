import type { SvcError } from "../../sdk/errors.ts";
import type { Revocations } from "./revocations.ts";

/** One of the things a connection was let in by: a secret, a device, a proxy's word. */
export interface Grant {
  /** Aborts when it ends; the reason is an error whose field `reason` is the text of the close frame. */
  readonly signal: AbortSignal;
  /** Called when the rules changed: returns the same right under the new ones, if there is any. */
  renewed?(): Grant | undefined;
}

/**
 * Follows all grants of a connection; the first that ends without being renewed ends the connection. One that has ended before counts too.
 * @returns stops following
 */
export function followGrants(grants: readonly Grant[], revocations: Revocations, end: (reason: string) => void): () => void {
  const stops: Array<() => void> = [];
  const follow = (grant: Grant, place: number) => {
    const lost = () => {
      const next = grant.renewed?.();
      if (next) follow(next, place);
      else end(String((grant.signal.reason as SvcError).fields.reason));
    };
    if (grant.signal.aborted) lost();
    else stops[place] = revocations.follow(grant.signal, lost);
  };
  grants.forEach(follow);
  return () => stops.forEach((stop) => void stop());
}
