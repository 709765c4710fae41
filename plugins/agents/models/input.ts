import type { Agents, ModelInput } from "svc/sdk";
import type { Kit } from "../kit.ts";

/**
 * Parts of a prompt that the model reads which would answer, as its provider says; empty when it says nothing. Plugins that route to other models are not asked.
 * @throws {SvcError} as `Agents.run`
 */
export async function modelInput(
  kit: Pick<Kit, "directory" | "models" | "catalog" | "store">,
  { model, ...target }: Parameters<Agents["modelInput"]>[0],
): Promise<ModelInput[]> {
  const { agentId, sessionKey } = kit.directory.resolve(target);
  const agent = kit.directory.get(agentId);
  const override = model === undefined ? (await kit.store().sessions.get(sessionKey))?.model : await kit.models.check(agent, model);
  const first = (await kit.models.candidates(agent, override))[0];
  if (!first) return [];
  const models = await kit.catalog.models(first.provider);
  return models.find(({ id }) => id === first.model)?.input ?? [];
}
