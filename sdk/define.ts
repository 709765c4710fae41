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
  setup(ctx: PluginContext<Config>): ReturnType<PluginDefinition["setup"]>;
}): PluginDefinition<Config> {
  return definition;
}

/** Declares one command of the `svc` program. */
export function defineCommand(command: CliCommand): CliCommand {
  return command;
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
