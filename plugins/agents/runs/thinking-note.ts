import type { Kit } from "../kit.ts";
import type { Run } from "./run.ts";

/** Note for a caller whose thinking level had no effect; undefined when it had, or when nobody asked for one. No model is asked for it. */
export async function thinkingNote(run: Run, kit: Kit): Promise<string | undefined> {
  const level = await wantedLevel(run, kit);
  const provider = run.provider === undefined ? undefined : kit.catalog.provider(run.provider);
  if (level === undefined || !provider) return undefined;
  const name = `${provider.id}/${run.modelId}`;
  if (provider.embedded) return `the thinking level "${level}" has no effect: ${name} is no language model`;
  const known = kit.catalog.known(provider);
  if (known.length === 0 || known.some((m) => m.id === run.modelId && m.reasoning === true)) return undefined;
  return `the thinking level "${level}" has no effect: ${name} is not known to reason; set reasoning: true for it in models.providers if it does`;
}

/** A thinking level that somebody asked for, for this run or for its session. */
export async function wantedLevel(run: Run, kit: Kit): Promise<string | undefined> {
  const level = run.request.thinking ?? (await kit.store().sessions.get(run.sessionKey))?.thinkingLevel;
  return level === "off" ? undefined : level;
}
