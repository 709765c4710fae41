import { whileAlive } from "../common/abort.ts";
import type { Kit } from "../kit.ts";
import type { Candidate, ModelRef } from "../models/choice.ts";
import type { Run } from "./run.ts";

/** Models to try for a run: what a plugin chose comes first, then what would be tried without it. */
export async function candidatesFor(run: Run, kit: Kit): Promise<Candidate[]> {
  const override = run.model ?? kit.store().sessions.get(run.sessionKey)?.model;
  const standard = () => kit.models.candidates(run.agent, override);
  if (!kit.ctx.isHookUsed("model.resolve")) return standard();
  const ids = { runId: run.id, agentId: run.agent.id, sessionKey: run.sessionKey };
  const event = { ...ids, trigger: run.request.trigger, ...(override === undefined ? {} : { requested: refText(override) }) };
  const claim = await whileAlive(kit.ctx.runHook("model.resolve", event, { signal: run.signal, ...ids }), run.signal);
  if (!claim) return standard();
  const provider = kit.catalog.provider(claim.provider);
  if (provider) return kit.models.candidates(run.agent, { provider: provider.id, model: claim.model });
  kit.ctx.logger.warn(`plugin "${claim.plugin}" chose model provider "${claim.provider}", which is not there`, { hook: "model.resolve" });
  return standard();
}

function refText(ref: ModelRef | string): string {
  return typeof ref === "string" ? ref : `${ref.provider}/${ref.model}`;
}
