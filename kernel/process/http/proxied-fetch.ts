import type { Dispatcher, Pool } from "undici";
import { type Connector, createConnector } from "./connect.ts";
import { loadUndici, type Undici } from "./load-undici.ts";
import { namedProxies, type ProxyEnv, proxyFor } from "./proxy.ts";

/** Servers whose idle connections are kept. */
const MAX_ORIGINS = 32;
const KEEP_ALIVE_MS = 30_000;

export interface ProxiedFetchOptions {
  /** Names the proxies. */
  env: ProxyEnv;
  /** Ends every connection. */
  signal: AbortSignal;
  /** Certificates trusted besides those of the process; for tests. */
  ca?: string;
}

/**
 * Node's `fetch`, through the proxies that an environment names; without any it is Node's and nothing else. Redirects, packed answers and bodies stay what Node
 * makes of them: only the connections are ours. Node 20 knows no proxy, and later versions only that of the whole process, when told at their start.
 */
export function createProxiedFetch(options: ProxiedFetchOptions): typeof fetch {
  if (namedProxies(options.env).length === 0) return (input, init) => fetch(input, init);
  let opening: Promise<FetchDispatcher> | undefined;
  return async (input, init) => {
    opening ??= loadUndici().then(
      (undici) => new FetchDispatcher(undici, options),
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return fetch(input, { dispatcher: await opening, ...init } as RequestInit);
  };
}

interface Origin {
  pool: Pool;
  connector: Connector;
}

/**
 * Connections of Node's `fetch`: a pool for each origin, also for those that a redirect leads to. The handlers that it gets have one form in Node 20 to 24 and
 * another in 26; the pools of the package take both.
 */
class FetchDispatcher {
  readonly #undici: Undici;
  readonly #options: ProxiedFetchOptions;
  /** In the order of their last use. */
  readonly #origins = new Map<string, Origin>();

  constructor(undici: Undici, options: ProxiedFetchOptions) {
    this.#undici = undici;
    this.#options = options;
    options.signal.addEventListener("abort", () => this.#close(), { once: true });
  }

  /** @throws {SvcError} `proxy-failed` */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#originOf(String(options.origin)).pool.dispatch(options, handler);
  }

  #originOf(name: string): Origin {
    const known = this.#origins.get(name) ?? this.#open(name);
    this.#origins.delete(name);
    this.#origins.set(name, known);
    const [oldest] = this.#origins;
    if (oldest && this.#origins.size > MAX_ORIGINS) {
      this.#origins.delete(oldest[0]);
      // Requests under way end first.
      void oldest[1].pool.close().finally(() => oldest[1].connector.close());
    }
    return known;
  }

  #open(name: string): Origin {
    const proxy = proxyFor(new URL(name), this.#options.env);
    const connector = createConnector(this.#undici, { proxy, ca: this.#options.ca });
    // As many connections as there are requests, as with Node's own.
    const pool = new this.#undici.Pool(name, {
      connect: connector.connect,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      allowH2: false,
    });
    return { pool, connector };
  }

  #close(): void {
    for (const { pool, connector } of this.#origins.values()) {
      connector.close();
      void pool.destroy();
    }
    this.#origins.clear();
  }
}
