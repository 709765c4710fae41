import { AsyncLocalStorage } from "node:async_hooks";

/** The plugin whose code is running, and which part of it. */
export interface RunningCode {
  readonly plugin: string;
  readonly what: string;
  /** Given when something of this call first asks for it. */
  trace?: string;
}

/** State that follows code through its awaits. One storage holds all: each of them costs every promise of the process. */
interface Frame {
  readonly code: RunningCode | undefined;
  /** The call that keeps a plugin from being taken down. */
  readonly call: object | undefined;
  /** W3C `traceparent` of the span that is being recorded. */
  readonly span?: string | undefined;
}

const storage = new AsyncLocalStorage<Frame>();
let entered: (() => void) | undefined;

/** Follows plugin code through awaits, timers and detached promises; late errors and blocked loops are attributed by it. */
export const running = {
  /** Runs code of a plugin under its name. */
  run<T>(code: RunningCode, fn: () => T): T {
    entered?.();
    const at = storage.getStore();
    return storage.run({ code, call: at?.call, span: at?.span }, fn);
  },
  /** Undefined where no plugin's code runs. */
  getStore: (): RunningCode | undefined => storage.getStore()?.code,
};

/** The call that code belongs to, beside whose code it is; its holder knows what it is. */
export const runningCall = {
  /** `undefined`: what the code does later is inside no call. */
  run<T>(call: object | undefined, fn: () => T): T {
    const at = storage.getStore();
    return storage.run({ code: at?.code, call, span: at?.span }, fn);
  },
  getStore: (): object | undefined => storage.getStore()?.call,
};

/** The span that code belongs to, as a W3C `traceparent`. */
export const runningSpan = {
  run<T>(span: string | undefined, fn: () => T): T {
    const at = storage.getStore();
    return storage.run({ code: at?.code, call: at?.call, span }, fn);
  },
  getStore: (): string | undefined => storage.getStore()?.span,
};

/** Runs code of a plugin under its name. */
export function runAs<T>(plugin: string, what: string, fn: () => T): T {
  return running.run({ plugin, what }, fn);
}

/** Tells one listener each time code of a plugin is entered, until it is told no more with `undefined`. */
export function onEntered(listener: (() => void) | undefined): void {
  entered = listener;
}
