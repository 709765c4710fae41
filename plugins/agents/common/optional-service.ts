import { isSvcError, type PluginContext, type Services } from "svc/sdk";

/** Looks up a service that this plugin can do without, at each use, because its provider comes and goes. Undefined while nobody provides it. */
export function optionalService<N extends keyof Services>(ctx: Pick<PluginContext, "service">, name: N): Services[N] | undefined {
  try {
    return ctx.service(name);
  } catch (error) {
    if (isSvcError(error, "service-unavailable")) return undefined;
    throw error;
  }
}
