import type { SvcConfig } from "../config/root.ts";
import type { HookEvent, HookMeta, HookName, HookOptions, HookResult, HookTapResult } from "../hooks.ts";
import type { Clock, Disposable, Logger, Timers } from "./common.ts";
import type { HttpRoute } from "./http.ts";
import type { PluginOrigin } from "./manifest.ts";
import type { ModelProvider } from "./model.ts";
import type { EmitOptions, RpcMethod } from "./rpc.ts";
import type { Schema } from "./schema.ts";
import type { Services } from "./services.ts";
import type { Tool } from "./tool.ts";

/** A contribution as its reader sees it. */
export interface Contribution<T> {
  readonly id: string;
  readonly value: T;
  /** Plugin that made it. */
  readonly owner: string;
}

/** Live view of one contribution point, in load order. */
export interface ContributionView<T> extends Iterable<Contribution<T>> {
  get(id: string): Contribution<T> | undefined;
  /** Called after each change, until disposed. */
  watch(listener: () => void): Disposable;
}

/** What one plugin instance may do. Every `register*`/`on`/`contribute` is undone when the instance stops; calls after that throw `plugin-disposed`. */
export interface PluginContext<Config = unknown> {
  readonly id: string;
  readonly version: string;
  /** Generation, from 1. */
  readonly instance: number;
  readonly origin: PluginOrigin;
  /** Absolute folder of the plugin: manifest, assets, `public/`. */
  readonly root: string;
  readonly logger: Logger;
  /** Frozen, parsed, defaults applied. */
  readonly config: Config;
  /** Aborted when stop begins. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timers: Timers;
  /** `<state_dir>/plugin-data/<id>/`, mode 0700, created on first read. */
  readonly stateDir: string;
  /** Whole effective config, frozen. Secrets are in it: never log or return it. */
  snapshot(): SvcConfig;

  on<N extends HookName>(
    hook: N,
    fn: (event: HookEvent<N>, meta: HookMeta) => HookTapResult<N> | Promise<HookTapResult<N>>,
    options?: HookOptions,
  ): Disposable;
  /** Emits a hook this plugin owns. */
  runHook<N extends HookName>(hook: N, event: HookEvent<N>, meta?: Partial<HookMeta>): Promise<HookResult<N>>;
  /** True when somebody listens; lets hot paths skip building the event. */
  isHookUsed(hook: HookName): boolean;

  contribute(point: string, id: string, value: unknown): Disposable;
  contributions<T>(point: string): ContributionView<T>;

  registerRpc<P, R>(method: RpcMethod<P, R>): Disposable;
  registerHttpRoute(route: HttpRoute): Disposable;
  registerTool<Args>(tool: Tool<Args>): Disposable;
  registerModelProvider(provider: ModelProvider): Disposable;
  registerService<K extends keyof Services>(name: K, impl: Services[K]): Disposable;
  /** @throws {SvcError} `service-unavailable` while the provider is down */
  service<K extends keyof Services>(name: K): Services[K];
  /** Serialised once, filtered and numbered per receiver by the kernel. */
  emit(event: string, payload: unknown, options?: EmitOptions): void;
  onDispose(fn: () => void | Promise<void>): Disposable;
}

/** Optional second half of a plugin's life. `start` runs after every dependency has started. */
export interface PluginLife {
  start?(): void | Promise<void>;
  stop?(): void | Promise<void>;
}

export interface PluginDefinition<Config = unknown> {
  id: string;
  version: string;
  svc: { api: string };
  config?: Schema<Config>;
  /** Registers and returns; must be quick (30 s at most). */
  setup(ctx: PluginContext<Config>): PluginLife | void | Promise<PluginLife | void>;
}
