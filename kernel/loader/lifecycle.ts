import { join, relative } from "node:path";
import { isRetryLater } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { formatIssues, toSchema } from "../../sdk/json-schema.ts";
import { loaderErrors } from "../../sdk/loader/errors.ts";
import { withLimit } from "../../sdk/time.ts";
import type { PluginDefinition, PluginLife } from "../../sdk/types/context.ts";
import type { PluginCandidate as Candidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord } from "../../sdk/types/plugin-record.ts";
import { deepFreeze } from "../config/deep-freeze.ts";
import { running } from "../hooks/running.ts";
import { isolatePlugin } from "../sandbox/isolated-plugin.ts";
import { isolationProblem } from "../sandbox/isolation-support.ts";
import { copyInstalled, importCode, type LoadedCode, requireIntegrity } from "./code.ts";
import { removeGeneration } from "./code-tree.ts";
import type { PluginEntry } from "./entry-change.ts";
import { faultText } from "./fault-text.ts";
import { PluginFault } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import type { Instance } from "./instance.ts";

/** One plugin of a gateway: what was found, what is shown, what runs. */
export interface ManagedPlugin {
  readonly id: string;
  candidate: Candidate;
  readonly record: PluginRecord;
  /** Load order. */
  order: number;
  /** Numbers instances; never goes back. */
  count: number;
  code?: LoadedCode | undefined;
  current?: Running | undefined;
  /** Its `setup` is under way. */
  pending?: Instance | undefined;
  retry?: { attempt: number; timer: NodeJS.Timeout } | undefined;
  /** Steps on one plugin happen one after the other. */
  tail: Promise<unknown>;
}

/** A plugin instance that was set up. */
export interface Running {
  readonly instance: Instance;
  readonly lifecycle: PluginLife | undefined;
  readonly code: LoadedCode;
  /** Entry of `plugins.entries` that its instance was created with. */
  entry: PluginEntry;
}

const LIMITS_MS = { import: 30_000, setup: 30_000, start: 30_000, config: 30_000, stop: 5_000 } as const;
type Phase = keyof typeof LIMITS_MS;

/** The steps every instance goes through. Each runs under its owner's name and within its limit; none touches the states. */
export interface Lifecycle {
  /** @throws {PluginFault} */
  obtain(managed: ManagedPlugin): Promise<LoadedCode>;
  /** Config, context and `setup`; what it registers waits for `open`. `entry` defaults to the present config. @throws {PluginFault} */
  setUp(managed: ManagedPlugin, code: LoadedCode, entry?: PluginEntry): Promise<Running>;
  /** The plugin's config as its schemas see it. @throws {PluginFault} `config-invalid` */
  parseConfig(managed: ManagedPlugin, code: LoadedCode): Promise<unknown>;
  /** Offers the present config to a running instance; true when it took it. @throws {PluginFault} */
  offerConfig(managed: ManagedPlugin, instance: Running): Promise<boolean>;
  /** @throws {PluginFault} `start-failed`, `start-timeout`; a `RetryLater` as it is */
  start(managed: ManagedPlugin, instance: Running): Promise<void>;
  /** Waits for calls under way, then stops and undoes everything; never rejects. The instance was closed. */
  end(managed: ManagedPlugin, instance: Running, drain?: { limitMs: number; cut: AbortSignal }): Promise<void>;
}

/**
 * @param onDiagnostic told of registrations refused while an instance runs
 * @param stopping nothing is set up any more
 */
