import { isRetryLater } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { formatIssues } from "../../sdk/json-schema.ts";
import { withLimit } from "../../sdk/time.ts";
import type { PluginDefinition, PluginLife } from "../../sdk/types/context.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import { deepFreeze } from "../config/deep-freeze.ts";
import { validateOwnConfig } from "../config/own-config.ts";
import { kernelErrors } from "../errors.ts";
import { running } from "../hooks/running.ts";
import { importCode, isolateCode, type LoadedCode } from "./code.ts";
import { removeGeneration } from "./code-tree.ts";
import type { PluginEntry } from "./entry-change.ts";
import { faultText } from "./fault-text.ts";
import { PluginFault } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import type { Instance } from "./instance.ts";

/** A plugin instance that was set up. */
export interface RunningInstance {
  readonly instance: Instance;
  readonly lifecycle: PluginLife | undefined;
  readonly code: LoadedCode;
  /** Entry of `plugins.entries` that it was created with. */
  entry: PluginEntry;
}

/** Limits a wait for the calls of an instance: by time, and by a signal that nobody may wait any more. */
export interface Drain {
  readonly limitMs: number;
  readonly cut: AbortSignal;
}

const LIMITS_MS = { import: 30_000, setup: 30_000, start: 30_000, config: 30_000, stop: 5_000 } as const;
type Phase = keyof typeof LIMITS_MS;

/** Steps that every instance of one plugin goes through. Each runs under the plugin's name and within its limit; none touches the plugin's state. */
export class InstanceSteps {
  readonly #plugin: { readonly id: string; readonly candidate: PluginCandidate };
  readonly #host: LoaderHost;

  constructor(plugin: { readonly id: string; readonly candidate: PluginCandidate }, host: LoaderHost) {
    this.#plugin = plugin;
    this.#host = host;
  }

  /** Present entry of the plugin in `plugins.entries`. */
  entry(): PluginEntry {
    return this.#host.config().plugins.entries[this.#plugin.id] ?? {};
  }

  /**
   * Imports the code, or returns the previous import while its bytes are the same.
   * @param onLate receives code that arrives after the limit
   * @throws {PluginFault}
   */
  async obtainCode(previous: LoadedCode | undefined, onLate: (code: LoadedCode) => void): Promise<LoadedCode> {
    const { stateDir, code } = this.#host;
    const { isolation, grants, env } = this.entry();
    let work: Promise<LoadedCode> | undefined;
    try {
      return await this.#step("import", () => {
        work = isolation
          ? isolateCode(this.#plugin.candidate, { mode: isolation, grants, env, stateDir })
          : importCode(this.#plugin.candidate, { ...code, stateDir, previous: previous?.print ? previous : undefined });
        return work;
      });
    } catch (error) {
      void work?.then(onLate).catch(() => undefined);
      throw error;
    }
  }

  /** Validates the present config by the manifest's schema and then by the plugin's own. @throws {PluginFault} `config-invalid` */
  parseConfig({ definition }: LoadedCode, entry = this.entry()): Promise<unknown> {
    return parseConfig(this.#plugin.candidate, definition, entry.config ?? {});
  }

  /** Runs `setup`; what it registers waits for `open`. @throws {PluginFault} `setup-failed`, `setup-timeout`; a `RetryLater` as it is */
  async setUp(instance: Instance, { definition }: LoadedCode): Promise<PluginLife | undefined> {
    const { signal } = instance.ctx;
    const setup = this.#step("setup", () => instance.leases.run(async () => definition.setup(instance.ctx)), signal);
    const lifecycle = await setup.catch((error: unknown) => {
      throw signal.aborted && (error as { cause?: unknown }).cause === signal.reason ? endedInSetup() : error;
    });
    if (signal.aborted) throw endedInSetup();
    return lifecycle ?? undefined;
  }

  /** @throws {PluginFault} `start-failed`, `start-timeout`; a `RetryLater` as it is */
  async start({ instance, lifecycle }: RunningInstance): Promise<void> {
    await this.#step("start", () => instance.leases.run(async () => lifecycle?.start?.()));
  }

  /** Offers the present config to a running instance; true when it took it. @throws {PluginFault} */
  async offerConfig(current: RunningInstance): Promise<boolean> {
    const { instance, lifecycle, code } = current;
    if (!lifecycle?.onConfigChange) return false;
    const next = await this.parseConfig(code);
    const offer = async () => lifecycle.onConfigChange?.(next, instance.identity.config);
    if ((await this.#step("config", () => instance.leases.run(offer))) !== true) return false;
    instance.identity.config = next;
    current.entry = this.entry();
    return true;
  }

  /** Waits for calls in progress, then stops and undoes everything; never rejects. Resolves to what could not be undone. */
  async stop({ instance, lifecycle }: Pick<RunningInstance, "instance" | "lifecycle">, drain?: Drain): Promise<string[]> {
    const warn = (message: string) => this.#host.logger.warn(`plugin "${this.#plugin.id}" ${message}`, {});
    const stopNow = () => warn("still has calls in progress; it is stopped now");
    if (drain) await withLimit(untilIdle(instance, drain.cut), drain.limitMs, stopNow);
    instance.abort();
    await this.#step("stop", async () => lifecycle?.stop?.()).catch((error: unknown) => warn(`did not stop cleanly: ${messageOf(error)}`));
    return instance.dispose();
  }

  /** @param signal ends the wait, though not the work: nobody waits for an instance that was ended */
  async #step<T>(phase: Phase, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { id, candidate } = this.#plugin;
    const limitMs = this.#limitOf(phase);
    try {
      const late = () => {
        const { message } = kernelErrors.pluginTimeout({ plugin: id, phase, seconds: limitMs / 1000 });
        throw new PluginFault(`${phase}-timeout`, message);
      };
      return await withLimit(running.run({ plugin: id, what: phase }, run), limitMs, late, signal);
    } catch (error) {
      if (error instanceof PluginFault || isRetryLater(error)) throw error;
      throw new PluginFault(`${phase}-failed`, faultText(error, candidate.root), error);
    }
  }

  #limitOf(phase: Phase): number {
    const { limits } = this.entry();
    const own = phase === "stop" ? limits?.stopTimeoutMs : phase === "start" ? limits?.startTimeoutMs : limits?.setupTimeoutMs;
    return own ?? LIMITS_MS[phase];
  }
}

function endedInSetup(): PluginFault {
  return new PluginFault("setup-failed", "it was ended during its setup");
}

/** Removes the copy that no instance was or will be made from any more. @param kept code that the next instance may be made from */
export async function dropUnused(code: LoadedCode | undefined, kept: LoadedCode | undefined): Promise<void> {
  if (code?.folder && code.users === 0 && kept !== code) await removeGeneration(code.folder);
}

async function parseConfig(
  { id, manifest }: PluginCandidate,
  definition: PluginDefinition,
  given: Record<string, unknown>,
): Promise<unknown> {
  const invalid = (reason: string) => new PluginFault("config-invalid", `plugins.entries.${id}.config: ${reason}`);
  const declared = manifest?.configSchema && (await validateOwnConfig(manifest.configSchema, given));
  if (declared?.issues) throw invalid(formatIssues(declared.issues));
  const own = await definition.config?.["~standard"].validate(given);
  if (own?.issues) throw invalid(formatIssues(own.issues));
  const result = own ?? declared;
  if (!result && Object.keys(given).length > 0) throw invalid("it takes no config");
  return deepFreeze(result ? result.value : given);
}

/** Until no call is in progress, or nobody may wait any more. */
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
