import { AsyncLocalStorage } from "node:async_hooks";

/** Whose code is running, and what of it. */
export interface RunningCode {
  readonly plugin: string;
  readonly what: string;
  /** Given when something of this call first asks for it. */
  trace?: string;
}

const storage = new AsyncLocalStorage<RunningCode>();
let entered: (() => void) | undefined;

/** Follows plugin code through awaits, timers and detached promises; late errors and blocked loops are attributed by it. */
export const running = {
  /** Runs code of a plugin under its name. */
  run<T>(code: RunningCode, fn: () => T): T {
    entered?.();
    return storage.run(code, fn);
  },
  /** Undefined where no plugin's code runs. */
  getStore: (): RunningCode | undefined => storage.getStore(),
};

/** Runs code of a plugin under its name. */
export function runAs<T>(plugin: string, what: string, fn: () => T): T {
  return running.run({ plugin, what }, fn);
}

/** Tells one listener each time code of a plugin is entered, until it is told no more with `undefined`. */
export function onEntered(listener: (() => void) | undefined): void {
  entered = listener;
}
