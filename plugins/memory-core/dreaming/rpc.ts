import { commonErrors, defaultAgentId, methodOf, type PluginContext } from "svc/sdk";
import type { Dreaming } from "./dreaming-types.ts";
import { type OperationContext, operations } from "./operations.ts";
import { dreamingMethods } from "./protocol.ts";

/** The methods `memory.dreaming.*`. */
export function registerDreamingRpc(ctx: Pick<PluginContext, "registerRpc" | "snapshot" | "clock" | "logger">, dreaming: Dreaming): void {
  const at = (agentId: string | undefined) => {
    const id = agentId ?? defaultAgentId(ctx.snapshot());
    const place = dreaming.places().find(({ agentIds }) => agentIds.includes(id));
    if (!place) throw commonErrors.unknownAgent({ agentId: id });
    return { agentId: id, place };
  };
  const chosen = (agentId: string | undefined) => (agentId === undefined ? dreaming.places() : [at(agentId).place]);
  const context = (signal: AbortSignal): OperationContext => ({ now: ctx.clock.now(), timeZone: dreaming.timeZone, signal });

  ctx.registerRpc({ ...methodOf(dreamingMethods, "memory.dreaming.status"), handler: ({ agentId }) => dreaming.status(chosen(agentId)) });
  ctx.registerRpc({
    ...methodOf(dreamingMethods, "memory.dreaming.run"),
    // Two answers: a model may take its minute for each workspace.
    async handler({ agentId }, call) {
      const places = chosen(agentId);
      call.accept({ status: "accepted", workspaces: places.map(({ workspace }) => workspace) });
      return { workspaces: await dreaming.run(places) };
    },
  });
  ctx.registerRpc({
    ...methodOf(dreamingMethods, "memory.dreaming.candidates"),
    async handler({ agentId, ...asked }, { signal }) {
      const chosenAgent = at(agentId);
      return { agentId: chosenAgent.agentId, ...(await operations.candidates(chosenAgent.place, asked, context(signal))) };
    },
  });
  ctx.registerRpc({
    ...methodOf(dreamingMethods, "memory.dreaming.promote"),
    async handler({ agentId, ...asked }, { signal }) {
      const chosenAgent = at(agentId);
      const done = await operations.promote(chosenAgent.place, asked, context(signal));
      if (done.applied.length > 0) await dreaming.sync(chosenAgent.place);
      return { agentId: chosenAgent.agentId, ...done };
    },
  });
  ctx.registerRpc({
    ...methodOf(dreamingMethods, "memory.dreaming.preview"),
    async handler({ agentId, ...asked }, { signal }) {
      const chosenAgent = at(agentId);
      return { agentId: chosenAgent.agentId, ...(await operations.preview(chosenAgent.place, asked, context(signal))) };
    },
  });
  ctx.registerRpc({
    ...methodOf(dreamingMethods, "memory.dreaming.backfill"),
    async handler({ agentId, ...asked }, { signal }) {
      const chosenAgent = at(agentId);
      return { agentId: chosenAgent.agentId, ...(await operations.backfill(chosenAgent.place, asked, context(signal))) };
    },
  });
  ctx.registerRpc({
    ...methodOf(dreamingMethods, "memory.dreaming.repair"),
    async handler({ agentId }, { signal }) {
      const chosenAgent = at(agentId);
      return { agentId: chosenAgent.agentId, ...(await operations.repair(chosenAgent.place, context(signal))) };
    },
  });
}
