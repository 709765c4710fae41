import type { Env } from "../../sdk/types/common.ts";

/**
 * Gives this process the variables it lacks, because plugins and the programs they start read its environment. Nothing overrides a set value.
 * @returns takes them away again, as far as nobody changed them
 */
export function exportEnv(env: Env): () => void {
  const added = Object.entries(env).filter(([name, value]) => value !== undefined && process.env[name] === undefined);
  for (const [name, value] of added) process.env[name] = value;
  return () => {
    for (const [name, value] of added) if (process.env[name] === value) delete process.env[name];
  };
}
