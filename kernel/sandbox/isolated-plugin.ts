import { join } from "node:path";
import type { SvcError } from "../../sdk/errors.ts";
import type { HookName } from "../../sdk/hooks.ts";
import type { JsonObject } from "../../sdk/types/common.ts";
import type { PluginContext, PluginDefinition } from "../../sdk/types/context.ts";
import type { PluginOrigin } from "../../sdk/types/manifest.ts";
import type { JsonSchema, Schema } from "../../sdk/types/schema.ts";
import type { Tool } from "../../sdk/types/tool.ts";
import { workerUrl } from "../../sdk/worker.ts";
import { vendorStateFolder } from "../process/vendor-packages.ts";
import type { IsolationMode } from "./cell.ts";
import { sandboxErrors } from "./errors.ts";
import { createSandbox, type Sandbox, type SandboxLimits } from "./sandbox.ts";

/** Data that a guest needs to run one plugin. */
export interface PluginGuestData {
  id: string;
  version: string;
  instance: number;
  origin: PluginOrigin;
  root: string;
  entry: string;
  config: unknown;
  /** The plugin's own variables; those of the gateway stay outside. */
  env: Readonly<Record<string, string>>;
  /** The plugin was started before: a guest that takes the place of a dead one starts it again. */
  resumes: boolean;
  /** May use the network. */
  net: boolean;
  /** State directory of the gateway, for the plugin's own packages. */
  stateDir: string;
  /** Channels it contributes, by its manifest. */
  channels: readonly string[];
  /** URL of jiti. */
  jiti: string;
}

/** Registrations the plugin made inside the guest. */
export interface IsolatedPlugin {
  tools: Array<{ name: string; description: string; input: JsonSchema } & Pick<Tool, "readOnly" | "timeoutMs">>;
  presets: Array<{ id: string; mappings: JsonObject[]; transforms: string[] }>;
  taps: HookName[];
  /** Registrations that were refused. */
  refused: string[];
}

export interface IsolationOptions {
  id: string;
  version: string;
  api: string;
  root: string;
  /** Absolute path of the plugin's entry. */
  entry: string;
  mode: IsolationMode;
  net: boolean;
  /** Variables of its config entry. */
  env: Readonly<Record<string, string>>;
  limits?: Partial<SandboxLimits>;
  stateDir: string;
  channels: readonly string[];
  /** Before each start of a guest; a rejection keeps it from starting. */
  check?: () => Promise<void>;
  /** Called for each registration that does not work from inside. */
  refuse(error: SvcError): void;
}

/**
 * A definition whose code runs in a worker or a child process: tools, presets with transforms and observe hooks cross as JSON, each call at most 5 s; that of a
 * tool with a limit of its own as long as that.
 * Its `setup` starts the guest. A guest that dies is replaced at the next call; the gateway never waits for its loops.
 */
export function isolatePlugin(options: IsolationOptions): PluginDefinition {
  const { id, version, api, mode } = options;
  return {
    id,
    version,
    svc: { api },
    async setup(ctx) {
      let wasStarted = false;
      const sandbox = createSandbox({
        name: `plugin "${id}"`,
        mode,
        guest: workerUrl(import.meta.url, "./plugin-guest"),
        data: () => guestData(options, ctx, wasStarted),
        // A folder that is not there yet is one only with a `*`.
        read: [options.root, join(vendorStateFolder(options.stateDir, id), "*")],
        logger: ctx.logger,
        ...(options.limits ? { limits: options.limits } : {}),
        ...(options.check ? { check: options.check } : {}),
      });
      ctx.onDispose(() => sandbox.dispose());
      const plugin = (await sandbox.start()) as IsolatedPlugin;
      for (const what of new Set(plugin.refused)) options.refuse(sandboxErrors.isolationUnsupported({ plugin: id, what, mode }));
      register(ctx, sandbox, plugin);
      return {
        async start() {
          await sandbox.call("start", {});
          wasStarted = true;
        },
        async stop() {
          if (sandbox.isAlive) await sandbox.call("stop", {});
        },
      };
    },
  };
}

function guestData(options: IsolationOptions, ctx: PluginContext, resumes: boolean): PluginGuestData {
  const { id, version, root, entry, net, env, stateDir, channels } = options;
  return {
    id,
    version,
    root,
    entry,
    net,
    env,
    stateDir,
    channels,
    resumes,
    instance: ctx.instance,
    origin: ctx.origin,
    config: ctx.config,
    jiti: import.meta.resolve("jiti"),
  };
}

/**
 * A schema that only shows itself. The guest checks every input by the real one; foreign patterns and references never run in the gateway, where one
 * can take minutes.
 */
function checkedInside(input: JsonSchema): Schema & { toJSONSchema(): JsonSchema } {
  return {
    "~standard": { version: 1, vendor: "svc-isolated", validate: (value) => ({ value }) },
    toJSONSchema: () => input,
  };
}

/** Time that a tool with a limit of its own has to end after its signal. */
const GRACE_MS = 5_000;
const MAX_TIMEOUT_MS = 3_600_000;

/** Traits of a tool that a guest may claim. */
function traitsOf({ readOnly, timeoutMs }: Pick<Tool, "readOnly" | "timeoutMs">): Pick<Tool, "readOnly" | "timeoutMs"> {
  return {
    ...(readOnly === true ? { readOnly } : {}),
    ...(typeof timeoutMs === "number" ? { timeoutMs: Math.min(Math.max(1, timeoutMs), MAX_TIMEOUT_MS) } : {}),
  };
}

/** Stands in for everything the plugin registered inside. */
function register(ctx: PluginContext, sandbox: Sandbox, plugin: IsolatedPlugin): void {
  for (const tool of plugin.tools) {
    const traits = traitsOf(tool);
    // The caller stops it at its limit; a guest that does not hear is ended a little later.
    const limit = traits.timeoutMs === undefined ? {} : { timeoutMs: traits.timeoutMs + GRACE_MS };
    ctx.registerTool({
      name: tool.name,
      description: tool.description,
      input: checkedInside(tool.input),
      ...traits,
      run: (args, { signal, update, ...call }) =>
        sandbox.call(`tool ${tool.name}`, { name: tool.name, args, call }, { signal, onUpdate: update, ...limit }),
    });
  }
  for (const { id, mappings, transforms } of plugin.presets) {
    const run = (name: string) => (args: JsonObject) => sandbox.call(`transform ${id}`, { name, args });
    ctx.registerHookPreset({ id, mappings, transforms: Object.fromEntries(transforms.map((name) => [name, run(name)])) });
  }
  for (const [index, hook] of plugin.taps.entries()) {
    ctx.on(hook, (async (args: unknown, { signal }: { signal: AbortSignal }) => {
      await sandbox.call("hook", { index, args }, { signal });
    }) as never);
  }
}
