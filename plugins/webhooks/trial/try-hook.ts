import type { ContributionView, HookPreset, PluginContext } from "svc/sdk";
import type { Action, HooksConfig, Refusal, Resolved } from "../action.ts";
import { openHeaders } from "../endpoint/hook-request.ts";
import type { Ingress } from "../ingress.ts";
import type { MappingView } from "../mapping-view.ts";
import { openIngress } from "../open-ingress.ts";
import { addressOf } from "./address.ts";

/** A request as somebody imagines it. */
export interface Trial {
  /** Below `hooks.path`, or the id of a mapping; may end in `?name=value`. */
  name: string;
  payload: unknown;
  headers: Readonly<Record<string, string>>;
}

/** Action that a request would become, without the parts only the endpoint needs. */
export type TriedAction =
  | Omit<Extract<Action, { kind: "agent" }>, "fingerprint">
  | Omit<Extract<Action, { kind: "wake" }>, "fingerprint" | "same">;

/** Result of trying a request. Reasons are the operator's: a sender is told less. */
export interface Tried {
  path: string;
  /** `answered`: the sender's own question, such as a ping. `nothing`: 204. `unmapped`: 404. */
  outcome: "actions" | "nothing" | "answered" | "unmapped";
  mapping?: string;
  preset?: string;
  /** A real request needs this signature. */
  verify?: NonNullable<MappingView["verify"]>;
  items: Array<{ action: TriedAction } | { refusal: Refusal }>;
  warnings: string[];
  /** Problem of the mapping that owns the request. */
  broken?: string;
}

interface TryOptions {
  presets: Pick<ContributionView<HookPreset>, "get">;
  signal: AbortSignal;
}

/**
 * Match, transform, templates and every rule, as for a request that was let in; nothing is stored and nobody is woken. Uses an ingress of its own: hooks may be
 * off, and the endpoint that answers is left alone.
 */
export async function tryHook(
  ctx: Pick<PluginContext, "logger" | "service" | "clock" | "env">,
  hooks: HooksConfig,
  { trial, presets, signal }: TryOptions & { trial: Trial },
): Promise<Tried> {
  const opened = await openIngress(ctx, hooks, { presets, signal });
  let ingress: Ingress | undefined;
  try {
    // Nobody signs a trial, so no secret is asked for.
    const { mappings, ...made } = opened.finish(0, () => ({}));
    ingress = made.ingress;
    const { path, url } = addressOf(trial.name, hooks.path, mappings);
    const verifier = ingress.verifierOf(path);
    const headers = lowerCase(trial.headers);
    const own = verifier?.answer({ headers, payload: trial.payload });
    const about = aboutPath(path, mappings);
    if (own) return { path, outcome: "answered", ...about, items: [], warnings: [] };
    const request = { path, url, headers: openHeaders(headers, verifier?.secretHeaders), payload: trial.payload };
    const resolved = await ingress.resolve(request, signal);
    signal.throwIfAborted();
    return toTried(resolved, { path, mappings });
  } finally {
    if (ingress) ingress.dispose();
    else opened.dispose();
  }
}

function toTried(resolved: Resolved, { path, mappings }: { path: string; mappings: readonly MappingView[] }): Tried {
  if (resolved.kind !== "actions") {
    return { path, outcome: resolved.kind === "none" ? "nothing" : "unmapped", ...aboutPath(path, mappings), items: [], warnings: [] };
  }
  const items = resolved.items.map((item) => ("action" in item ? { action: shown(item.action) } : item));
  const about = aboutMapping(mappings.find(({ id }) => id === resolved.mapping));
  const mapping = resolved.mapping === undefined ? {} : { mapping: resolved.mapping };
  return { path, outcome: items.length === 0 ? "nothing" : "actions", ...mapping, ...about, items, warnings: resolved.warnings };
}

function shown(action: Action): TriedAction {
  const { fingerprint: _, ...rest } = action;
  if (rest.kind === "agent") return rest;
  const { same: __, ...wake } = rest;
  return wake;
}

/** The mapping that owns a path whatever the payload says; with `source` the payload decides. */
function aboutPath(path: string, mappings: readonly MappingView[]): ReturnType<typeof aboutMapping> {
  return aboutMapping(mappings.find((one) => one.path === path && one.source === undefined));
}

function aboutMapping(view: MappingView | undefined): Pick<Tried, "mapping" | "preset" | "verify" | "broken"> {
  if (!view) return {};
  const { id, preset, verify, broken } = view;
  return {
    mapping: id,
    ...(preset === undefined ? {} : { preset }),
    ...(verify === undefined ? {} : { verify }),
    ...(broken === undefined ? {} : { broken }),
  };
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  return all;
}
