import type { SvcConfig } from "../../sdk/config/root.ts";
import type { HookEvent, HookName } from "../../sdk/hooks.ts";
import type { Disposable, Env } from "../../sdk/types/common.ts";
import type { ContributionView } from "../../sdk/types/context.ts";
import type { PluginRecord } from "../../sdk/types/plugin-record.ts";
import type { ReloadOutcome } from "../../sdk/types/reload.ts";
import type { Services } from "../../sdk/types/services.ts";
import type { HookBus } from "../hooks/bus.ts";
import type { Host } from "../loader/instance.ts";
import type { MemoryGauge } from "../operations/memory-pressure.ts";
import type { PluginFaults } from "../operations/plugin-faults.ts";
import type { RootLogger } from "../process/logger.ts";
import type { ProfilePaths } from "../process/paths.ts";
import type { StartFlags } from "../process/start-flags.ts";
import type { StartPlan } from "./start-plan.ts";

/** A gateway as its process holds it. */
export interface RunningGateway {
  /** Resolves when boot has settled. Rejects when a required plugin failed. */
  readonly ready: Promise<void>;
  /** Port that it listens on, whatever decided that. */
  readonly port: number;
  /** The config in force. Secrets are in it. */
  config(): SvcConfig;
  /** Reads config and secrets again, whatever `gateway.reload.mode` says. */
  reload(reason: "watch" | "rpc" | "signal" | "secrets"): Promise<ReloadOutcome>;
  /** Asks for a restart; it becomes due once nothing is held, or after `gateway.reload.deferralTimeoutMs`. */
  requestRestart(reason: string): void;
  /** False when `commands.restart` forbids restarts by signal. */
  mayRestart(): boolean;
  tap<N extends HookName>(hook: N, fn: (event: HookEvent<N>) => void): Disposable;
  /** Graceful stop; may be called twice. `restart`: clients are told to come back. `isCrash`: nobody asked for it, which counts towards safe mode. */
  close(reason: string, options?: { restart?: boolean; isCrash?: boolean }): Promise<void>;
}

/** Factory of gateways; given by the kernel. */
export interface GatewayMaker {
  create(options: {
    paths: ProfilePaths;
    env: Env;
    logger: RootLogger;
    version: string;
    flags: StartFlags;
    takePort?: (host: string, port: number) => Promise<void>;
    /** Called once, when a restart that was asked for is due. */
    onRestartDue(reason: string): void;
    /** `performance.now()` of the restart this start belongs to; the next one keeps its distance. */
    restartedAt?: number;
    /** The environment a start would have now; default: `env`. */
    readEnv?(): Promise<Env>;
  }): Promise<RunningGateway>;
  /** Handles errors nobody caught; returns what undoes it. */
  guard(gateway: RunningGateway, logger: RootLogger): () => void;
}

/** `clock` (with timers, if it has some), `fetch` and `request` are what plugins get instead of the process's own, in tests. */
export interface GatewayOptions extends Partial<Pick<Host, "clock" | "fetch" | "request">> {
  paths: ProfilePaths;
  env: Env;
  logger: RootLogger;
  version: string;
  flags?: StartFlags;
  /** False: no listener; for commands that work on files while no gateway runs. */
  listen?: boolean;
  /** Only these plugins and what they require. */
  only?: string[];
  takePort?: (host: string, port: number) => Promise<void>;
  /** Time a start waits for the state lock of another gateway; default 5 s. */
  lockWaitMs?: number;
  /** Time boot waits for slow third-party plugins; default 3 s. */
  stragglerMs?: number | undefined;
  /** First pause of a plugin that asks to be tried later; default 5 s. */
  retryMs?: number | undefined;
  /** Called once, when a restart that was asked for is due; without it the gateway only logs. */
  onRestartDue?: (reason: string) => void;
  /** Gives the process the variables of the config, until the returned function is called; plugins read them there. */
  exportEnv?: (env: Env) => () => void;
  /** `performance.now()` of the restart this start belongs to; the next one keeps its distance. */
  restartedAt?: number;
  /** Watched to shed work in time; absent: nobody watches. */
  memory?: MemoryGauge;
  /** Imports the sources of bundled plugins, each evaluated once per process; their folders are read once, too. For tests. */
  importBundled?: (file: string) => Promise<unknown>;
  /** The environment a start would have now; default: `env`. */
  readEnv?: () => Promise<Env>;
}

export interface Gateway extends RunningGateway {
  readonly host: string;
  readonly port: number;
  readonly portSource: StartPlan["portSource"];
  readonly plan: StartPlan;
  readonly hooks: HookBus;
  plugins(): PluginRecord[];
  summary(): string;
  /** Ends a plugin whose code threw where nobody could catch it; false when no such plugin runs. */
  failPlugin(id: string, error: unknown): Promise<boolean>;
  /** Records failures of plugins in work that nobody awaits. */
  readonly faults: PluginFaults;
  service<K extends keyof Services>(name: K): Services[K];
  contributions<T>(point: string): ContributionView<T>;
}
