/** Reads one variable of the plugin's environment; a blank value counts as unset. */
export function readEnv(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}
