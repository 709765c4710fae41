import { commonErrors, isSvcError, messageOf, type SvcError } from "../../../sdk/errors.ts";
import { sharedErrors } from "../../../sdk/internal/errors.ts";
import { hasScope } from "../../../sdk/internal/scopes.ts";
import { formatIssues } from "../../../sdk/json-schema.ts";
import { limits, type WireError } from "../../../sdk/protocol/frames.ts";
import { type CoreMethod, type MethodSpec, protocolMethods } from "../../../sdk/protocol/methods.ts";
import type { Disposable, LogFields, Logger } from "../../../sdk/types/common.ts";
import type { ClientInfo, RpcCall, RpcMethod } from "../../../sdk/types/rpc.ts";
import { toOperatorScope } from "../../auth/requested-scopes.ts";
import { kernelErrors, protocolErrors } from "../../errors.ts";
import type { HookBus } from "../../hooks/bus.ts";
import { runAs } from "../../hooks/running.ts";
import type { Activation } from "../../loader/activation.ts";
import type { DownPlugin } from "../../loader/plugins-down.ts";
import { createAdmission } from "../../process/admission.ts";
import { createPace } from "../pace.ts";
import type { PortTelemetry } from "../telemetry.ts";
import { createWriteBudget } from "../write-budget.ts";

interface Registered {
  method: RpcMethod;
  owner: string;
  /** Keeps the owner's instance until a call has ended. */
  hold?: () => Disposable;
}

export interface MethodRegistry {
  /** @throws {SvcError} `reserved-name`, `contribution-conflict` */
  add(method: RpcMethod, owner: string, hold?: () => Disposable): Disposable;
  /** Names for `features.methods`, in order of registration. */
  names(): string[];
  has(name: string): boolean;
  /** Plugin that serves a method, or `kernel`. */
  ownerOf(name: string): string | undefined;
  /** Runs a method for a client. Rejects with `SvcError` for every refusal. */
  call(name: string, params: unknown, call: RpcCall): Promise<unknown>;
  /** Logs that a method returned what has no JSON form, and gives the error for its caller. */
  unsendable(name: string, cause: unknown): SvcError;
  /**
   * Takes a place among the running handlers; resolves when there is one, and time to begin. Methods that only wait need none: few clients could take all
   * places with them. The signal ends the wait for a place.
   * @throws {SvcError} `busy`
   */
  admit(name: string, signal?: AbortSignal): Promise<Disposable>;
}

/** Answered by the kernel, or by the one bundled plugin in whose table they stand; `exec.` belongs to rows of the protocol that any plugin may answer. */
const kernelPrefixes = ["config.", "secrets.", "update.", "plugins.", "device.", "gateway."];
const reservedPrefixes = [...kernelPrefixes, "exec."];
const nameGrammar = /^[a-z][\w-]*(\.[a-z][\w-]*)*$/;

/** Row of a method in the table of a plugin. */
export interface PluginRow extends Pick<MethodSpec, "scope" | "waits"> {
  /** Id of the plugin. */
  plugin: string;
  /** It comes with svc: its methods belong to the protocol, and another plugin may serve them in its place. */
  isBundled: boolean;
}

export interface MethodDeps {
  hooks: HookBus;
  logger: Logger;
  telemetry?: PortTelemetry;
  activation?: Activation;
  /** The plugin that declares this method and is not running, if there is one. */
  down?(name: string): DownPlugin | undefined;
  /** Row of a method that a plugin's own table lists, whether the plugin runs or not. */
  row?(name: string): PluginRow | undefined;
  /** Aborted when a stop begins: from then on a method that is not there has gone already. */
  leaving?: AbortSignal;
}

