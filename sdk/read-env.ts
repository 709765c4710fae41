/** Reads one variable of an environment such as `ctx.env`; a blank value counts as unset, blanks around it are cut off. */
export function readEnv(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}
