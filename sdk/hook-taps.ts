import type { HookAnswer, HookEvent, HookFilterKey, HookKindOf, HookName } from "./hooks.ts";

/** A refusal. */
export interface GateBlock {
  block: true;
  reason: string;
}
type Claimed<A> = { handled: true } & A;
type Nothing = undefined | null | void;

/** Values that a tap may return. `undefined` and `null` always mean "no opinion", as does `handled: false`. */
export type HookTapResult<N extends HookName> =
  HookKindOf<N> extends "gate"
    ? GateBlock | { block: false; reason?: string } | (unknown extends HookAnswer<N> ? never : Partial<HookAnswer<N>>) | Nothing
    : HookKindOf<N> extends "claim"
      ? Claimed<HookAnswer<N>> | ({ handled: false } & Partial<HookAnswer<N>>) | Nothing
      : HookKindOf<N> extends "modify" | "sync"
        ? HookEvent<N> | Nothing
        : unknown;

/** Result for the emitter. */
export type HookResult<N extends HookName> =
  HookKindOf<N> extends "gate"
    ? ({ block: false } & HookAnswer<N>) | (GateBlock & { plugin: string })
    : HookKindOf<N> extends "claim"
      ? (Claimed<HookAnswer<N>> & { plugin: string }) | undefined
      : HookKindOf<N> extends "modify" | "sync"
        ? HookEvent<N>
        : HookKindOf<N> extends "collect"
          ? HookAnswer<N>[]
          : void;

/** Second argument of a tap. */
export interface HookMeta {
  /** Aborted on time-out and when the emitter gives up. */
  readonly signal: AbortSignal;
  /** Same for everything one cause set off, for logs. */
  readonly trace: string;
  readonly runId?: string;
  readonly sessionKey?: string;
  readonly agentId?: string;
  /** `collect` hooks only: hands one item to the emitter. */
  report(item: unknown): void;
}

/** Declarative narrowing; a tap whose filter does not fit is not called. One value or several. */
export type HookFilter = { readonly [K in HookFilterKey]?: string | readonly string[] };

/** Options of a tap. */
export interface HookOptions {
  /** Higher first; then load order, then order of registration. Default 0. */
  priority?: number;
  /** 1–600,000; default that of the hook. `plugins.entries.<id>.hooks` of the operator beats it. */
  timeoutMs?: number;
  /** Only for events it fits. A key the hook's events do not carry refuses the registration with `hook-filter`. */
  filter?: HookFilter;
  /** Names the tap where a plugin has several on one hook. */
  id?: string;
}
