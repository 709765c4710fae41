import { type MemoryPreparation, messageOf } from "svc/sdk";
import { memoryErrors } from "../errors.ts";
import { findAdapter } from "./adapter-order.ts";
import { contextOf, type ProviderHost } from "./open-provider.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { adaptersOf } from "./select-provider.ts";

/**
 * Brings to this machine what a provider needs before it can embed for an agent, whether the config names it yet or not.
 * @throws {SvcError} `embedding-provider-unknown`, `embedding-provider-not-ready`; the reason of the signal
 */
export async function prepareProvider(
  host: ProviderHost,
  { agentId, settings }: { agentId: string; settings: ProviderSettings },
  { provider, modelPath, signal, onProgress = () => undefined }: MemoryPreparation,
): Promise<void> {
  const adapter = await findAdapter(adaptersOf(host), provider);
  if (!adapter) throw memoryErrors.embeddingProviderUnknown({ provider });
  // Model, address and key of the config are those of the provider that it names.
  const isOther = settings.requested !== provider;
  const local = { ...settings.local, ...(modelPath === undefined ? {} : { modelPath }) };
  const wanted = isOther ? { ...settings, model: undefined, outputDimensionality: undefined, inputTypes: undefined } : settings;
  const question = { agentId, settings: { ...wanted, local }, auto: false, ...(isOther ? { standsInFor: settings.requested } : {}) };
  const stop = signal ? AbortSignal.any([host.signal, signal]) : host.signal;
  try {
    await adapter.prepare?.(contextOf(host, question, stop), { onProgress });
  } catch (error) {
    stop.throwIfAborted();
    throw memoryErrors.embeddingProviderNotReady({ provider, reason: messageOf(error) }, { cause: error });
  }
}