export function createMethodRegistry(deps: MethodDeps): MethodRegistry {
  const methods = new Map<string, Registered>();
  /** Every hello names them all. */
  let listed: string[] | undefined;
  const budget = createWriteBudget(() => performance.now());
  const admission = createAdmission({ maxActive: limits.maxInFlight, maxWaiting: limits.maxQueued });
  const pace = createPace(() => performance.now());

  const checkAndRun = async (entry: Registered, params: unknown, call: RpcCall): Promise<unknown> => {
    if (call.client.role !== "operator") throw protocolErrors.unauthorizedRole({ role: call.client.role });
    requireScope(call.client, entry.method.scope);
    budget.take(entry.method.method, call.client);
    const parsed = await entry.method.params["~standard"].validate(params ?? {});
    if (parsed.issues) throw commonErrors.invalidParams({ method: entry.method.method, issues: formatIssues(parsed.issues) });
    if (entry.method.scopeFor) requireScope(call.client, entry.method.scopeFor(parsed.value));
    return run(entry, parsed.value, { call, deps });
  };
  return {
    add(method, owner, hold) {
      checkName(method, owner, deps);
      const taken = methods.get(method.method);
      if (taken) throw kernelErrors.contributionConflict({ point: "rpc", id: method.method, plugin: owner, owner: taken.owner });
      const entry = { method, owner, ...(hold ? { hold } : {}) };
      methods.set(method.method, entry);
      listed = undefined;
      return {
        dispose() {
          if (methods.get(method.method) === entry) methods.delete(method.method);
          listed = undefined;
        },
      };
    },
    names() {
      listed ??= [...methods.values()].filter((m) => !m.method.hidden).map((m) => m.method.method);
      const waiting = deps.activation?.names("rpc") ?? [];
      return waiting.length === 0 ? listed : [...new Set([...listed, ...waiting])];
    },
    has: (name) => methods.has(name),
    ownerOf: (name) => methods.get(name)?.owner,
    unsendable(name, cause) {
      const owner = methods.get(name)?.owner;
      deps.logger.error(`method ${name}${owner ? ` of plugin "${owner}"` : ""} returned what has no JSON form: ${messageOf(cause)}`);
      return commonErrors.failed({ message: `method ${name} failed: its result cannot be sent` });
    },
    async admit(name, signal) {
      const place = rowOf(name, deps)?.waits ? noPlace : await admission(signal);
      const turn = pace();
      if (turn) await turn;
      return place;
    },
    async call(name, params, call) {
      if (!methods.has(name)) await deps.activation?.use("rpc", name);
      const entry = methods.get(name);
      if (!entry)
        throw deps.leaving?.aborted
          ? sharedErrors.draining({}, { retryAfterMs: 1_000 })
          : absentMethod(name, call.client, { row: rowOf(name, deps), down: deps.down?.(name) });
      // From here on: the checks take time, and the owner must not be taken down between them and its handler.
      const held = entry.hold?.();
      const started = performance.now();
      const log = (outcome: () => LogFields) =>
        deps.logger.debug("rpc", () => ({ method: name, ...outcome(), ms: msSince(started), connId: call.client.connId }));
      try {
        const work = () => checkAndRun(entry, params, call);
        const result = await (deps.telemetry ? deps.telemetry.call(name, call.traceparent, work) : work());
        log(() => ({ ok: true }));
        return result;
      } catch (error) {
        log(() => ({ ok: false, code: isSvcError(error) ? error.code : "internal" }));
        throw error;
      } finally {
        void held?.dispose();
      }
    },
  };
}

async function run(
  entry: Registered,
  params: unknown,
  { call, deps }: { call: RpcCall; deps: { hooks: HookBus; logger: Logger } },
): Promise<unknown> {
  const { method } = entry.method;
  if (deps.hooks.isUsed("rpc.before")) {
    const gate = await deps.hooks.run("rpc.before", { method, params, client: call.client }, { signal: call.signal });
    if (gate.block) throw protocolErrors.blocked({ reason: gate.reason, plugin: gate.plugin });
  }
  const started = performance.now();
  const isAct = toOperatorScope(entry.method.scope ?? "admin") !== "operator.read";
  const report = (ok: boolean, code?: string) => {
    const outcome = { method, ok, ...(code ? { code } : {}) };
    if (deps.hooks.isUsed("rpc.after")) void deps.hooks.run("rpc.after", { ...outcome, ms: performance.now() - started });
    if (isAct && deps.hooks.isUsed("operator.acted")) void deps.hooks.run("operator.acted", { ...outcome, params, client: call.client });
  };
  try {
    const result = await runAs(entry.owner, `method ${method}`, async () => entry.method.handler(params, call));
    report(true);
    return result;
  } catch (error) {
    report(false, isSvcError(error) ? error.code : "internal");
    if (!isSvcError(error))
      deps.logger.error(`method ${method} of plugin "${entry.owner}" failed`, {
        error,
        ...(call.traceparent ? { traceparent: call.traceparent } : {}),
      });
    throw error;
  }
}