export function createLifecycle(host: LoaderHost, onDiagnostic: (managed: ManagedPlugin) => void, stopping: AbortSignal): Lifecycle {
  const entryOf = ({ id }: ManagedPlugin): PluginEntry => host.config().plugins.entries[id] ?? {};
  const limitOf = (managed: ManagedPlugin, phase: Phase) => {
    const { limits } = entryOf(managed);
    const own = phase === "stop" ? limits?.stopTimeoutMs : phase === "start" ? limits?.startTimeoutMs : limits?.setupTimeoutMs;
    return own ?? LIMITS_MS[phase];
  };
  const step = <T>(managed: ManagedPlugin, phase: Phase, run: () => Promise<T>) =>
    runStep({ plugin: managed.id, root: managed.candidate.root, phase, limitMs: limitOf(managed, phase) }, run);

  return {
    obtain(managed) {
      const entry = entryOf(managed);
      const { isolation } = entry;
      const previous = managed.code?.print ? managed.code : undefined;
      const obtained = isolation
        ? (): Promise<LoadedCode> => isolated(managed, { ...entry, isolation }, host.stateDir)
        : () => importCode(managed.candidate, { ...host.code, stateDir: host.stateDir, previous });
      let work: Promise<LoadedCode> | undefined;
      return step(managed, "import", () => {
        work = obtained();
        return work;
      }).catch((error: unknown) => {
        // One that came too late is nobody's.
        void work?.then((code) => (code === managed.code ? undefined : dropUnused(managed, code))).catch(() => undefined);
        throw error;
      });
    },
    parseConfig: (managed, { definition }) => parseConfig(managed.candidate, definition, entryOf(managed).config ?? {}),
    async setUp(managed, code, entry = entryOf(managed)) {
      const { id, manifest, root, origin } = managed.candidate;
      const { definition } = code;
      const config = await parseConfig(managed.candidate, definition, entry.config ?? {});
      if (stopping.aborted) throw new PluginFault("dependency-failed", "the gateway is stopping");
      managed.count += 1;
      const env = entry.env ?? {};
      const identity = {
        ...{ id, version: definition.version, instance: managed.count, origin, root: code.folder ?? root },
        ...{ order: managed.order, manifest, config, env },
      };
      const instance = host.createInstance(identity, () => onDiagnostic(managed));
      code.users += 1;
      const made = (lifecycle: PluginLife | undefined): Running => ({ instance, lifecycle, code, entry });
      try {
        managed.pending = instance;
        const lifecycle = await step(managed, "setup", () => instance.leases.run(async () => definition.setup(instance.ctx)));
        if (instance.ctx.signal.aborted) throw new PluginFault("setup-failed", "it was ended during its setup");
        instance.diagnostics.push(...code.refused.splice(0));
        return made(lifecycle ?? undefined);
      } catch (error) {
        await this.end(managed, made(undefined));
        throw error;
      } finally {
        managed.pending = undefined;
      }
    },
    async offerConfig(managed, current) {
      const { instance, lifecycle, code } = current;
      if (!lifecycle?.onConfigChange) return false;
      const next = await parseConfig(managed.candidate, code.definition, entryOf(managed).config ?? {});
      const offer = async () => lifecycle.onConfigChange?.(next, instance.identity.config);
      if ((await step(managed, "config", () => instance.leases.run(offer))) !== true) return false;
      instance.identity.config = next;
      current.entry = entryOf(managed);
      return true;
    },
    async start(managed, { instance, lifecycle }) {
      await step(managed, "start", () => instance.leases.run(async () => lifecycle?.start?.()));
    },
    async end(managed, { instance, lifecycle, code }, drain) {
      const warn = (message: string, code?: string) => host.logger.warn(`plugin "${managed.id}" ${message}`, code ? { code } : {});
      const stopNow = () => warn("still has calls in progress; it is stopped now");
      if (drain) await withLimit(untilIdle(instance, drain.cut), drain.limitMs, stopNow);
      instance.abort();
      await step(managed, "stop", async () => lifecycle?.stop?.()).catch((error: unknown) =>
        warn(`did not stop cleanly: ${messageOf(error)}`),
      );
      const left = await instance.dispose();
      if (left.length > 0) {
        warn(`left behind: ${left.join(", ")}`, "leak");
        managed.record.diagnostics.push({ code: "leak", message: `a stopped instance left behind: ${left.join(", ")}` });
      }
      void instance.leases.idle().then(() => {
        code.users -= 1;
        return dropUnused(managed, code);
      });
    },
  };
}

/** Removes the copy that nothing was or will be made from any more. */
export async function dropUnused(managed: ManagedPlugin, code: LoadedCode | undefined): Promise<void> {
  if (code?.folder && code.users === 0 && managed.code !== code) await removeGeneration(code.folder);
}

type Isolated = PluginEntry & { isolation: "worker" | "process" };

/** The code runs in a guest of its own; what it cannot do from there is told as diagnostics. */
async function isolated(
  { candidate }: ManagedPlugin,
  { isolation: mode, grants = [], env = {} }: Isolated,
  stateDir: string,
): Promise<LoadedCode> {
  const { id, version, manifest, origin } = candidate;
  const problem = manifest && isolationProblem(manifest, mode);
  if (problem) throw new PluginFault("config-invalid", `plugins.entries.${id}.isolation: ${problem}`);
  const copy = origin === "global" ? await copyInstalled(candidate, stateDir) : undefined;
  const { folder: root = candidate.root, integrity } = copy ?? {};
  const refused: LoadedCode["refused"] = [];
  const definition = isolatePlugin({
    ...{ id, version, root, mode, env },
    api: manifest?.svc.api ?? "*",
    entry: join(root, relative(candidate.root, candidate.entry as string)),
    // A guest reads its files again each time it starts.
    ...(integrity === undefined ? {} : { check: () => requireIntegrity(root, integrity) }),
    net: (origin === "bundled" || grants.includes("net")) && (manifest?.permissions?.includes("net") ?? false),
    refuse: ({ code, message }) => void refused.push({ code, message }),
  });
  return { definition, root: candidate.root, print: undefined, users: 0, refused, ...(copy ? { folder: copy.folder } : {}) };
}

async function runStep<T>(
  { plugin, root, phase, limitMs }: { plugin: string; root: string; phase: Phase; limitMs: number },
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await withLimit(running.run({ plugin, what: phase }, run), limitMs, () => {
      const { message } = loaderErrors.pluginTimeout({ plugin, phase, seconds: limitMs / 1000 });
      throw new PluginFault(`${phase}-timeout`, message);
    });
  } catch (error) {
    if (error instanceof PluginFault || isRetryLater(error)) throw error;
    throw new PluginFault(`${phase}-failed`, faultText(error, root), error);
  }
}

/** Validates `plugins.entries.<id>.config` by the manifest's schema and then by the plugin's own. */
async function parseConfig({ id, manifest }: Candidate, definition: PluginDefinition, given: Record<string, unknown>): Promise<unknown> {
  for (const schema of [manifest?.configSchema && toSchema(manifest.configSchema), definition.config]) {
    if (!schema) continue;
    const result = await schema["~standard"].validate(given);
    if (result.issues) throw new PluginFault("config-invalid", `plugins.entries.${id}.config: ${formatIssues(result.issues)}`);
    if (schema === definition.config) return deepFreeze(result.value);
  }
  if (Object.keys(given).length > 0 && !manifest?.configSchema)
    throw new PluginFault("config-invalid", `plugins.entries.${id}.config: it takes no config`);
  return deepFreeze(given);
}

/** Until no call is under way, or nobody may wait any more. */
function untilIdle({ leases }: Instance, cut: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cut.removeEventListener("abort", done);
      resolve();
    };
    cut.addEventListener("abort", done);
    void leases.idle().then(done);
    if (cut.aborted) done();
  });
}
