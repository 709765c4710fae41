import { basename } from "node:path";
import { messageOf } from "../../sdk/errors.ts";
import { exceedsJsonShape } from "../../sdk/internal/json-shape.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { Disposable, Logger } from "../../sdk/types/common.ts";
import type { ConfigService, ConfigWriteResult, MemberRemoval } from "../../sdk/types/config.ts";
import type { ConfigChange, ConfigWriteOptions, ConfigWriteOutcome } from "../../sdk/types/config-file.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { type ComposedSchema, composeConfigSchema, warmConfigSchema } from "./compose-schema.ts";
import { configErrors } from "./errors.ts";
import { knownIdsOf, unknownIdWarnings } from "./known-ids.ts";
import { lookupSchema } from "./lookup-schema.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { parseJson5 } from "./parse-json5.ts";
import { redactConfig } from "./redact.ts";
import { redactText } from "./redact-text.ts";
import type { Reloader } from "./reloader.ts";
import { withoutUnserved } from "./unserved.ts";
import { withoutMembers } from "./without-members.ts";
import { type ConfigWriterHost, redactionOf, writeConfig } from "./write.ts";

/** The gateway around its config. */
export interface ConfigServiceDeps {
  host: ConfigWriterHost;
  reloader: Pick<Reloader, "current" | "reload" | "pendingRestart">;
  manifests(): Manifest[];
  emit(event: string, payload: unknown): void;
  /** Keeps a restart waiting. */
  hold(reason: string): Disposable;
  version: string;
  now(): number;
  logger: Logger;
}

interface Write {
  raw: string;
  baseHash?: string | undefined;
  note?: string | undefined;
}

/** The config of a running gateway: what `config.*` and the service `config@1` answer. */
export interface ConfigMethods {
  get(): Promise<Record<string, unknown>>;
  set(params: Write): Promise<ConfigWriteResult>;
  apply(params: Write & { restartDelayMs?: number | undefined }): Promise<ConfigWriteResult>;
  patch(params: Write & { replacePaths?: string[] | undefined }): Promise<ConfigWriteResult>;
  schema(): Promise<Record<string, unknown>>;
  lookup(params: { path: string }): Promise<object>;
  service: ConfigService;
}

/** Makes the config methods of one gateway. Every write goes through `writeConfig`, and every answer is redacted. */
export function createConfigMethods(deps: ConfigServiceDeps): ConfigMethods {
  const write = async (
    change: ConfigChange,
    options: ConfigWriteOptions & { persistOnly?: boolean; what: string; note?: string | undefined },
  ) => {
    const outcome = await writeConfig(deps.host, change, {
      requireHash: true,
      onWarning: (message) => deps.logger.warn(`${options.what}: ${message}`),
      ...options,
    });
    if (!outcome.changed) return result(deps, outcome, { action: "none", noop: true });
    deps.logger.info(`${options.what}: wrote ${basename(outcome.file)}`, {
      paths: outcome.changedPaths,
      ...(options.note ? { note: options.note } : {}),
    });
    deps.emit("config.changed", { path: outcome.file, hash: outcome.after.hash, ts: deps.now() });
    if (options.persistOnly) return result(deps, outcome, { action: "persisted" });
    return result(deps, outcome, await applied(deps, outcome));
  };
  const patch = (
    value: unknown,
    options: ConfigWriteOptions & {
      replacePaths?: string[] | undefined;
      remove?: readonly MemberRemoval[] | undefined;
      what: string;
      note?: string | undefined;
    },
  ) => {
    if (!isRecord(value)) throw configErrors.configRejected({ problem: "a merge patch is an object", issues: [] });
    const { replacePaths = [], remove = [] } = options;
    // Naming a list says that members may go, so the file may shrink; it does not say that the gateway may lose its mode.
    const allowDestructive = replacePaths.length + remove.length > 0 ? ("shrink" as const) : undefined;
    const apply = (source: unknown) => withoutMembers(applyMergePatch(source, value, replacePaths), remove);
    return write({ kind: "edit", apply }, { ...options, allowDestructive });
  };
  const composed = composedSchemas();
  return {
    get: () => snapshot(deps),
    set: ({ raw, baseHash }) => write({ kind: "replace", raw }, { baseHash, persistOnly: true, what: "config.set" }),
    async apply({ raw, baseHash, note, restartDelayMs = 0 }) {
      const hold = restartDelayMs > 0 ? deps.hold("config.apply: restart delayed by the caller") : undefined;
      if (hold) setTimeout(() => hold.dispose(), restartDelayMs).unref();
      return write({ kind: "replace", raw }, { baseHash, note, what: "config.apply" });
    },
    patch: async ({ raw, baseHash, note, replacePaths }) => patch(parsePatch(raw), { baseHash, note, replacePaths, what: "config.patch" }),
    async schema() {
      await warmConfigSchema();
      return { ...composed(deps.manifests()), version: deps.version, generatedAt: new Date(deps.now()).toISOString() };
    },
    async lookup({ path }) {
      await warmConfigSchema();
      const manifests = deps.manifests();
      const found = lookupSchema(composed(manifests), path, manifests);
      if (!found) throw configErrors.configPathUnknown({ path });
      return found;
    },
    service: {
      patch: async (value, { note, baseHash, replacePaths, remove }) =>
        patch(value, { baseHash, note, replacePaths, remove, requireHash: false, what: "config@1" }),
    },
  };
}