const noPlace: Disposable = { dispose: () => undefined };

/** Row of a method of the protocol: the SDK's, or that of a plugin. */
function rowOf(name: string, { row }: Pick<MethodDeps, "row">): Pick<MethodSpec, "scope" | "waits"> | undefined {
  const rows: Readonly<Record<string, MethodSpec>> = protocolMethods;
  return Object.hasOwn(rows, name) ? rows[name] : row?.(name);
}

function msSince(started: number): number {
  return Math.round((performance.now() - started) * 10) / 10;
}

function requireScope(client: ClientInfo, scope: RpcMethod["scope"]): void {
  const needed = toOperatorScope(scope ?? "admin"); // a plugin in plain JavaScript may leave it out
  if (!hasScope(client.scopes, needed)) throw sharedErrors.missingScope({ missingScope: needed, requiredScopes: [needed] });
}

/** Names are confirmed to administrators only; those of the protocol are known to everybody, and their callers hear what is wrong with them. */
function absentMethod(
  name: string,
  client: ClientInfo,
  { row, down }: { row: Pick<MethodSpec, "scope"> | undefined; down: DownPlugin | undefined },
): SvcError {
  const isAdmin = hasScope(client.scopes, "operator.admin");
  if (down && (isAdmin || (row && hasScope(client.scopes, toOperatorScope(row.scope)))))
    return kernelErrors.pluginNotRunning({ subject: name, ...down });
  if (isAdmin) return protocolErrors.unknownMethod({ method: name });
  return sharedErrors.missingScope({ missingScope: "operator.admin", requiredScopes: ["operator.admin"] });
}

/** A plugin's methods are its own `<id>.<verb>` or rows of the protocol, never weaker than there. */
function checkName(method: RpcMethod, owner: string, deps: Pick<MethodDeps, "row">): void {
  if (owner === "kernel") return;
  const name = method.method;
  const isBelow = (prefix: string) => name.startsWith(prefix);
  const isRow = Object.hasOwn(protocolMethods, name) && !kernelPrefixes.some(isBelow);
  const own = nameGrammar.test(name) && isBelow(`${owner}.`) && !reservedPrefixes.some(isBelow);
  const listed = nameGrammar.test(name) ? deps.row?.(name) : undefined;
  const mayServe = own || (listed?.isBundled && (listed.plugin === owner || !kernelPrefixes.some(isBelow)));
  const row = isRow ? protocolMethods[name as CoreMethod] : mayServe ? listed : undefined;
  if (!row && !own) throw kernelErrors.reservedName({ plugin: owner, name, owner: `the protocol; use ${owner}.<verb>` });
  if (row && !hasScope([toOperatorScope(method.scope ?? "admin")], toOperatorScope(row.scope))) {
    throw kernelErrors.reservedName({ plugin: owner, name, owner: `scope ${row.scope} or stronger` });
  }
}

/** The wire form of anything a method threw. Foreign errors give their message only, never a stack. */
export function toWireError(error: unknown): WireError {
  if (!isSvcError(error)) return { code: "UNAVAILABLE", message: messageOf(error) };
  const { details, retryAfterMs, spec } = error;
  return {
    code: spec.rpc,
    message: error.message,
    ...(details ? { details } : {}),
    ...(spec.retryable ? { retryable: true } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
