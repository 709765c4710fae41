import type { ContributionView, EmbeddingAdapter } from "svc/sdk";

type Adapters = ContributionView<EmbeddingAdapter>;

/** The adapters of svc in the order in which auto-detection tries them; the others of svc are never come to by themselves. */
export const builtInOrder = ["local", "openai", "gemini", "voyage", "mistral", "bedrock"] as const;

/** The adapter with this id, loaded if need be; undefined when no plugin offers it or its plugin is switched off. */
export async function findAdapter(adapters: Adapters, id: string): Promise<EmbeddingAdapter | undefined> {
  await adapters.ready(id);
  return adapters.get(id)?.value;
}

/** Adapters from outside that want to be detected, in their order: none of them overtakes one of svc. Loads every plugin with an adapter. */
export async function outsideAdapters(adapters: Adapters): Promise<EmbeddingAdapter[]> {
  await adapters.ready();
  return [...adapters]
    .filter(({ value, isOutside }) => isOutside && value.autoSelectPriority !== undefined)
    .map(({ value }) => value)
    .sort((a, b) => (a.autoSelectPriority ?? 0) - (b.autoSelectPriority ?? 0));
}

/** True when auto-detection may use the adapter `local`: only with a model file on this machine; the adapter itself checks that it exists. */
export function namesLocalModel(modelPath: string | undefined): boolean {
  return modelPath !== undefined && !/^(hf|https?):/i.test(modelPath.trim());
}
