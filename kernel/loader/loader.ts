import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, SvcError } from "../../sdk/errors.ts";
import { formatIssues, toSchema } from "../../sdk/json-schema.ts";
import { withLimit } from "../../sdk/limit.ts";
import { satisfies } from "../../sdk/manifest.ts";
import { orderPlugins } from "../../sdk/plugin-order.ts";
import { summarizePlugins } from "../../sdk/plugin-summary.ts";
import type { PluginDefinition, PluginLife } from "../../sdk/types/context.ts";
import type { PluginRecord, PluginState } from "../../sdk/types/plugin-record.ts";
import { deepFreeze } from "../config/load.ts";
import { running } from "../hooks/guard.ts";
import { createInstance, type Host, type Instance } from "./context.ts";
import type { Candidate } from "./discovery.ts";
import { importPluginModule, isDefinition } from "./import.ts";

export interface Loader {
  /** Loads everything that may load; never rejects for a plugin's fault. */
  loadAll(): Promise<void>;
  records(): PluginRecord[];
  /** `plugins: 14 active, 1 failed (irc: import-failed), 2 blocked; 812 ms` */
  summary(): string;
  /** Ends one plugin because its code threw where nobody could catch it. False when no such plugin runs. */
  fail(id: string, error: unknown): Promise<boolean>;
  stopAll(): Promise<void>;
}

export interface LoaderHost extends Host {
  onState(record: PluginRecord, from: PluginState): void;
  /** Boot waits no longer for plugins of third parties once the bundled and the required ones have settled; default 3 s. */
  stragglerMs?: number | undefined;
}

interface Slot {
  candidate: Candidate;
  record: PluginRecord;
  order: number;
  instance?: Instance;
  life?: PluginLife | undefined;
}

const SETUP_MS = 30_000;
const START_MS = 30_000;
const STOP_MS = 5_000;

