import type { SvcError } from "../errors.ts";
import type { Disposable } from "./common.ts";
import type { DeviceEnd, DeviceRole } from "./devices.ts";
import type { LogTail, LogTailQuestion } from "./log.ts";
import type { ClientInfo } from "./rpc.ts";

/** Self-description of a client that may have no connection. */
export interface PresenceBeacon {
  text: string;
  deviceId?: string;
  instanceId?: string;
  host?: string;
  ip?: string;
  mode?: string;
  version?: string;
  platform?: string;
  lastInputSeconds?: number;
  reason?: string;
  roles?: string[];
  scopes?: string[];
  tags?: string[];
}

/** When failed attempts lock an address out, and for how long. Times are milliseconds. */
export interface AttemptLimits {
  maxAttempts: number;
  windowMs: number;
  lockoutMs: number;
}

/** Counts failed attempts by client address in memory, at most 10,000 of them; an IPv6 address counts with its /64. */
export interface AttemptLimiter {
  /** Milliseconds until this address may try again; 0 when it may now. */
  retryAfterMs(address: string): number;
  /** Counts a failed attempt, unless the address is locked out. */
  fail(address: string): void;
  succeed(address: string): void;
}

/**
 * How near the process is to the limit of its memory. `background`: work that nobody waits for pauses; `work`: no new runs either, accepted work waits;
 * `restart`: a supervised gateway is about to restart.
 */
export type MemoryStage = "none" | "background" | "work" | "restart";

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
    /** In force, whatever decided it: a flag, the config or the environment. */
    authMode: "token" | "password" | "trusted-proxy" | "none";
    startedAt: number;
    /** `safe-mode`: up, but nothing is done that nobody asks for; `gateway.ready` runs when that ends. */
    phase: "starting" | "plugins" | "ready" | "safe-mode" | "draining" | "stopped";
  };
  /** Clients that are connected now, in order of arrival. */
  clients(): Iterable<ClientInfo>;
  /** Ends the connections of a device, or those of one role of it, in a turn of its own: who ends its own connection still gets the answer. */
  endDevice(deviceId: string, reason: DeviceEnd, role?: DeviceRole): void;
  /** Puts or renews a row of the presence list: by device, instance, host, address, else text. A text `Node: <host> (<ip>) · app …` is read. */
  beacon(beacon: PresenceBeacon): void;
  /** Stage of memory pressure; the hook `gateway.pressure` tells of each change. */
  memoryStage(): MemoryStage;
  /** The cached health snapshot is rebuilt before its next use. */
  invalidateHealth(): void;
  /**
   * `/readyz` answers 503 with this text as long as it is set. Key: the part of health it belongs to. For what makes accepting work wrong, not for what
   * merely does not work.
   */
  setReadiness(part: string, problem: string | undefined): void;
  /**
   * Ends the start of the gateway with this error and its exit code, once the other plugins have settled: what would be served without the caller is worse
   * than nothing. Without effect when the gateway is up already.
   */
  refuseStart(error: SvcError): void;
  /**
   * Says that a proxy on this machine serves the gateway under an origin, such as `https://host.tailnet.ts.net`: its pages may use the gateway, and its
   * forwarding headers name the client, until this is disposed of.
   */
  publish(origin: string): Disposable;
  /** Asks for a graceful restart, deferred while runs are held; at most one per 30 s, further ones join it. */
  requestRestart(reason: string): void;
  /** Makes a limiter of failed attempts that only its caller counts in. */
  limitAttempts(limits: AttemptLimits): AttemptLimiter;
  /** Work that a stop waits for, at most `gateway.shutdown.drainMs`. */
  hold(reason: string): Disposable;
  /** Reads lines of the gateway's log file as they were written, secrets masked. @throws {Error} of the system when the file cannot be read */
  tailLog(question: LogTailQuestion): Promise<LogTail>;
  /** A text as the log would show it: secrets of the config and the environment, bearer tokens, and what `logging.redactPatterns` match are masked. */
  redact(text: string): Promise<string>;
}
