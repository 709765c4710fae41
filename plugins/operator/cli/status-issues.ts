/** What of `status` may be wrong. */
export interface StatusProblems {
  plugins?: {
    errors: Array<{ id: string; error: string }>;
    quarantined?: Array<{ id: string; hook: string; lastError?: string }>;
  };
  problems?: Record<string, string>;
}

/** One line for each thing an operator should look at. Pure. */
export function issuesOf({ plugins, problems = {} }: StatusProblems): string[] {
  const failed = (plugins?.errors ?? []).map(({ id, error }) => `plugin ${id}: ${error}`);
  const resting = (plugins?.quarantined ?? []).map(
    ({ id, hook, lastError }) => `plugin ${id}: its handler of ${hook} fails again and again and rests${lastError ? `: ${lastError}` : ""}`,
  );
  return [...failed, ...resting, ...Object.entries(problems).map(([part, message]) => `${part}: ${message}`)];
}
