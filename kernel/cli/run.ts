import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, toFailure } from "../../sdk/cli/failure.ts";
import { gatewayCommand } from "../../sdk/cli/gateway-command.ts";
import { commandHelp, groupHelp } from "../../sdk/cli/help.ts";
import type { Interrupt } from "../../sdk/cli/interrupt.ts";
import { type CommandEntry, longerCommands, matchCommand, unknown } from "../../sdk/cli/match.ts";
import { type RootFlags, takeRootFlags } from "../../sdk/cli/root-flags.ts";
import { SvcError } from "../../sdk/errors.ts";
import { type Env, packageRoot, resolvePaths } from "../../sdk/host/paths.ts";
import type { CliCommand, CliContext } from "../../sdk/types/cli.ts";
import { loadCommand, readCommands } from "./commands.ts";
import { type ContextOptions, createCliContext } from "./context.ts";
import { createColor, createOutput } from "./output.ts";
import { parseArgs } from "./parse.ts";

/** What the program stands in; tests bring their own. */
export interface Host {
  env: Env;
  stdout: { write(text: string): unknown; isTTY?: boolean };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  interrupt(options: { patienceMs?: number | undefined }): Interrupt;
  pluginsRoot?: string;
}

/** A command that does not come to an end by itself after a signal is not waited for longer. */
const PATIENCE_MS = 3_000;
const gatewayPaths = new Set(["gateway", "gateway run"]);

type Output = ContextOptions["output"];

/** Runs one command line. Never rejects: every failure becomes a message and an exit code. */
export async function runCommandLine(argv: readonly string[], host: Host): Promise<number> {
  let output = outputOf(host, { json: argv.includes("--json"), color: true });
  let flags: RootFlags | undefined;
  try {
    const taken = takeRootFlags(argv);
    flags = taken.flags;
    output = outputOf(host, flags);
    return await dispatch(taken.rest, flags, { host, output });
  } catch (error) {
    return report(error, output, flags);
  }
}

async function dispatch(rest: readonly string[], flags: RootFlags, to: { host: Host; output: Output }): Promise<number> {
  const wantsHelp = flags.help || rest[0] === "help";
  const commands = await readCommands(to.host.pluginsRoot);
  const match = matchCommand(commands, rest[0] === "help" ? rest.slice(1) : rest);
  if (match.kind === "unknown") throw unknownCommand(match);
  if (match.kind === "group") {
    if (wantsHelp) return print(to, groupHelp(match.words, match.members));
    const next = match.members.map((m) => m.words.slice(1).join(" ")).join(", ");
    throw new SvcError("usage", { message: `${match.words.join(" ")}: expected one of ${next}` });
  }
  const command = await load(match.entry, commands, flags);
  if (wantsHelp) return print(to, commandHelp(command, longerCommands(commands, match.entry.words)));
  const first = match.args[0];
  if (first !== undefined && !first.startsWith("-") && !command.positionals?.length) {
    throw unknownCommand(unknown(commands, [...match.entry.words, ...match.args.filter((a) => !a.startsWith("-"))]));
  }
  return execute(command, match.args, flags, to);
}

async function execute(
  command: CliCommand,
  args: readonly string[],
  flags: RootFlags,
  to: { host: Host; output: Output },
): Promise<number> {
  const { host, output } = to;
  if (flags.json && !command.options?.json) throw new SvcError("usage", { message: `${command.path.join(" ")}: has no --json` });
  const { values, positionals } = parseArgs(command, args);
  if (flags.json) values.json = true;
  const paths = resolvePaths({ env: host.env, profile: flags.profile });
  // The gateway ends when it has drained, however long that takes, and a stop that was asked for is a success.
  const isGateway = gatewayPaths.has(command.path.join(" "));
  const interrupt = host.interrupt(isGateway ? {} : { patienceMs: PATIENCE_MS });
  const exitCode = isGateway ? (code: number) => code : interrupt.exitCode;
  try {
    const context = createCliContext({ command, values, env: host.env, paths, version: await version(), output, signal: interrupt.signal });
    return exitCode(await command.run(context, values, positionals));
  } catch (error) {
    // Whoever pressed Ctrl-C knows why the connection closed.
    if (!isGateway && interrupt.signal.aborted && !output.json) return exitCode(1);
    return exitCode(report(error, output, flags));
  } finally {
    interrupt.dispose();
  }
}

async function load(entry: CommandEntry, commands: readonly CommandEntry[], flags: RootFlags): Promise<CliCommand> {
  if (isLoadable(entry)) return loadCommand(entry);
  const hints = commands.filter(isLoadable).find((c) => c.words.join(" ") === "gateway hints");
  const announce = hints && (async (cli: CliContext) => (await loadCommand(hints)).run(cli, {}, []));
  const maker = async () => (await import("./gateway-maker.ts")).gatewayMaker;
  return gatewayCommand({ path: entry.words, logLevel: flags.logLevel, announce, maker });
}

function isLoadable(entry: CommandEntry): entry is CommandEntry & { module: string } {
  return entry.module !== undefined;
}

function outputOf(host: Host, flags: Pick<RootFlags, "json" | "color">): Output {
  return {
    json: flags.json,
    ...createOutput({ ...host, json: flags.json }),
    color: createColor({ flag: flags.color, env: host.env, isTTY: host.stdout.isTTY === true }),
  };
}

function print({ host, output }: { host: Host; output: Output }, help: string): number {
  if (output.json) output.stdout.json({ ok: true, help });
  else host.stdout.write(help);
  return 0;
}

function report(error: unknown, output: Output, flags: RootFlags | undefined): number {
  const failure = toFailure(error);
  const { exit, ...told } = failure;
  if (output.json) output.stdout.json({ ok: false, error: told });
  else output.stderr.write(humanFailure(failure, output.color.red));
  const inDetail = flags?.logLevel === "debug" || flags?.logLevel === "trace";
  if (failure.type === "internal" && inDetail && error instanceof Error) output.stderr.line(error.stack);
  return exit;
}

function humanFailure(failure: Failure, red: (s: string) => string): string {
  return `${red("svc:")} ${failure.message}\n${failure.hint ? `     ${failure.hint}\n` : ""}`;
}

function unknownCommand(match: { typed: string; suggestion: string | undefined }): SvcError {
  const message = match.typed === "" ? "expected a command; see svc --help" : `unknown command "${match.typed}"`;
  const hint = match.suggestion ? `did you mean: svc ${match.suggestion}` : "see svc --help";
  return new SvcError("usage", match.typed === "" ? { message } : { message, hint });
}

async function version(): Promise<string> {
  return (JSON.parse(await readFile(join(packageRoot(), "package.json"), "utf8")) as { version: string }).version;
}
