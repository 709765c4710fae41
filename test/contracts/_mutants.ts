import type { ContractCase } from "svc/sdk/testing";
import { runCases } from "svc/sdk/testing";

/** Names of the cases that do not hold. */
export async function failing(cases: readonly ContractCase[]): Promise<string[]> {
  return (await runCases(cases)).filter((c) => c.failure !== undefined).map((c) => `${c.name}: ${c.failure}`);
}

/**
 * Runs the one case of this name.
 * @returns why it does not hold, or undefined
 * @throws {Error} when the suite has no such case
 */
export async function outcomeOf(cases: readonly ContractCase[], name: string): Promise<string | undefined> {
  const found = cases.filter((c) => c.name === name);
  if (found.length !== 1) throw new Error(`the suite has ${found.length} cases called "${name}"`);
  return (await runCases(found))[0]?.failure;
}
