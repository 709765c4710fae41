import type { ContributionView, EmbeddingAdapter } from "svc/sdk";
import { builtInOrder } from "./adapter-order.ts";
import type { HeldProvider } from "./held-provider.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import type { Selection, SkippedAdapter } from "./select-provider.ts";

/** Provider of an agent as it stands. */
export type Choice =
  | { kind: "choosing" }
  | { kind: "held"; held: HeldProvider }
  | { kind: "none"; isChoice: boolean; skipped: SkippedAdapter[] }
  | { kind: "unavailable"; error: string };

/** Present state of the provider, as people see it. */
export interface ProviderView {
  state: "choosing" | "provider" | "none" | "unavailable";
  /** Adapter id; `none` without one. */
  provider: string;
  model: string;
  fallback?: { from: string; reason: string };
  /** Reason why there is no provider, or error of its last call. */
  error?: string;
  /** With detection that found none: what was looked at, and what each lacks. */
  skipped?: SkippedAdapter[];
  /** Calls are held back at the moment: why. */
  outage?: string;
}

const NO_PROVIDER = "no embedding provider is set up";

/** @param lastError of the last call, while it counts */
export function viewOf(choice: Choice, { multimodal }: ProviderSettings, lastError: string | undefined): ProviderView {
  if (choice.kind === "choosing") return { state: "choosing", provider: "none", model: "fts-only" };
  if (choice.kind === "unavailable") return { state: "unavailable", provider: "none", model: "fts-only", error: choice.error };
  if (choice.kind === "none") {
    const { isChoice, skipped } = choice;
    return { state: "none", provider: "none", model: "fts-only", ...(isChoice ? {} : { error: NO_PROVIDER, skipped }) };
  }
  const { opened, fallback, circuit } = choice.held;
  const { facts } = opened;
  const outage = circuit.refusal()?.message;
  const blind = multimodal && !facts.multimodal ? `${facts.id}: ${facts.model} embeds no images and sounds: they are left out` : undefined;
  const error = lastError ?? blind;
  return {
    state: "provider",
    provider: facts.id,
    model: facts.model,
    ...(fallback ? { fallback } : {}),
    ...(error === undefined ? {} : { error }),
    ...(outage === undefined ? {} : { outage }),
  };
}

/** True when a selection found the provider that is held already. */
export function isSameProvider(choice: Choice, selection: Selection): boolean {
  if (choice.kind !== "held" || !("opened" in selection)) return false;
  const { opened } = choice.held;
  return opened.adapter === selection.opened.adapter && JSON.stringify(opened.facts) === JSON.stringify(selection.opened.facts);
}

interface Adapters {
  adapters: ContributionView<EmbeddingAdapter>;
  /** Adapters that the choice looked at. */
  tried: ReadonlySet<EmbeddingAdapter>;
}

/** True when another choice is possible now than when this one was made. */
export function isOutdated(choice: Choice, { requested, fallback }: ProviderSettings, { adapters, tried }: Adapters): boolean {
  const isNew = (id: string) => {
    const value = adapters.get(id)?.value;
    return value !== undefined && !tried.has(value);
  };
  if (choice.kind === "choosing") return false;
  if (choice.kind === "held") {
    const { opened } = choice.held;
    if (adapters.get(opened.adapter.id)?.value !== opened.adapter) return true;
    const before = requested === "auto" ? builtInOrder.slice(0, Math.max(0, builtInOrder.indexOf(opened.facts.id as never))) : [requested];
    return (choice.held.fallback ? [requested] : before).some(isNew);
  }
  const wanted = requested === "auto" ? [...adapters].map(({ id }) => id) : [requested, fallback ?? requested];
  return wanted.some(isNew);
}

/** True when an adapter that nobody has asked for yet would be taken. */
export function wantsMore(choice: Choice, { requested }: ProviderSettings): boolean {
  if (requested === "none") return false;
  return requested === "auto" || choice.kind !== "held" || choice.held.fallback !== undefined;
}
