import { createHash } from "node:crypto";
import { basename, delimiter, dirname } from "node:path";
import type { ConfigIssue } from "../../sdk/config/config-issue.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Env } from "../../sdk/types/common.ts";
import { envValue } from "../process/paths.ts";
import { isActiveSecret, secretOwner } from "../secrets/owner.ts";
import { asSecretRef, malformedRefs } from "../secrets/ref.ts";
import { resolveSecrets } from "../secrets/resolve.ts";
import { startOwners } from "../secrets/start.ts";
import type { ResolvedRef, SecretFault } from "../secrets/state.ts";
import { clampWarnings } from "./clamp-warnings.ts";
import { crossFieldIssues, crossFieldIssuesBeside } from "./cross-field.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { type ConfigEnvironment, configEnvironment } from "./environment.ts";
import { configFileName, readSourceTree, type SourceTree } from "./includes.ts";
import { inFileOrder, toConfigIssues } from "./issues.ts";
import { riskWarnings } from "./known-ids.ts";
import type { LoadedConfig } from "./loaded.ts";
import { locator } from "./locate.ts";
import { memoryWarnings } from "./memory-warnings.ts";
import { originAt } from "./origin.ts";
import type { Locate } from "./place.ts";
import { rootSchema } from "./root-schema.ts";
import { sensitiveTexts } from "./sensitive-texts.ts";
import { substitute } from "./substitute.ts";
import { isUnservedKey, unservedIssues, withoutUnserved } from "./unserved.ts";

/** Options for reading a config. */
export interface LoadOptions {
  env: Env;
  /** Snapshot in force: its secrets stay where asking fails, its answers of the login shell are used again. */
  previous?: LoadedConfig | undefined;
  /** Contents that stand in for files, by absolute path: a candidate that is not on disk yet. */
  overlay?: ReadonlyMap<string, string> | undefined;
  /**
   * Which SecretRefs are resolved: `all` (default); `start`, those that decide whether a gateway may start; `none`, so that nothing is run
   * or opened for a command that only looks at the config. Those that are not resolved have no value.
   */
  secrets?: "all" | "start" | "none";
  /** False: programs are not run; the refs that need one have no value and count neither as resolved nor as failed. */
  exec?: boolean;
  signal?: AbortSignal | undefined;
}

/** Config as read, before anything is resolved. */
type Read = Pick<
  LoadedConfig,
  "path" | "exists" | "files" | "watched" | "text" | "authored" | "source" | "hash" | "issues" | "originOf" | "locate"
>;

/** Reads a config file, all it includes, its variables and its secrets. A missing file equals `{}`. Never throws for what is in the files. */
export async function loadConfig(path: string, options: LoadOptions): Promise<LoadedConfig> {
  const roots = (envValue(options.env, "SVC_INCLUDE_ROOTS") ?? "").split(delimiter).filter((root) => root !== "");
  const tree = await readSourceTree(path, { roots, overlay: options.overlay });
  const shellEnv = options.secrets === "none" ? false : options.previous?.shellEnv;
  const environment = await configEnvironment(tree.source, { env: options.env, shellEnv });
  return activate(asRead(path, tree), environment, options);
}

/**
 * The same files, not read again, with their secrets asked for: a start asks in steps, and `secrets.reload` asks for all anew.
 * @param options.fresh what this config has resolved already is taken as it is
 */
export async function loadSecrets(
  loaded: LoadedConfig,
  options: Omit<LoadOptions, "overlay"> & { fresh?: boolean },
): Promise<LoadedConfig> {
  const { fresh, ...rest } = options;
  const shellEnv = options.previous?.shellEnv ?? loaded.shellEnv;
  const environment = await configEnvironment(loaded.source, { env: options.env, shellEnv });
  return activate(loaded, environment, { ...rest, fresh: fresh ? loaded.refs : undefined });
}

