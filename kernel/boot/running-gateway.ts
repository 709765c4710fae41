import type { SvcConfig } from "../../sdk/config/root.ts";
import type { HookEvent, HookName } from "../../sdk/hooks.ts";
import type { RootLogger } from "../../sdk/host/logger.ts";
import type { Env, ProfilePaths } from "../../sdk/host/paths.ts";
import type { Disposable } from "../../sdk/types/common.ts";
import type { ReloadOutcome } from "../../sdk/types/reload.ts";

/** What the command line decides about a gateway, before config and environment. */
export interface StartFlags {
  port?: number | undefined;
  bind?: "loopback" | "lan" | "tailnet" | "auto" | "custom" | undefined;
  auth?: string | undefined;
  token?: string | undefined;
  password?: string | undefined;
  allowUnconfigured?: boolean | undefined;
}

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

/** How a process makes one; given by the kernel. */
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
