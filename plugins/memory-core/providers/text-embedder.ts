import { type MemoryEmbedding, type MemoryEmbedOptions, messageOf } from "svc/sdk";
import { memoryErrors } from "../errors.ts";
import { findAdapter } from "./adapter-order.ts";
import { embedTexts } from "./embed-texts.ts";
import { embeddingFaultOf } from "./embedding-fault.ts";
import type { OpenedProvider, ProviderHost } from "./open-provider.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { adaptersOf, openPrimary } from "./select-provider.ts";

/** Embeds texts for others than the index, with providers of its own. */
export interface TextEmbedder {
  embed(agent: EmbeddingAgent, texts: readonly string[], options?: MemoryEmbedOptions): Promise<MemoryEmbedding>;
  /** Config, secrets or adapters changed: what is open is opened anew at the next use. */
  forget(): void;
  close(): Promise<void>;
}

export interface EmbeddingAgent {
  agentId: string;
  settings: ProviderSettings;
}

/** Providers kept open, one for each agent, model and length; the least recently used is closed first. */
const MAX_OPEN = 16;
/** A provider that is open for some calls; it is closed when it is given up and the last of them is over. */
interface Shared {
  opening: Promise<OpenedProvider>;
  users: number;
  isGivenUp: boolean;
}

type Override = { model?: string; outputDimensionality?: number };

/** Settings are replaced, never changed; writing them out for each call would be a good part of its cost. */
const written = new WeakMap<ProviderSettings, string>();

function writtenOut(settings: ProviderSettings): string {
  const known = written.get(settings);
  if (known !== undefined) return known;
  const text = JSON.stringify(settings);
  written.set(settings, text);
  return text;
}

export function createTextEmbedder(host: ProviderHost): TextEmbedder {
  const open = new Map<string, Shared>();
  const closeIdle = async (shared: Shared) => {
    if (!shared.isGivenUp || shared.users > 0) return;
    const opened = await shared.opening.catch(() => undefined); // its fault was told to whoever asked for it
    await opened?.close();
  };
  const giveUp = (key: string, shared: Shared) => {
    if (open.get(key) === shared) open.delete(key);
    shared.isGivenUp = true;
    return closeIdle(shared);
  };
  const share = (agent: EmbeddingAgent, over: Override): Shared => {
    const key = JSON.stringify([agent.agentId, over.model, over.outputDimensionality]) + writtenOut(agent.settings);
    const known = open.get(key);
    const shared = known ?? { opening: openFor(host, agent, over), users: 0, isGivenUp: false };
    open.delete(key);
    open.set(key, shared);
    if (!known) shared.opening.catch(() => giveUp(key, shared));
    for (const [oldest, one] of open) {
      if (open.size <= MAX_OPEN) break;
      void giveUp(oldest, one);
    }
    return shared;
  };
  const use = async <T>(agent: EmbeddingAgent, over: Override, run: (opened: OpenedProvider) => T): Promise<Awaited<T>> => {
    const shared = share(agent, over);
    shared.users++;
    try {
      return await run(await shared.opening);
    } finally {
      shared.users--;
      void closeIdle(shared);
    }
  };
  const isOwn = async (agent: EmbeddingAgent, provider: string) => {
    const { requested } = agent.settings;
    if (provider === requested) return true;
    const own = requested === "auto" ? await use(agent, {}, ({ adapter }) => adapter) : await findAdapter(adaptersOf(host), requested);
    return own !== undefined && (provider === own.id || provider === own.vendor);
  };
  return {
    async embed(own, texts, { model, provider, mayLeaveProvider, dimensions, signal } = {}) {
      const isElsewhere = provider !== undefined && !(await isOwn(own, provider));
      // Another vendor must not even be asked for this model.
      if (isElsewhere && !mayLeaveProvider) throw memoryErrors.embeddingProviderNotAllowed();
      const agent = isElsewhere ? { ...own, settings: elsewhere(own.settings, provider) } : own;
      const over = { ...(model === undefined ? {} : { model }), ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }) };
      return use(agent, over, (opened) => embedTexts(host, opened, { texts, signal }));
    },
    forget() {
      for (const [key, shared] of [...open]) void giveUp(key, shared);
    },
    async close() {
      await Promise.all(
        [...open].map(([key, shared]) => {
          shared.users = 0; // calls under way end with their provider
          return giveUp(key, shared);
        }),
      );
    },
  };
}

/** Settings for another provider than the agent's own: nothing that belongs to the one goes to the other. */
function elsewhere(settings: ProviderSettings, provider: string): ProviderSettings {
  return {
    requested: provider,
    model: undefined,
    outputDimensionality: undefined,
    inputTypes: undefined,
    fallback: undefined,
    remote: { baseUrl: undefined, apiKeyPaths: [], headerPaths: {} },
    local: settings.local,
    multimodal: false,
  };
}

async function openFor(host: ProviderHost, agent: EmbeddingAgent, over: Override) {
  try {
    const selected = await openPrimary(host, { ...agent, over });
    if (selected.kind === "primary") return selected.opened;
    throw memoryErrors.embeddingProviderMissing({}, { cause: new Error(selected.skipped.map(({ reason }) => reason).join("; ")) });
  } catch (error) {
    if (embeddingFaultOf(error)?.fault !== "no-credentials") throw error;
    host.logger.warn(`texts could not be embedded: ${messageOf(error)}`, { agentId: agent.agentId });
    throw memoryErrors.embeddingProviderMissing({}, { cause: error });
  }
}