function asRead(path: string, tree: SourceTree): Read {
  const hash = createHash("sha256");
  for (const bytes of tree.bytes) hash.update(bytes);
  const { exists, files, watched, authored, source, origin, issues } = tree;
  const locators = new Map<string, Locate>();
  const locatorOf = (file: string) => {
    const known = locators.get(file) ?? locator(files.find((f) => f.path === file)?.text ?? "");
    locators.set(file, known);
    return known;
  };
  return {
    path,
    exists,
    files,
    watched,
    text: files[0]?.path === path ? files[0].text : "",
    authored,
    source,
    hash: hash.digest("hex"),
    issues,
    originOf: (at) => originAt(origin, at),
    locate(at, part) {
      const { file, path: inside } = originAt(origin, at);
      return { file: configFileName(path, file), ...locatorOf(file)(inside, part) };
    },
  };
}

type Activation = LoadOptions & { fresh?: ReadonlyMap<string, ResolvedRef> | undefined };

async function activate(read: Read, environment: ConfigEnvironment, options: Activation): Promise<LoadedConfig> {
  const { env, shellEnv } = environment;
  const { value, missing } = substitute(read.source, env);
  const { tree: substituted, found } = withoutUnserved(value);
  // A variable of a key that is not served needs no value.
  const needed = missing.filter(({ path }) => !isUnservedKey(path));
  const unresolved = needed.map(({ path, names }) => ({
    path: path.join("."),
    reason: names.map((name) => lacking(name, env)).join(", "),
  }));
  const outcome = await resolveTree(read, { substituted, unresolved, env, options });
  const { issues, resolved, config, refs, state } = outcome;
  const faults = [...state.unavailable, ...state.stale];
  const { path, exists, files, watched, text, authored, source, hash, originOf, locate } = read;
  return {
    path,
    exists,
    files,
    watched,
    text,
    authored,
    source,
    hash,
    originOf,
    locate,
    valid: issues.length === 0,
    issues,
    unserved: unservedIssues(found, basename(path), read.locate),
    resolved,
    ...(config ? { config: deepFreeze(config) } : {}),
    warnings: [
      ...environment.warnings,
      ...unresolved.map(({ path, reason }) => ({ path, message: `${reason}; the key is left out` })),
      ...state.unavailable.map(({ path, reason }) => ({ path, message: `secret not available: ${reason}` })),
      ...state.stale.map(({ path, reason }) => ({ path, message: `secret kept its previous value: ${reason}` })),
      ...(config ? [...clampWarnings(resolved, config), ...memoryWarnings(config), ...riskWarnings(config)] : []),
    ],
    unresolved: [...unresolved, ...faults.filter((fault) => !refs.get(fault.path)?.value).map(({ path, reason }) => ({ path, reason }))],
    secrets: secretValues(resolved, refs),
    secretState:
      options.secrets === "none" ? state : { ...state, unavailable: [...state.unavailable, ...variableFaults(source, unresolved)] },
    refs,
    env,
    ...(shellEnv ? { shellEnv } : {}),
  };
}

interface Question {
  substituted: unknown;
  unresolved: ReadonlyArray<{ path: string; reason: string }>;
  env: Env;
  options: Activation;
}

interface Outcome extends Awaited<ReturnType<typeof resolveSecrets>> {
  issues: ConfigIssue[];
  resolved: unknown;
  config?: SvcConfig;
}

const noSecrets = () => ({ refs: new Map<string, ResolvedRef>(), state: { resolved: 0, stale: [], unavailable: [], changedOwners: [] } });

