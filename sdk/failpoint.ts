type Failpoint = (name: string) => void | Promise<void>;

let active: Failpoint | undefined;

/** Tests only: called at each named step of a durable write, such as `config.after-fsync`; throwing fails it there. */
export function setFailpoint(fn: Failpoint | undefined): void {
  active = fn;
}

/**
 * Says that a named step has been reached, for tests that fail or hold it there. Always a statement of its own, `await reached("…");`: the build leaves
 * those out (`bin/join.mjs`), so that a release has no failpoint and does not wait for any.
 */
export async function reached(name: string): Promise<void> {
  await active?.(name);
}
