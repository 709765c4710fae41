import type { Disposable } from "./common.ts";

/** Service `gateway@1`, provided by the kernel. */
export interface GatewayService {
  info(): {
    version: string;
    bootId: string;
    /** Absolute paths of the profile in use. */
    stateDir: string;
    configPath: string;
    host: string;
    port: number;
    startedAt: number;
    phase: "starting" | "plugins" | "ready" | "draining" | "stopped";
  };
  /** The cached health snapshot is rebuilt before its next use. */
  invalidateHealth(): void;
  /** Asks for a graceful restart, deferred while runs are held; at most one per 30 s, further ones join it. */
  requestRestart(reason: string): void;
  /** Work that a stop waits for, at most `gateway.shutdown.drainMs`. */
  hold(reason: string): Disposable;
}
