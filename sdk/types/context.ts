import type { SvcConfig } from "../config/root.ts";
import type { HookMeta, HookOptions, HookResult, HookTapResult } from "../hook-taps.ts";
import type { HookEvent, HookName } from "../hooks.ts";
import type { Channel } from "./channel.ts";
import type { DoctorCheck, HealthCheck } from "./checks.ts";
import type { Clock, Disposable, Logger, Timers } from "./common.ts";
import type { EmbeddingAdapter } from "./embedding.ts";
import type { HookPreset } from "./hook-preset.ts";
import type { HttpRoute } from "./http.ts";
import type { PluginOrigin } from "./manifest.ts";
import type { MemoryBackend } from "./memory-backend.ts";
import type { Metrics } from "./metrics.ts";
import type { ModelProvider } from "./model.ts";
import type { ReloadParticipant } from "./reload.ts";
import type { HttpRequestFunction } from "./request.ts";
import type { EmitOptions, RpcMethod } from "./rpc.ts";
import type { Schema } from "./schema.ts";
import type { Services } from "./services.ts";
import type { Tool } from "./tool.ts";
import type { Tracing } from "./tracing.ts";
import type { UiPanel } from "./ui-panel.ts";
import type { PluginVendor } from "./vendor.ts";

/** A contribution as its reader sees it. */
export interface Contribution<T> {
  readonly id: string;
  readonly value: T;
  /** Plugin that made it. */
  readonly owner: string;
  /** That plugin does not come with svc. */
  readonly isOutside?: boolean;
}

/** Live view of one contribution point, in load order. */
export interface ContributionView<T> extends Iterable<Contribution<T>> {
  get(id: string): Contribution<T> | undefined;
  /**
   * Loads the plugins that contribute this id, or anything here, only on first use (`activation` of their manifests), 30 s at most.
   * Resolves at once when there are none; never rejects: what did not load is not there.
   */
  ready(id?: string): Promise<void>;
  /** Called after each change, until disposed. */
  watch(listener: () => void): Disposable;
}

/** Small durable values of one plugin: rows of the store. Every call rejects with `service-unavailable` while nobody provides a store. */
export interface PluginKv {
  /** The stored JSON value, or undefined. */
  get<T = unknown>(key: string): Promise<T | undefined>;
  /**
   * Resolves once the value is durable.
   * @throws {SvcError} `kv-limit` for a value over 64 KiB of JSON, a key over 256 characters or the 5,001st key
   */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** At most 1,000 rows, ordered by key. */
  list(prefix?: string): Promise<Array<{ key: string; value: unknown }>>;
}

