import type { Agents, ModelInput } from "svc/sdk";
import type { Kit } from "../kit.ts";

/**
 * Parts of a prompt that every model reads which may answer, fallbacks included, as their providers say; empty when one of them says nothing. Models that quote
 * notes do not count, and plugins that route to other models are not asked.
 * @throws {SvcError} as `Agents.run`
 */
export async function modelInput(
  kit: Pick<Kit, "directory" | "models" | "catalog" | "store">,
  { model, ...target }: Parameters<Agents["modelInput"]>[0],
): Promise<ModelInput[]> {
  const { agentId, sessionKey } = kit.directory.resolve(target);
  const agent = kit.directory.get(agentId);
  const override = model === undefined ? (await kit.store().sessions.get(sessionKey))?.model : await kit.models.check(agent, model);
  const candidates = (await kit.models.candidates(agent, override)).filter(({ provider }) => !provider.embedded);
  const inputs = await Promise.all(
    candidates.map(async (one) => (await kit.catalog.models(one.provider)).find(({ id }) => id === one.model)?.input ?? []),
  );
  const [first = [], ...others] = inputs;
  return first.filter((kind) => others.every((input) => input.includes(kind)));
}
