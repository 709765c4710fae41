/** Reads one variable of the environment; a blank value counts as unset. */
export function readEnv(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value === "" ? undefined : value;
}
