import type { z } from "zod";
import type { Scope } from "../../types/rpc.ts";

/** Parameters and scope of one method. Objects are closed; results may gain fields. */
export interface MethodSpec<P extends z.ZodType = z.ZodType> {
  scope: Scope;
  params: P;
  about: string;
  /** It only waits for something to happen, for an hour perhaps, and costs next to nothing meanwhile. */
  waits?: true;
}

/** A row of the table of methods that only wait. */
export function waitingMethod<P extends z.ZodType>(scope: Scope, about: string, params: P): MethodSpec<P> {
  return { ...method(scope, about, params), waits: true };
}

/** A row of the table of methods. */
export function method<P extends z.ZodType>(scope: Scope, about: string, params: P): MethodSpec<P> {
  return { scope, about, params };
}
