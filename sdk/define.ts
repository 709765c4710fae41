import type { CliCommand } from "./types/cli.ts";
import type { PluginContext, PluginDefinition } from "./types/context.ts";
import type { Schema } from "./types/schema.ts";

/** Version of the plugin API, separate from the product's; a manifest's `svc.api` range is matched against it. */
export const SDK_API_VERSION = "1.0.0";

/** Declares a plugin; the config type follows from its schema. Do nothing at module level: everything belongs in `setup`. */
export function definePlugin<Config = Record<string, never>>(definition: {
  id: string;
  version: string;
  svc: { api: string };
  config?: Schema<Config>;
  setup(ctx: PluginContext<Config>): ReturnType<PluginDefinition<Config>["setup"]>;
}): PluginDefinition<Config> {
  return definition;
}

/** Declares one command of the `svc` program. */
export function defineCommand(command: CliCommand): CliCommand {
  return command;
}

/** Thrown from `start`: not now, but later. The plugin is `retrying`, after 5 s, 10 s, 20 s … at most 5 min between tries. */
export class RetryLater extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "RetryLater";
  }
}

/** True for a `RetryLater` of any SDK copy. */
export function isRetryLater(error: unknown): error is RetryLater {
  return error instanceof Error && error.name === "RetryLater";
}

/** An embedding fault with its class; the memory owner decides about retry and fallback by it. */
export class EmbeddingError extends Error {
  readonly fault: import("./types/embedding.ts").EmbeddingFault;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(
    fault: import("./types/embedding.ts").EmbeddingFault,
    message: string,
    options: { status?: number; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "EmbeddingError";
    this.fault = fault;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A model fault with its class; the run loop decides about retry and failover by it. */
export class ModelError extends Error {
  readonly fault: import("./types/model.ts").ModelFault;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(
    fault: import("./types/model.ts").ModelFault,
    message: string,
    options: { status?: number; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ModelError";
    this.fault = fault;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** True for a `ModelError` of any SDK copy. */
export function isModelError(error: unknown): error is ModelError {
  return error instanceof Error && error.name === "ModelError";
}
