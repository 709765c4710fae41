import { relative } from "node:path";
import { type CliContext, type CliTarget, defineCommand, resolveAgents, type SvcConfig } from "svc/sdk";
import { hasGateway } from "svc/sdk/internal";
import { pageUrl } from "./page-url.ts";

/** Question that `examples/workspace` answers; no apostrophe, because of the quotes around it. */
const question = "When does the train to the airport leave?";

/** `svc gateway hints`: where to look and how to ask; `svc gateway` prints it once it is ready. */
export default defineCommand({
  path: ["gateway", "hints"],
  summary: "How to open the page and ask a first question",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli) => {
    const target = await cli.target();
    const { config } = await cli.config();
    const known: Known = {
      target,
      program: programName({ script: process.argv[1] ?? "", cwd: process.cwd(), ...cli.paths }),
      page: pageUrl(target.url, config),
      workspace: workspaceOf(cli, config),
      advice: await cli.startAdvice(),
      runs: (await hasGateway(cli)) || target.portSource === "flag",
    };
    const { program, page, workspace, runs } = known;
    if (cli.json) cli.stdout.json({ ok: true, running: runs, url: target.url, page: page ?? null, program, workspace: workspace ?? null });
    else cli.stdout.write(hints(cli, known));
    return 0;
  },
});

interface Known {
  target: CliTarget;
  program: string;
  page: string | undefined;
  workspace: string | undefined;
  runs: boolean;
  /** Next step while none runs. */
  advice: string;
}

function hints(cli: CliContext, { target, program, page, workspace, runs, advice }: Known): string {
  const { bold, cyan, dim } = cli.color;
  const profile = cli.paths.profile === "" ? "" : ` (profile ${cli.paths.profile})`;
  const http = target.url.replace(/^ws/, "http");
  const body = JSON.stringify({ model: "svc", messages: [{ role: "user", content: question }] });
  const lines = [
    bold(
      runs
        ? `svc is ready on ${target.url}${profile}`
        : `No gateway runs here yet${profile}; ${advice.replace(/\bsvc( --profile \S+)?/, program)}`,
    ),
    "",
    ...pageLines(cli, { target, program, page }),
    ...(workspace ? [`  Notes        ${workspace}`] : []),
    `  Ask by svc   ${program} agent --message "${question}"`,
    `  Ask by curl  curl -s ${http}/v1/chat/completions \\`,
    ...(target.authMode === "none" ? [] : [`                 -H "Authorization: Bearer $(${program} dashboard --secret)" \\`]),
    `                 -d '${body}'`,
    "",
    dim(`  ${program} --help lists all commands. Ctrl-C stops the gateway.`),
  ];
  return `\n${lines.join("\n")}\n\n`.replaceAll(http, (url) => cyan(url));
}

/** The token goes into the address only for a person at a terminal; elsewhere the output may end up in a log. */
function pageLines(cli: CliContext, { target, program, page }: Pick<Known, "target" | "program" | "page">): string[] {
  if (page === undefined) return [];
  if (target.token === undefined) return [`  Control UI   ${page}`];
  if (cli.stdout.isTTY) return [`  Control UI   ${page}#token=${encodeURIComponent(target.token)}`];
  return [`  Control UI   ${page}`, `               signed in: ${program} dashboard`];
}

/** The default agent's notes; unknown while the config is not valid. */
function workspaceOf(cli: CliContext, config: object | undefined): string | undefined {
  if (!config) return undefined;
  return resolveAgents(config as SvcConfig, cli.paths.stateDir).find((agent) => agent.isDefault)?.workspace;
}

/** Command line that calls this program again from the working directory. */
export function programName(options: { script: string; packageRoot: string; cwd: string; profile: string }): string {
  const entry = `${options.packageRoot}/bin/svc.mjs`;
  const inside = relative(options.cwd, entry);
  const name = /(^|[\\/])svc$/.test(options.script) ? "svc" : `node ${inside.startsWith("..") ? entry : inside}`;
  return options.profile === "" ? name : `${name} --profile ${options.profile}`;
}
