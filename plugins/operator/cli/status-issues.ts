import { type ReloadFigures, reloadLine } from "./reload-line.ts";

/** Parts of `status` that may report problems. */
export interface StatusProblems {
  plugins?: {
    errors: Array<{ id: string; error: string }>;
    quarantined?: Array<{ id: string; hook: string; lastError?: string }>;
  };
  problems?: Record<string, string>;
  configReload?: ReloadFigures;
}

/** Describes a problem with config reloads that somebody should act on, with what to do. */
export function reloadIssue(reload: ReloadFigures | undefined): string | undefined {
  if (reload?.status === "invalid" || reload?.status === "rejected") return `${reloadLine(reload)}; see svc config validate`;
  if (!reload || reload.pendingRestart.length === 0) return undefined;
  return `${reloadLine(reload)}; svc gateway restart`;
}

/** One line for each thing an operator should look at. Pure. */
export function issuesOf({ plugins, problems = {}, configReload }: StatusProblems): string[] {
  const reload = reloadIssue(configReload);
  const failed = (plugins?.errors ?? []).map(({ id, error }) => `plugin ${id}: ${error}`);
  const resting = (plugins?.quarantined ?? []).map(
    ({ id, hook, lastError }) => `plugin ${id}: its handler of ${hook} keeps failing and is paused${lastError ? `: ${lastError}` : ""}`,
  );
  return [
    ...(reload ? [`config reload: ${reload}`] : []),
    ...failed,
    ...resting,
    ...Object.entries(problems)
      .filter(([part]) => !part.startsWith("plugin:")) // those stand among the failed ones
      .map(([part, message]) => `${part}: ${message}`),
  ];
}
