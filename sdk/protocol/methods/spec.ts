import type { z } from "zod";
import type { Scope } from "../../types/rpc.ts";

/** Parameters and scope of one method. Objects are closed; results may gain fields. */
export interface MethodSpec<P extends z.ZodType = z.ZodType> {
  scope: Scope;
  params: P;
  about: string;
}

/** A row of the table of methods. */
export function method<P extends z.ZodType>(scope: Scope, about: string, params: P): MethodSpec<P> {
  return { scope, about, params };
}
