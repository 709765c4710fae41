import type { z } from "zod";
import type { Scope } from "../types/rpc.ts";
import { agentsMethods } from "./methods/agents.ts";
import { approvalsMethods } from "./methods/approvals.ts";
import { configMethods } from "./methods/config.ts";
import { gatewayMethods } from "./methods/gateway.ts";
import { logsMethods } from "./methods/logs.ts";
import { pluginsMethods } from "./methods/plugins.ts";
import { runsMethods } from "./methods/runs.ts";
import { sessionsMethods } from "./methods/sessions.ts";
import type { MethodSpec } from "./methods/spec.ts";
import { systemMethods } from "./methods/system.ts";
import type { PluginMethods } from "./plugin-methods.ts";

export type { MethodSpec } from "./methods/spec.ts";

/** Every method of this release that is named by the protocol documents, family by family. A plugin takes its row with `protocolMethod`. */
export const protocolMethods = {
  ...gatewayMethods,
  ...systemMethods,
  ...configMethods,
  ...logsMethods,
  ...pluginsMethods,
  ...agentsMethods,
  ...approvalsMethods,
  ...runsMethods,
  ...sessionsMethods,
} as const satisfies Record<string, MethodSpec>;

/** Name of a method whose row stands here. */
export type CoreMethod = keyof typeof protocolMethods;
/** Name of a method of this release, those of bundled plugins included. */
export type ProtocolMethod = CoreMethod | keyof PluginMethods;
/** Params of a method as its handler gets them. */
export type ParamsOf<M extends ProtocolMethod> = M extends CoreMethod
  ? z.output<(typeof protocolMethods)[M]["params"]>
  : M extends keyof PluginMethods
    ? PluginMethods[M]["params"]
    : never;

/** The protocol's row of a method, ready to spread into `ctx.registerRpc({ ...protocolMethod("health"), handler })`. */
export function protocolMethod<M extends CoreMethod>(name: M): { method: M; scope: Scope; params: (typeof protocolMethods)[M]["params"] } {
  const spec = protocolMethods[name];
  return { method: name, scope: spec.scope, params: spec.params };
}
