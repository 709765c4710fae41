import { relative } from "node:path";
import type { CliContext } from "../../sdk/types/cli.ts";

export interface Started {
  port: number;
  host: string;
  profile: string;
  basePath: string;
  /** Words that start the program from here: `svc`, or `node bin/svc.mjs` in a checkout. */
  program: string;
  /** Put into the printed address; only for a person at a terminal. */
  token: string | undefined;
  workspace: string;
}

/** Its answer stands in `examples/workspace`; no apostrophe, because of the quotes around it. */
const question = "When does the train to the airport leave?";

/** What a newcomer needs next, in one block: where to look and how to ask. */
export function startBlock(started: Started, color: Pick<CliContext["color"], "bold" | "cyan" | "dim">): string {
  const { port, program } = started;
  const base = `http://127.0.0.1:${port}`;
  const page = `${base}${started.basePath}${started.token ? `#token=${encodeURIComponent(started.token)}` : ""}`;
  const profile = started.profile === "" ? "" : ` (profile ${started.profile})`;
  const body = JSON.stringify({ model: "svc", messages: [{ role: "user", content: question }] });
  return [
    "",
    color.bold(`svc is ready on ws://${started.host}:${port}${profile}`),
    "",
    `  Control UI   ${color.cyan(page)}`,
    ...(started.token ? [] : [`               ${color.dim(`with the token in it: ${program} dashboard`)}`]),
    `  Notes        ${started.workspace}`,
    `  Ask by svc   ${program} agent --message "${question}"`,
    `  Ask by curl  curl -s ${base}/v1/chat/completions \\`,
    `                 -H "Authorization: Bearer $(${program} dashboard --secret)" \\`,
    `                 -d '${body}'`,
    "",
    color.dim("  Ctrl-C stops it."),
    "",
    "",
  ].join("\n");
}

/** How to call this program again from the working directory. */
export function programName(options: { script: string; root: string; cwd: string; profile: string }): string {
  const inside = relative(options.cwd, `${options.root}/bin/svc.mjs`);
  const name = /(^|[\\/])svc$/.test(options.script) ? "svc" : `node ${inside.startsWith("..") ? `${options.root}/bin/svc.mjs` : inside}`;
  return options.profile === "" ? name : `${name} --profile ${options.profile}`;
}
