import { type Agents, methodOf, type ParamsOf, type PluginContext, type SystemEventRequest } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import { servedMethods } from "../protocol/methods.ts";

/** A text that begins so says who is there, and nothing an agent should read. */
const beaconPattern = /^Node:/;

/** `wake`, `system-event`. */
export function registerSystemMethods(ctx: PluginContext, agents: Pick<Agents, "systemEvent">): void {
  ctx.registerRpc({
    ...methodOf(servedMethods, "wake"),
    handler: async ({ mode, text, ...target }) => {
      const eventOutcome = await agents.systemEvent({ ...defined(target), text, mode, source: "rpc" });
      return { ok: true, mode, eventOutcome };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "system-event"),
    handler: async (params) => {
      const text = params.text.trim();
      if (text === "") throw agentErrors.textRequired();
      // First what may be refused: a beacon cannot be taken back.
      if (!beaconPattern.test(text)) await agents.systemEvent({ ...requestOf(params), text });
      const { wake: _, sessionKey: __, ...said } = params;
      ctx.service("gateway@1").beacon({ ...defined(said), text });
      return { ok: true };
    },
  });
}

function requestOf({ sessionKey, wake }: ParamsOf<"system-event">): Omit<SystemEventRequest, "text"> {
  const mode = wake === true ? "now" : wake || undefined;
  return { source: "rpc", ...(sessionKey === undefined ? {} : { sessionKey }), ...(mode === undefined ? {} : { mode }) };
}

function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}
