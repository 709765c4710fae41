/** Runs one isolated plugin: its `setup` here, what it registered there. */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { type HookName, hooks } from "../../sdk/hooks.ts";
import * as sdk from "../../sdk/index.ts";
import { formatIssues, toJsonSchema } from "../../sdk/json-schema.ts";
import type { Clock, Disposable, JsonObject } from "../../sdk/types/common.ts";
import type { PluginContext, PluginDefinition, PluginLife } from "../../sdk/types/context.ts";
import type { HookPreset } from "../../sdk/types/hook-preset.ts";
import type { Schema } from "../../sdk/types/schema.ts";
import type { Tool } from "../../sdk/types/tool.ts";
import { createPluginVendor } from "../process/plugin-vendor.ts";
import { plainTimers, serveGuest } from "./guest.ts";
import type { IsolatedPlugin, PluginGuestData } from "./isolated-plugin.ts";
import { INVALID_INPUT } from "./messages.ts";
import { switchOffNetwork } from "./network.ts";
import { switchOffSignals } from "./processes.ts";

const tools = new Map<string, Tool<never>>();
const presets = new Map<string, HookPreset>();
const taps: Array<{ hook: HookName; fn: (event: never, meta: never) => unknown }> = [];
const refused: string[] = [];
let life: PluginLife<never> | undefined;
let root: string | undefined;
const ended = new AbortController();

serveGuest({
  root: () => root,
  async start(data: PluginGuestData, host): Promise<IsolatedPlugin> {
    root = data.root;
    switchOffSignals();
    if (!data.net) switchOffNetwork();
    const definition = await importDefinition(data);
    if (typeof definition?.setup !== "function") throw new Error(`${basename(data.entry)} has no default export made by definePlugin`);
    if (definition.id !== data.id) throw new Error(`its code says id "${definition.id}", its manifest "${data.id}"`);
    const config = await checked(definition.config, data.config, "its config does not fit");
    life = (await definition.setup(contextOf(data, config, host) as PluginContext<never>)) ?? undefined;
    if (data.resumes) await life?.start?.();
    return {
      tools: await Promise.all(
        [...tools.values()].map(async ({ name, description, input, readOnly, timeoutMs }) => ({
          name,
          description,
          input: toJsonSchema(input as never),
          ...(readOnly === undefined ? {} : { readOnly }),
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        })),
      ),
      presets: [...presets.values()].map(({ id, mappings, transforms }) => ({
        id,
        mappings: [...mappings],
        transforms: Object.keys(transforms ?? {}),
      })),
      taps: taps.map(({ hook }) => hook),
      refused,
    };
  },
  async call(name: string, args: { name: string; args: never; call: never; index: number }, { signal, update }) {
    if (name === "start") return life?.start?.();
    if (name === "stop") {
      ended.abort();
      return life?.stop?.();
    }
    if (name === "hook") {
      await taps[args.index]?.fn(args.args, { report: () => undefined, signal } as never);
      return undefined;
    }
    if (name.startsWith("transform ")) return presets.get(name.slice(10))?.transforms?.[args.name]?.(withUrl(args.args));
    const tool = tools.get(args.name) as Tool<never>;
    return tool.run(await checked(tool.input, args.args, "its input does not fit"), {
      ...(args.call as object),
      signal,
      update,
    } as never);
  },
});

interface Jiti {
  import(path: string, options: { default: true }): Promise<unknown>;
}

/** The plugin's code, with this SDK as its `svc/sdk`; jiti comes by address, because the SDK depends on no package but zod. */
async function importDefinition({ jiti, entry }: PluginGuestData): Promise<PluginDefinition<never>> {
  const { createJiti } = (await import(jiti)) as { createJiti(from: string, options: object): Jiti };
  const own = createJiti(pathToFileURL(entry).href, { fsCache: false, moduleCache: false, virtualModules: { "svc/sdk": sdk } });
  return (await own.import(entry, { default: true })) as PluginDefinition<never>;
}

/** A transform gets its address as an object, on this side as on the other. */
function withUrl(context: JsonObject): JsonObject {
  return typeof context.url === "string" ? { ...context, url: new URL(context.url) } : context;
}

/** Values as the plugin's own schema makes them: the host has only seen its JSON form. */
async function checked(schema: unknown, given: unknown, complaint: string): Promise<never> {
  if (typeof schema !== "object" || schema === null || !("~standard" in schema)) return given as never;
  const result = await (schema as Schema<never>)["~standard"].validate(given);
  if (result.issues) throw Object.assign(new Error(`${complaint}: ${formatIssues(result.issues)}`), { code: INVALID_INPUT });
  return result.value;
}

type Log = (level: "debug" | "info" | "warn" | "error", message: string) => void;

/** The part of a plugin's context that works from here; anything else is refused and reported. */
function contextOf(data: PluginGuestData, config: unknown, host: { log: Log }): unknown {
  const { id, version, instance, origin } = data;
  const kept = { dispose: () => undefined };
  const keepIn = <T>(map: Map<string, T>, name: string, value: T): Disposable => {
    map.set(name, value);
    return kept;
  };
  const uncounted = () => {
    refused.push("metrics");
    return { ...kept, add: () => undefined, observe: () => undefined };
  };
  const logger = (prefix: string) => ({
    ...Object.fromEntries(
      (["debug", "info", "warn", "error"] as const).map((level) => [level, (message: string) => host.log(level, `${prefix}${message}`)]),
    ),
    // The host's level is not known here, and no frame is worth the way.
    trace: () => undefined,
    child: (name: string) => logger(`${prefix}${name}: `),
  });
  const own = {
    id,
    version,
    instance,
    origin,
    root: data.root,
    logger: logger(""),
    config,
    env: Object.freeze({ ...data.env }),
    signal: ended.signal,
    clock: { now: Date.now, monotonic: () => performance.now() } satisfies Clock,
    timers: plainTimers,
    vendor: createPluginVendor(data),
    metrics: { counter: () => uncounted(), histogram: () => uncounted(), gauge: () => uncounted() },
    tracing: {
      current: () => undefined,
      keep: () => undefined,
      span: (_: string, __: object, work: (span: object) => unknown) => work(silentSpan),
    },
    registerTool: (tool: Tool<never>) => keepIn(tools, tool.name, tool),
    registerHookPreset: (preset: HookPreset) => keepIn(presets, preset.id, preset),
    on(hook: HookName, fn: (event: never, meta: never) => unknown): Disposable {
      if (hooks[hook]?.kind === "observe") taps.push({ hook, fn });
      else refused.push(`a tap of the ${hooks[hook]?.kind ?? "unknown"} hook ${hook}`);
      return kept;
    },
    onDispose: () => kept,
  };
  return new Proxy(own, {
    get(target, key) {
      if (key in target || typeof key === "symbol") return target[key as keyof typeof target];
      return () => {
        refused.push(key);
        return kept;
      };
    },
  });
}

const silentSpan = { set: () => undefined, fail: () => undefined };