async function resolveTree(read: Read, { substituted, unresolved, env, options }: Question): Promise<Outcome> {
  if (read.issues.length > 0) return { issues: read.issues, resolved: undefined, ...noSecrets() };
  const file = basename(read.path);
  const judge = (value: unknown) => {
    // A config is parsed a few times in a life: compiling the schema first costs three times the parse.
    const parsed = rootSchema.safeParse(value, { jitless: true });
    if (parsed.success) return { config: parsed.data, issues: [] };
    const issues = toConfigIssues(parsed.error, { file, value, schema: rootSchema, locate: read.locate });
    return { issues: issues.map((issue) => blameVariable(issue, unresolved)) };
  };
  // First with the refs in place: nothing is asked for on behalf of a config that is wrong anyway.
  const authored = judge(substituted);
  const malformed = malformedRefs(substituted).filter(({ path }) => !authored.issues.some((issue) => issue.path === path.join(".")));
  const beside = authored.config ? [] : crossFieldIssuesBeside(substituted, file, read.locate, { env });
  const refs = malformed.map(({ path, message }) => refIssue(path, message, read));
  const issues = inFileOrder([...authored.issues, ...refs, ...beside], file);
  if (!authored.config || issues.length > 0) return { issues, resolved: withResolvedRefs(substituted, new Map()), ...noSecrets() };
  const asked = await ask(authored.config, { substituted, env, options, configDir: dirname(read.path) });
  const resolved = withResolvedRefs(substituted, asked.refs);
  const { config, issues: late } = judge(resolved);
  if (!config) return { issues: late, resolved, ...asked };
  const absent = new Set([...unresolved, ...asked.state.unavailable].map(({ path }) => path));
  // A rule about a key whose value could not be had is not the author's mistake: whoever needs the value says what is missing.
  const rules = crossFieldIssues(authored.config, file, read.locate, { env, resolved: config });
  const conflicts = rules.filter(({ path }) => !absent.has(path));
  return { issues: conflicts, resolved, ...(conflicts.length === 0 ? { config } : {}), ...asked };
}

async function ask(config: SvcConfig, q: { substituted: unknown; env: Env; options: Activation; configDir: string }) {
  if (q.options.secrets === "none") return noSecrets();
  return resolveSecrets({
    tree: q.substituted,
    secrets: config.secrets,
    env: q.env,
    configDir: q.configDir,
    previous: q.options.previous?.refs,
    owners: q.options.secrets === "start" ? startOwners : undefined,
    fresh: q.options.fresh,
    exec: q.options.exec,
    signal: q.options.signal,
  });
}

function lacking(name: string, env: Env): string {
  return `variable ${name} is ${env[name] === undefined ? "not set" : "empty"}`;
}

/** A key that is missing because its variable is: says so. */
function blameVariable(issue: ConfigIssue, unresolved: Question["unresolved"]): ConfigIssue {
  const cause = unresolved.find(({ path }) => path === issue.path);
  return cause ? { ...issue, message: `${cause.reason}, and this key is required` } : issue;
}

function refIssue(path: Array<string | number>, message: string, read: Read): ConfigIssue {
  return { path: path.join("."), code: "secret_ref", message, file: basename(read.path), ...read.locate(path) };
}

/** A copy with every ref replaced by its value; one without a value is left out. */
function withResolvedRefs(tree: unknown, refs: ReadonlyMap<string, ResolvedRef>): unknown {
  const walk = (value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (asSecretRef(value)) return refs.get(path)?.value;
    const entries = Object.entries(value).map(([key, inner]) => [key, walk(inner, path === "" ? key : `${path}.${key}`)] as const);
    const present = entries.filter(([, inner]) => inner !== undefined);
    return Array.isArray(value) ? present.map(([, inner]) => inner) : Object.fromEntries(present);
  };
  return walk(tree, "");
}

/** Resolved values by path: of refs, and of everything that is redacted when it is shown. */
function secretValues(resolved: unknown, refs: ReadonlyMap<string, ResolvedRef>): Map<string, string> {
  const found = new Map(sensitiveTexts(resolved).map(({ path, text }) => [path.join("."), text]));
  for (const [path, { value }] of refs) if (value !== undefined) found.set(path, value);
  return found;
}

/** Secrets in use that are written with a variable which has no value: whoever needs one is as badly off as with a reference that failed. */
function variableFaults(source: unknown, unresolved: ReadonlyArray<{ path: string; reason: string }>): SecretFault[] {
  if (unresolved.length === 0) return [];
  const reasons = new Map(unresolved.map(({ path, reason }) => [path, reason]));
  return sensitiveTexts(source).flatMap(({ path }) => {
    const reason = reasons.get(path.join("."));
    return reason && isActiveSecret(path, source) ? [{ path: path.join("."), owner: secretOwner(path, source), reason }] : [];
  });
}
