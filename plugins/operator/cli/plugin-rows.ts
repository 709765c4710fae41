/** One plugin in the answer of `plugins.list`, as far as commands show it. */
export interface WirePlugin {
  id: string;
  version: string;
  name: string;
  description: string;
  origin: string;
  kind?: string[];
  enabled: boolean;
  runtime: {
    state: string;
    since: number;
    instance: number;
    code?: string;
    reason?: string;
    hint?: string;
    ms?: number;
    isolation?: string;
    lastReload?: { at: number; status: string; error?: string };
  };
  hooks?: Array<{ hook: string; tap?: string; state: string; failures: number; until?: number; lastError?: string }>;
  diagnostics?: Array<{ code: string; message: string }>;
}

/** Lines below the table: what an operator should know of one plugin beyond its state. Pure. */
export function notesOf({ runtime, hooks = [], diagnostics = [] }: WirePlugin): string[] {
  const { lastReload, isolation, hint, reason } = runtime;
  const resting = hooks.filter((h) => h.state !== "closed");
  return [
    ...(hint ? [hint] : []),
    ...(isolation ? [`runs in a ${isolation} of its own`] : []),
    ...resting.map(
      (h) => `hook ${h.hook}${h.tap ? ` (${h.tap})` : ""} is resting after ${h.failures} failures: ${h.lastError ?? "no reason known"}`,
    ),
    ...(lastReload?.error ? [`its last reload ${lastReload.status}: ${lastReload.error}`] : []),
    ...diagnostics.filter((d) => d.message !== reason).map((d) => `${d.code}: ${d.message}`),
  ];
}

/** `code: reason`, or the reason alone; undefined when all is well. */
export function reasonOf({ code, reason }: { code?: string; reason?: string }): string | undefined {
  return reason && (code ? `${code}: ${reason}` : reason);
}
