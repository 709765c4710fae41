import { type ContributionView, type EmbeddingAdapter, EmbeddingError, type MemoryStatus, messageOf } from "svc/sdk";
import { builtInOrder, findAdapter, namesLocalModel, outsideAdapters } from "./adapter-order.ts";
import { embeddingFaultOf } from "./embedding-fault.ts";
import { type OpenedProvider, type OpenQuestion, openProvider, type ProviderHost } from "./open-provider.ts";
import type { ProviderSettings } from "./provider-settings.ts";

/** Result of a selection. */
export type Selection =
  | { kind: "primary"; opened: OpenedProvider }
  | { kind: "stand-in"; opened: OpenedProvider; from: string; reason: string }
  /** Words only: by choice, or because no adapter has what it needs; then `skipped` says what each lacks. */
  | { kind: "none"; isChoice: boolean; skipped: SkippedAdapter[] }
  /** The requested provider is not available; no other one is used instead. */
  | { kind: "unavailable"; error: string };

/** An adapter that detection did not take, and why. */
export type SkippedAdapter = NonNullable<MemoryStatus["skipped"]>[number];

export interface Selecting {
  agentId: string;
  settings: ProviderSettings;
  over?: OpenQuestion["over"] | undefined;
  /** Called for each adapter that was looked at. */
  tried?(adapter: EmbeddingAdapter): void;
}

/** Chooses and opens the provider of an agent. Never rejects. */
export async function selectProvider(host: ProviderHost, selecting: Selecting): Promise<Selection> {
  const { requested, fallback } = selecting.settings;
  if (requested === "none") return { kind: "none", isChoice: true, skipped: [] };
  let failure: string;
  try {
    return await openPrimary(host, selecting);
  } catch (error) {
    failure = messageOf(error);
  }
  if (fallback === undefined) return { kind: "unavailable", error: failure };
  try {
    const opened = await openStandIn(host, selecting, requested);
    return { kind: "stand-in", opened, from: requested, reason: failure };
  } catch (error) {
    return { kind: "unavailable", error: `${failure}; fallback: ${messageOf(error)}` };
  }
}

/**
 * The provider that is asked for, without any fallback.
 * @throws what the adapter says; with `auto` never for missing credentials
 */
export async function openPrimary(host: ProviderHost, selecting: Selecting): Promise<Extract<Selection, { kind: "primary" | "none" }>> {
  const { requested } = selecting.settings;
  if (requested === "auto") return detect(host, selecting);
  if (requested === "none") return { kind: "none", isChoice: true, skipped: [] };
  const adapter = await named(host, requested);
  selecting.tried?.(adapter);
  return { kind: "primary", opened: await openProvider(host, adapter, { ...selecting, auto: false }) };
}

/** @throws what the adapter of the fallback says */
export async function openStandIn(host: ProviderHost, selecting: Selecting, standsInFor: string): Promise<OpenedProvider> {
  const adapter = await named(host, selecting.settings.fallback ?? "none");
  selecting.tried?.(adapter);
  const { agentId, settings } = selecting;
  return openProvider(host, adapter, { agentId, settings, auto: false, standsInFor });
}

async function named(host: ProviderHost, id: string): Promise<EmbeddingAdapter> {
  const adapter = await findAdapter(adaptersOf(host), id);
  if (adapter) return adapter;
  throw new EmbeddingError("no-credentials", `${id}: no plugin offers this embedding adapter; enable it, see svc plugins list`);
}

/** One after the other, so that nothing behind the first that can be used is ever loaded. */
async function detect(host: ProviderHost, selecting: Selecting): Promise<Extract<Selection, { kind: "primary" | "none" }>> {
  const adapters = adaptersOf(host);
  const skipped: SkippedAdapter[] = [];
  const skip = (provider: string, reason: string) => {
    skipped.push({ provider, reason });
    host.logger.debug(`embedding provider "${provider}" is skipped: ${reason}`, { agentId: selecting.agentId });
  };
  const attempt = async (adapter: EmbeddingAdapter) => {
    selecting.tried?.(adapter);
    try {
      return await openProvider(host, adapter, { ...selecting, auto: true });
    } catch (error) {
      if (embeddingFaultOf(error)?.fault !== "no-credentials") throw error;
      skip(adapter.id, messageOf(error));
      return undefined;
    }
  };
  for (const id of builtInOrder) {
    if (id === "local" && !namesLocalModel(selecting.settings.local.modelPath)) {
      skip(id, "memorySearch.local.modelPath names no model file");
      continue;
    }
    const adapter = await findAdapter(adapters, id);
    if (!adapter || adapters.get(id)?.isOutside) continue;
    const opened = await attempt(adapter);
    if (opened) return { kind: "primary", opened };
  }
  for (const adapter of await outsideAdapters(adapters)) {
    const opened = await attempt(adapter);
    if (opened) return { kind: "primary", opened };
  }
  return { kind: "none", isChoice: false, skipped };
}

export function adaptersOf(host: Pick<ProviderHost, "contributions">): ContributionView<EmbeddingAdapter> {
  return host.contributions<EmbeddingAdapter>("embeddingAdapter");
}
