import { AsyncLocalStorage } from "node:async_hooks";

/** Whose code is running, and what of it. */
export interface RunningCode {
  readonly plugin: string;
  readonly what: string;
  /** Given when something of this call first asks for it. */
  trace?: string;
}

/** Follows plugin code through awaits, timers and detached promises; late errors and blocked loops are attributed by it. */
export const running = new AsyncLocalStorage<RunningCode>();

/** Runs code of a plugin under its name. */
export function runAs<T>(plugin: string, what: string, fn: () => T): T {
  return running.run({ plugin, what }, fn);
}
