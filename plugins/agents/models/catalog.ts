import { type Logger, type ModelInfo, type ModelProvider, messageOf, type PluginContext } from "svc/sdk";

/** A list older than this is refreshed in the background while the old one is used. */
const FRESH_MS = 60_000;
/** Longest wait for a list that was never read. */
const LIMIT_MS = 4_000;

/** Model providers and what they offer. */
export interface Catalog {
  providers(): ModelProvider[];
  provider(id: string): ModelProvider | undefined;
  /** Brings a provider that is loaded on first use; without an id all of them. */
  ready(id?: string): Promise<void>;
  /** Empty when the provider does not say, or cannot be reached. */
  models(provider: ModelProvider): Promise<ModelInfo[]>;
  /** Models of the last reading, or what needs no reading; never waits. */
  known(provider: ModelProvider): ModelInfo[];
}

interface Listing {
  readAt: number;
  pending: Promise<ModelInfo[]>;
  latest: ModelInfo[];
}

export function createCatalog(ctx: PluginContext): Catalog {
  const view = ctx.contributions<ModelProvider>("modelProvider");
  const listings = new WeakMap<ModelProvider, Listing>();

  const read = (provider: ModelProvider, before: Listing | undefined): Listing => {
    const asked = ask(provider);
    const fresh = limited(provider, asked, ctx.logger);
    // A list that a provider has at hand, as that of the config, holds from the first look on.
    const latest = Array.isArray(asked) ? asked : (before?.latest ?? []);
    const listing: Listing = { readAt: ctx.clock.monotonic(), pending: before ? before.pending : fresh, latest };
    listings.set(provider, listing);
    void fresh.then((models) => {
      // A server that is away for a moment still has its models.
      if (models.length > 0) listing.latest = models;
      listing.pending = fresh;
    });
    return listing;
  };

  return {
    providers: () => [...view].map((c) => c.value),
    provider: (id) => view.get(id)?.value,
    ready: (id) => view.ready(id),
    models(provider) {
      const listing = listings.get(provider);
      if (listing && ctx.clock.monotonic() - listing.readAt <= FRESH_MS) return listing.pending;
      return read(provider, listing).pending;
    },
    known: (provider) => (listings.get(provider) ?? read(provider, undefined)).latest,
  };
}

/** Returns the facts known of one model; never waits. */
export function infoOf(
  catalog: Pick<Catalog, "known">,
  { provider, model }: { provider: ModelProvider; model: string },
): ModelInfo | undefined {
  return catalog.known(provider).find(({ id }) => id === model);
}

function ask(provider: ModelProvider): ModelInfo[] | Promise<ModelInfo[]> {
  try {
    return provider.models();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Never rejects. */
async function limited(provider: ModelProvider, asked: ModelInfo[] | Promise<ModelInfo[]>, logger: Logger): Promise<ModelInfo[]> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<ModelInfo[]>((resolve) => {
    timer = setTimeout(() => resolve([]), LIMIT_MS);
    timer.unref();
  });
  try {
    return await Promise.race([asked, expired]);
  } catch (error) {
    logger.warn(`provider "${provider.id}" could not list its models`, { error: messageOf(error) });
    return [];
  } finally {
    clearTimeout(timer);
  }
}
