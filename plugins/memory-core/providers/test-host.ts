import type { Clock, Contribution, ContributionView, EmbeddingAdapter, Logger } from "svc/sdk";
import { parseTestConfig } from "../test-config.ts";
import type { ProviderHost } from "./open-provider.ts";
import type { ProviderSettings } from "./provider-settings.ts";

/** Test host in which providers are opened, without a gateway around it. */
export interface TestHost<C extends Clock = Clock> extends ProviderHost {
  secret: ProviderHost["secret"];
  readonly clock: C;
  readonly secrets: Record<string, string>;
  readonly logged: string[];
  /** Offers an adapter; it replaces one of the same id. */
  offer(adapter: EmbeddingAdapter, options?: { isOutside?: boolean; isLazy?: boolean }): void;
  withdraw(id: string): void;
  /** Ids that were asked for, in order; `*` for all. */
  readonly asked: string[];
}

/** @param clock a fake one, which also runs the timers */
export function createTestHost<C extends Clock>(clock: C): TestHost<C> {
  const registered = new Map<string, Contribution<EmbeddingAdapter>>();
  const lazy = new Map<string, Contribution<EmbeddingAdapter>>();
  const asked: string[] = [];
  const logged: string[] = [];
  const secrets: Record<string, string> = {};
  const log = (message: string) => void logged.push(message);
  const logger: Logger = { trace: log, debug: log, info: log, warn: log, error: log, child: () => logger };
  const view: ContributionView<EmbeddingAdapter> = {
    get: (id) => registered.get(id),
    async ready(id) {
      asked.push(id ?? "*");
      for (const [key, one] of lazy) {
        if (id !== undefined && id !== key) continue;
        registered.set(key, one);
        lazy.delete(key);
      }
    },
    watch: () => ({ dispose: () => undefined }),
    [Symbol.iterator]: () => registered.values(),
  };
  return {
    clock,
    secrets,
    logged,
    asked,
    logger,
    timers: clock as unknown as ProviderHost["timers"],
    signal: new AbortController().signal,
    snapshot: () => parseTestConfig({}),
    secret: (path) => secrets[path],
    contributions: () => view as never,
    offer(adapter, { isOutside = false, isLazy = false } = {}) {
      (isLazy ? lazy : registered).set(adapter.id, { id: adapter.id, value: adapter, owner: `embed-${adapter.id}`, isOutside });
    },
    withdraw: (id) => void registered.delete(id),
  };
}

export function providerSettings(own: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    requested: "auto",
    model: undefined,
    outputDimensionality: undefined,
    inputTypes: undefined,
    fallback: undefined,
    remote: { baseUrl: undefined, apiKeyPaths: [], headerPaths: {} },
    local: { modelPath: undefined, modelCacheDir: undefined, sha256: undefined },
    multimodal: false,
    ...own,
  };
}
