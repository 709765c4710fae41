import { messageOf } from "../errors.ts";
import { withLimit } from "../time.ts";
import { runner } from "./runner.ts";

/** One statement of a conformance suite; `run` rejects when it does not hold. */
export interface ContractCase {
  name: string;
  run(): Promise<void>;
}

const CASE_MS = 30_000;

/** Makes a test of each case; to be called inside `describe`. */
export function defineCases(cases: readonly ContractCase[]): void {
  for (const one of cases) runner().test(one.name, () => one.run(), CASE_MS);
}

/**
 * Runs cases one after the other without a test runner, for commands and for the tests of the suites.
 * @returns every case with the reason why it does not hold, or undefined
 */
export async function runCases(cases: readonly ContractCase[]): Promise<Array<{ name: string; failure: string | undefined }>> {
  const results: Array<{ name: string; failure: string | undefined }> = [];
  for (const { name, run } of cases) {
    const failure = await run().then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    results.push({ name, failure });
  }
  return results;
}

/**
 * Waits for a promise, at most `limitMs`.
 * @throws {Error} `<what> did not end within …` when it passes
 */
export function within<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
  return withLimit(promise, limitMs, () => {
    throw new Error(`${what} did not end within ${limitMs / 1000} s`);
  });
}

/** Reason that a promise rejects with; undefined when it resolves. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error ?? new Error("rejected with nothing"),
  );
}

/** True for what an aborted call rejects with. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
