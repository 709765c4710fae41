import type { z } from "zod";
import type { CoreMethod, ProtocolMethod } from "./methods.ts";
import type { PluginMethods } from "./plugin-methods.ts";
import { configResults } from "./results/config.ts";
import { gatewayResults } from "./results/gateway.ts";
import { pluginsResults } from "./results/plugins.ts";

/**
 * Payload of a successful answer of every method that the gateway itself serves; of a method with two answers, either of them. Objects may gain fields.
 * For documents, types and tests: the running gateway never loads these schemas (`import type` only).
 */
export const protocolResults = {
  ...gatewayResults,
  ...configResults,
  ...pluginsResults,
} as const satisfies Record<CoreMethod, z.ZodType>;

/** Payload of the answer of a method. */
export type ResultOf<M extends ProtocolMethod> = M extends CoreMethod
  ? z.output<(typeof protocolResults)[M]>
  : M extends keyof PluginMethods
    ? PluginMethods[M]["result"]
    : never;
/** The first answer of a method that answers twice. */
export type AcceptedResultOf<M extends ProtocolMethod> = Extract<ResultOf<M>, { status: "accepted" }>;
/** The last answer of a method: without the first one of those that answer twice. */
export type FinalResultOf<M extends ProtocolMethod> = Exclude<ResultOf<M>, { status: "accepted" }>;
