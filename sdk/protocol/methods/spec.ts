import type { z } from "zod";
import type { Scope } from "../../types/rpc.ts";
import type { EventSpec } from "../events.ts";

/** Parameters and scope of one method. Objects are closed; results may gain fields. */
export interface MethodSpec<P extends z.ZodType = z.ZodType> {
  scope: Scope;
  params: P;
  about: string;
  /** True for a call that only waits for something to happen, for an hour perhaps, and costs next to nothing meanwhile. */
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

/** Part of the protocol that one plugin serves, as the module that its manifest names exports it. Names of methods begin with the plugin's id, unless the plugin comes with svc. */
export interface PluginProtocol {
  methods?: Readonly<Record<string, MethodSpec>>;
  /** Payload of the answer of each method. A schema with an `id` in its `meta` is a shape with a name, which others refer to. */
  results?: Readonly<Record<string, z.ZodType>>;
  /** Events of the protocol, from plugins that come with svc. Those of any other plugin are `plugin.<id>.<name>` and need no row. */
  events?: Readonly<Record<string, EventSpec & { payload: z.ZodType }>>;
  /** Tables made by `defineErrors`. Codes begin with the plugin's id and a hyphen, unless the plugin comes with svc. */
  errors?: readonly object[];
}

/** A row of a table of methods, ready to spread into `ctx.registerRpc({ ...methodOf(table, "notes.list"), handler })`. */
export function methodOf<T extends Readonly<Record<string, MethodSpec>>, M extends keyof T & string>(
  table: T,
  name: M,
): { method: M; scope: Scope; params: T[M]["params"] } {
  const { scope, params } = table[name] as T[M];
  return { method: name, scope, params };
}
