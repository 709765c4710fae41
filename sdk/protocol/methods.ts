import type { z } from "zod";
import { configMethods } from "./methods/config.ts";
import { gatewayMethods } from "./methods/gateway.ts";
import { pluginsMethods } from "./methods/plugins.ts";
import type { MethodSpec } from "./methods/spec.ts";
import type { PluginMethods } from "./plugin-methods.ts";

export type { MethodSpec } from "./methods/spec.ts";

/** Methods that the gateway itself serves, family by family. Those of bundled plugins stand in the plugins. */
export const protocolMethods = {
  ...gatewayMethods,
  ...configMethods,
  ...pluginsMethods,
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