/** Life of all plugins of one gateway: order, import, setup, start, and everything undone at the end. */
export function createLoader(candidates: Candidate[], host: LoaderHost): Loader {
  const slots = candidates.map((candidate): Slot => ({ candidate, record: firstRecord(candidate, host.clock.now()), order: 0 }));
  const byId = new Map(slots.filter((s) => !s.candidate.problem).map((s) => [s.candidate.id, s]));
  let loadedInOrder: Slot[] = [];
  let elapsedMs = 0;
  let stopped = false;

  const move = (slot: Slot, state: PluginState, why?: { code: string; reason: string; hint?: string }) => {
    const from = slot.record.state;
    delete slot.record.code;
    delete slot.record.reason;
    delete slot.record.hint;
    Object.assign(slot.record, { state, since: host.clock.now(), ...why });
    if (state === "failed" && !stopped) host.logger.error(`plugin "${slot.record.id}" failed: ${why?.reason}`, { code: why?.code });
    host.onState(slot.record, from);
  };

  const providers = new Map(
    [...byId.values()].flatMap((s) => (s.candidate.manifest?.provides ?? []).map((service) => [service, s.candidate.id] as const)),
  );

  const needsOf = (slot: Slot) => {
    const { manifest } = slot.candidate;
    const services = (manifest?.requires ?? []).map((r) => ({ service: r.replace(/\?$/, ""), optional: r.endsWith("?") }));
    return {
      hard: Object.keys(manifest?.dependencies ?? {}),
      services: services.filter((s) => !s.optional).map((s) => s.service),
      soft: services.filter((s) => s.optional).flatMap((s) => providers.get(s.service) ?? []),
    };
  };

  /** A dependency that is missing or not active, as a reason; undefined when all are there. */
  const blocker = (slot: Slot): { code: string; reason: string } | undefined => {
    const needs = needsOf(slot);
    for (const service of needs.services) {
      if (!providers.has(service)) return { code: "missing-dependency", reason: `nobody provides ${service}` };
    }
    for (const id of [...needs.hard, ...needs.services.map((s) => providers.get(s) as string)]) {
      const other = byId.get(id);
      if (!other) return { code: "missing-dependency", reason: `plugin "${id}" is not there or not enabled` };
      const range = slot.candidate.manifest?.dependencies?.[id];
      if (range && !satisfies(other.candidate.version, range))
        return { code: "missing-dependency", reason: `plugin "${id}" is version ${other.candidate.version}, needed is ${range}` };
      if (other.record.state !== "active" && other.record.state !== "degraded")
        return { code: "dependency-failed", reason: `plugin "${id}" is ${other.record.state}` };
    }
    return undefined;
  };

  const load = async (slot: Slot) => {
    const started = performance.now();
    const { id } = slot.candidate;
    const limits = host.config().plugins.entries[id]?.limits;
    const goOn = () => {
      if (stopped) throw new StepError("dependency-failed", "the gateway is stopping");
    };
    move(slot, "loading");
    try {
      const definition = await step(slot, "import-failed", { phase: "import", limitMs: limits?.setupTimeoutMs ?? SETUP_MS }, () =>
        importDefinition(slot.candidate, host),
      );
      goOn();
      const config = await parseConfig(slot.candidate, definition, host.config().plugins.entries[id]?.config ?? {});
      const { manifest, root, origin } = slot.candidate;
      const instance = createInstance(
        { id, version: definition.version, instance: slot.record.instance, origin, root, order: slot.order, manifest, config },
        host,
      );
      slot.instance = instance;
      slot.life =
        (await step(slot, "setup-failed", { phase: "setup", limitMs: limits?.setupTimeoutMs ?? SETUP_MS }, async () =>
          definition.setup(instance.ctx),
        )) ?? undefined;
      goOn();
      await step(slot, "start-failed", { phase: "start", limitMs: limits?.startTimeoutMs ?? START_MS }, async () => slot.life?.start?.());
      slot.record.diagnostics = instance.diagnostics;
      const first = instance.diagnostics[0];
      if (slot.instance) move(slot, first ? "degraded" : "active", first && { code: first.code, reason: first.message });
    } catch (error) {
      await slot.instance?.dispose();
      delete slot.instance;
      const fault = error instanceof StepError ? error : new StepError("setup-failed", messageOf(error), error);
      if (fault.cause instanceof Error) host.logger.debug(`plugin "${id}"`, { error: fault.cause });
      move(slot, "failed", { code: fault.code, reason: fault.message, hint: hints[fault.code] ?? "see the log for its stack" });
    }
    slot.record.ms = Math.round(performance.now() - started);
    if (slot.record.ms > 1_000) host.logger.warn(`plugin "${id}" took ${slot.record.ms} ms to load`);
  };

  /** Everything that must have settled before this one loads. */
  const orderedBefore = (slot: Slot) => {
    const needs = needsOf(slot);
    return [
      ...needs.hard,
      ...needs.services.flatMap((s) => providers.get(s) ?? []),
      ...needs.soft,
      ...(slot.candidate.manifest?.after ?? []),
    ];
  };

  const settleAfter = async (slot: Slot, before: Promise<void>[]) => {
    await Promise.all(before);
    const why = stopped ? { code: "dependency-failed", reason: "the gateway is stopping" } : blocker(slot);
    if (why) move(slot, "failed", why);
    else await load(slot);
    if (stopped) await stop(slot);
  };

  const stop = async (slot: Slot) => {
    if (!slot.instance) return;
    const { instance } = slot;
    delete slot.instance;
    move(slot, "stopping");
    const limitMs = host.config().plugins.entries[slot.candidate.id]?.limits?.stopTimeoutMs ?? STOP_MS;
    await step(slot, "stop-failed", { phase: "stop", limitMs }, async () => slot.life?.stop?.()).catch((error: unknown) =>
      host.logger.warn(`plugin "${slot.record.id}": ${messageOf(error)}`),
    );
    const left = await instance.dispose();
    if (left.length > 0) host.logger.warn(`plugin "${slot.record.id}" left behind: ${left.join(", ")}`, { code: "leak" });
    move(slot, "disposed");
  };

  return {
    async loadAll() {
      const started = performance.now();
      const graph = orderPlugins([...byId.values()].map((slot) => ({ id: slot.candidate.id, needs: orderedBefore(slot) })));
      for (const [id, path] of graph.cycles) move(byId.get(id) as Slot, "failed", { code: "cycle", reason: path });
      loadedInOrder = graph.levels.flat().map((id) => byId.get(id) as Slot);
      const done = new Map<string, Promise<void>>();
      for (const [order, slot] of loadedInOrder.entries()) {
        slot.order = order;
        const before = orderedBefore(slot).flatMap((id) => done.get(id) ?? []);
        done.set(slot.candidate.id, settleAfter(slot, before));
      }
      const settled = Promise.all(done.values()).then(() => {
        elapsedMs = Math.round(performance.now() - started);
      });
      const { entries } = host.config().plugins;
      const needed = [...done].filter(([id]) => byId.get(id)?.candidate.origin === "bundled" || entries[id]?.required);
      const bundled = Promise.all(needed.map(([, p]) => p));
      await Promise.race([settled, bundled.then(() => sleep(host.stragglerMs ?? 3_000, undefined, { ref: false }))]);
      elapsedMs ||= Math.round(performance.now() - started);
    },
    records: () => slots.map((s) => s.record),
    summary: () =>
      summarizePlugins(
        slots.map((s) => s.record),
        elapsedMs,
      ),
    async fail(id, error) {
      const slot = byId.get(id);
      if (!slot?.instance) return false;
      await stop(slot);
      move(slot, "failed", {
        code: "uncaught",
        reason: messageOf(error),
        hint: "its code threw outside of any call; see the log for the stack",
      });
      return true;
    },
    async stopAll() {
      stopped = true;
      for (const slot of [...loadedInOrder].reverse()) await stop(slot);
    },
  };
}