/** The schema for a set of manifests, made once for as long as they are the same: it takes many milliseconds, and any reader may ask for it. */
function composedSchemas(): typeof composeConfigSchema {
  let made: { of: readonly Manifest[]; value: ComposedSchema } | undefined;
  return (manifests) => {
    const isSame = made?.of.length === manifests.length && manifests.every((manifest, i) => manifest === made?.of[i]);
    if (!made || !isSame) made = { of: [...manifests], value: composeConfigSchema(manifests) };
    return made.value;
  };
}

function parsePatch(raw: string): unknown {
  let value: unknown;
  try {
    value = parseJson5(raw);
  } catch (error) {
    const { lineNumber, columnNumber } = error as { lineNumber?: number; columnNumber?: number };
    throw configErrors.configParse({ file: "raw", line: lineNumber ?? 1, column: columnNumber ?? 1, reason: messageOf(error) });
  }
  if (exceedsJsonShape(value, Number.POSITIVE_INFINITY)) {
    throw configErrors.configParse({ file: "raw", line: 1, column: 1, reason: "nested deeper than 64 levels" });
  }
  return value;
}

async function snapshot({ host, reloader, manifests }: ConfigServiceDeps): Promise<Record<string, unknown>> {
  const loaded = await host.load();
  const active = reloader.current();
  // References are not asked for on behalf of a reader: their values are those of the snapshot in force.
  const effective = loaded.valid && active.hash === loaded.hash ? active : loaded;
  const redaction = { ...redactionOf(host, loaded), paths: [...loaded.secrets.keys(), ...active.secrets.keys()] };
  return {
    path: loaded.path,
    exists: loaded.exists,
    raw: redactText(loaded.text, loaded.authored, redaction),
    parsed: redactConfig(loaded.source, redaction),
    config: redactConfig(withoutUnserved(effective.config).tree, redaction),
    valid: loaded.valid,
    hash: loaded.hash,
    issues: loaded.issues.map(({ path, message }) => ({ path, message })),
    warnings: [
      ...loaded.unserved.map(({ path, message }) => ({ path, message })),
      ...loaded.warnings,
      ...(loaded.config ? unknownIdWarnings(loaded.config, knownIdsOf(manifests())) : []),
    ],
    pendingRestart: reloader.pendingRestart(),
  };
}

type Applied = Pick<ConfigWriteResult, "action"> & {
  noop?: true;
  issues?: Array<{ path: string; message: string }>;
  changedPaths?: string[];
};

async function applied({ reloader }: ConfigServiceDeps, outcome: ConfigWriteOutcome): Promise<Applied> {
  const { status, action, issues, changedPaths } = await reloader.reload("rpc");
  if (status === "invalid" || status === "rejected") return { action: "persisted", issues };
  // The watcher was faster: what it did is what this write asked for.
  if (status === "unchanged") {
    const waits = outcome.changedPaths.some((path) => reloader.pendingRestart().includes(path));
    return { action: waits ? "restart" : outcome.changedPaths.length > 0 ? "hot" : "none" };
  }
  // An older change that still waits says nothing about this one.
  const waits = outcome.changedPaths.some((path) => reloader.pendingRestart().includes(path));
  return { action: status === "restart" || waits ? "restart" : action, changedPaths };
}

function result(deps: ConfigServiceDeps, { file, after, changedPaths }: ConfigWriteOutcome, done: Applied): ConfigWriteResult {
  const active = deps.reloader.current();
  // A candidate is read without asking for its references; once it is in force their values are those of the snapshot.
  const effective = active.hash === after.hash ? active : after;
  return {
    ok: true,
    path: file,
    hash: after.hash,
    config: redactConfig(withoutUnserved(effective.config).tree, redactionOf(deps.host, effective)),
    changedPaths,
    pendingRestart: deps.reloader.pendingRestart(),
    ...done,
  };
}