/** Capabilities of one plugin instance. Every `register*`/`on`/`contribute` is undone when the instance stops; calls after that throw `plugin-disposed`. */
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
  /**
   * Environment variables, frozen: the gateway's, over them those of `plugins.entries.<id>.env`, which no other plugin sees. A worker or a child process
   * gets only the latter. A change of the entry makes a new instance. Treat every value as a secret.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when stop begins. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timers: Timers;
  /** `<state_dir>/plugin-data/<id>/`, mode 0700, created on first read. */
  readonly stateDir: string;
  /** Whole effective config, frozen; every secret reads `__SVC_REDACTED__`. */
  snapshot(): SvcConfig;
  /**
   * The resolved value of a sensitive config path that the manifest lists under `secrets`; undefined only when it is unset.
   * A path with `*` for a segment (`models.providers.acme.headers.*`) has no value and only throws when one of those paths has lost its own.
   * @throws {SvcError} `undeclared-contribution` for a path the manifest does not list; `secret-unavailable` when the config sets it and it could not be
   * resolved: do without, or say so, but do not take another secret in its place
   */
  secret(path: string): string | undefined;
  readonly kv: PluginKv;
  /** Global `fetch` that ends with the plugin, names it as the user agent and goes through the proxies of the environment. */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>;
  /** For servers that are asked often: kept connections, the proxies of the environment, a stream as the body. Ends with the plugin, whose name it sends as `fetch` does. */
  readonly request: HttpRequestFunction;
  /** Packages of the plugin's own, which are no part of svc. */
  readonly vendor: PluginVendor;
  /** Figures for monitoring. A declaration that is refused (`reserved-name`, `contribution-conflict`, `invalid-registration`) counts for nobody. */
  readonly metrics: Metrics;
  readonly tracing: Tracing;

  on<N extends HookName>(
    hook: N,
    fn: (event: HookEvent<N>, meta: HookMeta) => HookTapResult<N> | Promise<HookTapResult<N>>,
    options?: HookOptions,
  ): Disposable;
  /** Emits a hook this plugin owns. */
  runHook<N extends HookName>(hook: N, event: HookEvent<N>, meta?: Partial<HookMeta>): Promise<HookResult<N>>;
  /** True when somebody listens; lets hot paths skip building the event. */
  isHookUsed(hook: HookName): boolean;

  /**
   * Offers a value at a point. Points of a plugin's own making are free; those of the SDK want what their `register*` wants, and `reload` and `uiPanel`
   * are entered by `onReload` and `registerUiPanel` only. Like every `register*` it never throws for what it refuses (`undeclared-contribution`,
   * `invalid-registration`, `reserved-name` for a name that an enabled bundled plugin declares): the plugin is degraded and says why.
   */
  contribute(point: string, id: string, value: unknown): Disposable;
  /** Without other plugins' rows (`kv`) and parts (`reload`); the services `config@1` and `plugins@1` need the permission `rpc.admin`. */
  contributions<T>(point: string): ContributionView<T>;

  registerRpc<P, R>(method: RpcMethod<P, R>): Disposable;
  registerHttpRoute(route: HttpRoute): Disposable;
  registerTool<Args>(tool: Tool<Args>): Disposable;
  registerModelProvider(provider: ModelProvider): Disposable;
  registerChannel(channel: Channel): Disposable;
  registerEmbeddingAdapter(adapter: EmbeddingAdapter): Disposable;
  /** Offers another engine of the memory; agents use it where `memory.backend` is its id. */
  registerMemoryBackend(backend: MemoryBackend): Disposable;
  registerHookPreset(preset: HookPreset): Disposable;
  registerHealthCheck(check: HealthCheck): Disposable;
  registerDoctorCheck(check: DoctorCheck): Disposable;
  registerUiPanel(panel: UiPanel): Disposable;
  /** Takes part in config reloads under absolute prefixes (`"models"`, `"agents.list"`): prepare, then one of apply or discard. */
  onReload(participant: ReloadParticipant): Disposable;
  registerService<K extends keyof Services>(name: K, impl: Services[K]): Disposable;
  /**
   * A handle that may be kept: it finds the present provider at each use, so a provider that was replaced needs no notice. While there is none, getting
   * the handle and using a kept one throw.
   * @throws {SvcError} `service-unavailable` while the provider is down
   */
  service<K extends keyof Services>(name: K): Services[K];
  /** Serialised once, filtered and numbered per receiver by the kernel. */
  emit(event: string, payload: unknown, options?: EmitOptions): void;
  onDispose(fn: () => void | Promise<void>): Disposable;
}

/** Optional second half of a plugin's life. `start` runs after every dependency has started; `throw new RetryLater("…")` there asks for another try. */
export interface PluginLife<Config = unknown> {
  start?(): void | Promise<void>;
  stop?(): void | Promise<void>;
  /** Takes a new config in place: `true` = done, the instance stays; anything else = replace the instance. */
  onConfigChange?(next: Config, prev: Config): boolean | Promise<boolean>;
}

/** A plugin as its entry exports it, made by `definePlugin`. */
export interface PluginDefinition<Config = unknown> {
  id: string;
  version: string;
  svc: { api: string };
  config?: Schema<Config>;
  /** Registers and returns; must be quick (30 s at most). */
  setup(ctx: PluginContext<Config>): PluginLife<Config> | void | Promise<PluginLife<Config> | void>;
}
