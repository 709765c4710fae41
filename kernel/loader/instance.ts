import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Disposable, Logger } from "../../sdk/types/common.ts";
import type { PluginContext } from "../../sdk/types/context.ts";
import type { HttpRoute } from "../../sdk/types/http.ts";
import type { Contributes, Manifest, PluginOrigin } from "../../sdk/types/manifest.ts";
import type { EmitOptions, RpcMethod } from "../../sdk/types/rpc.ts";
import type { HookBus } from "../hooks/bus.ts";
import type { MetricRegistry } from "../operations/metrics/registry.ts";
import type { Tracer } from "../operations/tracer.ts";
import type { Activation } from "./activation.ts";
import type { Contributions } from "./contributions.ts";
import type { Leases } from "./leases.ts";
import type { pluginEnv } from "./plugin-env.ts";
import type { TimedClock } from "./timers.ts";

/** Identity of one plugin instance. */
export interface InstanceIdentity {
  id: string;
  version: string;
  instance: number;
  origin: PluginOrigin;
  root: string;
  /** Load order, for ties. */
  order: number;
  manifest: Manifest | undefined;
  /** Replaced when the plugin takes a new one in place. */
  config: unknown;
  /** Variables of its config entry. */
  env: Readonly<Record<string, string>>;
}

/** A context and the power to end it. What it registers takes effect at `open`. */
export interface Instance {
  readonly identity: InstanceIdentity;
  readonly ctx: PluginContext;
  readonly leases: Leases;
  /** Refused registrations, for `svc plugins list`. */
  readonly diagnostics: Array<{ code: string; message: string }>;
  /** Puts everything it registered into the registries, in one turn. */
  open(): void;
  /** Takes it out again, in one turn; calls under way go on. */
  close(): void;
  /** Aborts `ctx.signal`: the stop begins. */
  abort(): void;
  /** Aborts the signal, if that has not happened, then undoes everything in reverse, each step within 5 s. Resolves to what could not be undone. */
  dispose(): Promise<string[]>;
}

/** Adds what a plugin contributes, by its owner, until the result is disposed. `hold` keeps the owner's instance while a call of it runs. */
interface Sink<T> {
  add(value: T, owner: string, hold?: () => Disposable): Disposable;
}

/** Parts of the gateway that contexts of plugins are made from. */
export interface Host {
  hooks: HookBus;
  contributions: Contributions;
  /** The control protocol. @throws {SvcError} `reserved-name`, `contribution-conflict` */
  methods: Sink<RpcMethod> & { ownerOf(name: string): string | undefined };
  /** The HTTP listener. @throws {SvcError} `route-conflict` */
  routes: Sink<HttpRoute>;
  activation: Activation;
  metrics: MetricRegistry;
  tracer: Tracer;
  /** The bundled plugin in force that declares such a name. */
  reservedBy(kind: keyof Contributes, isSame: (declared: string) => boolean): string | undefined;
  /** Reason why the provider of a service is not running, as the rest of a sentence; undefined when nothing is known. */
  whyAbsent?(service: string): string | undefined;
  emit(event: string, payload: unknown, options?: EmitOptions): void;
  /** Is this one of the events that plugins of this release send? Any other goes out under its plugin's name. */
  isProtocolEvent(event: string): boolean;
  config(): SvcConfig;
  /** The same with every secret masked. */
  snapshot(): SvcConfig;
  /** Resolved value of a sensitive path. */
  secret(path: string): string | undefined;
  logger: Logger;
  /** Counts an error that nobody waits for against its plugin. */
  onFault?: ((plugin: string) => void) | undefined;
  clock: TimedClock;
  fetch?: PluginContext["fetch"] | undefined;
  /** Takes every `ctx.request`, in tests. */
  request?: PluginContext["request"] | undefined;
  stateDir: string;
  /** The environment as the config left it at the start, and what of the config has no value. */
  gatewayEnv(): Parameters<typeof pluginEnv>[2];
}
