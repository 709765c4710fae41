import { svc } from "../tools/svc.ts";
import { json } from "./_cli.ts";
import type { Finished, Home } from "./_process.ts";

/**
 * Runs one `svc` command to its end inside the test's process: what `svcCommand` does without the start of a program, which each group of commands has one
 * story for. Not for commands that read standard input, end by a signal, or run a gateway.
 */
export function command(home: Home, args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return svc(args, { env: { ...home.env, ...env }, cwd: home.cwd ?? home.stateDir });
}

/** Standard output of such a command as the one JSON document it has to be. */
export function commandJson(home: Home, args: string[], env: Record<string, string> = {}) {
  return json(home, args, env, command);
}