const hints: Record<string, string> = {
  "import-failed": "its module throws while loading; mend it or set plugins.entries.<id>.enabled to false",
  "import-timeout": "its module waits at the top level; move that into start",
  "setup-timeout": "setup registers and returns; move waiting into start",
  "config-invalid": "compare plugins.entries.<id>.config with its schema",
};

class StepError extends Error {
  readonly code: string;
  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Runs one phase of a plugin's life under its name and a limit. */
async function step<T>(
  slot: Slot,
  failCode: string,
  { phase, limitMs }: { phase: string; limitMs: number },
  run: () => Promise<T>,
): Promise<T> {
  const plugin = slot.candidate.id;
  try {
    return await withLimit(running.run({ plugin, what: phase }, run), limitMs, () => {
      const { message } = new SvcError("plugin-timeout", { plugin, phase, seconds: limitMs / 1000 });
      throw new StepError(failCode.replace("failed", "timeout"), message);
    });
  } catch (error) {
    throw error instanceof StepError ? error : new StepError(failCode, messageOf(error).split("\n", 1)[0] as string, error);
  }
}

async function importDefinition(candidate: Candidate, host: Host): Promise<PluginDefinition> {
  const value = await importPluginModule(candidate.entry as string, { stateDir: host.stateDir });
  if (!isDefinition(value)) throw new StepError("import-failed", "its entry has no default export made by definePlugin");
  if (candidate.manifest && value.id !== candidate.manifest.id) {
    throw new StepError("manifest-invalid", `its code says id "${value.id}", its manifest "${candidate.manifest.id}"`);
  }
  return value;
}

/** Validates `plugins.entries.<id>.config` by the manifest's schema and then by the plugin's own. */
async function parseConfig({ id, manifest }: Candidate, definition: PluginDefinition, given: Record<string, unknown>): Promise<unknown> {
  for (const schema of [manifest?.configSchema && toSchema(manifest.configSchema), definition.config]) {
    if (!schema) continue;
    const result = await schema["~standard"].validate(given);
    if (result.issues) throw new StepError("config-invalid", `plugins.entries.${id}.config: ${formatIssues(result.issues)}`);
    if (schema === definition.config) return deepFreeze(result.value);
  }
  if (Object.keys(given).length > 0 && !manifest?.configSchema)
    throw new StepError("config-invalid", `plugins.entries.${id}.config: it takes no config`);
  return deepFreeze(given);
}

function firstRecord(candidate: Candidate, now: number): PluginRecord {
  const { manifest, problem } = candidate;
  return {
    id: candidate.id,
    version: candidate.version,
    name: manifest?.name ?? candidate.id,
    description: manifest?.description ?? "",
    origin: candidate.origin,
    state: problem?.state ?? "ready",
    since: now,
    ...(problem ? { code: problem.code, reason: problem.reason } : {}),
    instance: 1,
    diagnostics: [],
  };
}
