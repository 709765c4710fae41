import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, toFailure } from "../../sdk/cli/failure.ts";
import { commandHelp, groupHelp } from "../../sdk/cli/help.ts";
import { type CommandEntry, longerCommands, matchCommand, unknown } from "../../sdk/cli/match.ts";
import { type RootFlags, takeRootFlags } from "../../sdk/cli/root-flags.ts";
import { SvcError } from "../../sdk/errors.ts";
import type { CliCommand, CliContext } from "../../sdk/types/cli.ts";
import { type Env, packageRoot, resolvePaths } from "../config/paths.ts";
import { loadCommand, readCommands } from "./commands.ts";
import { type ContextOptions, createCliContext } from "./context.ts";
import { gatewayCommand } from "./gateway-command.ts";
import type { Interrupt } from "./interrupt.ts";
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

/** Runs one command line. Never rejects: every failure becomes a message and an exit code. */
export async function runCommandLine(argv: readonly string[], host: Host): Promise<number> {
  let flags: RootFlags | undefined;
  try {
    const taken = takeRootFlags(argv);
    flags = taken.flags;
    return await dispatch(taken.rest, flags, host);
  } catch (error) {
    return report(error, flags ?? { json: argv.includes("--json"), color: true, logLevel: undefined }, host);
  }
}

async function dispatch(rest: readonly string[], flags: RootFlags, host: Host): Promise<number> {
  const paths = resolvePaths({ env: host.env, profile: flags.profile });
  const wantsHelp = flags.help || rest[0] === "help";
  const words = rest[0] === "help" ? rest.slice(1) : rest;
  const commands = await readCommands(host.pluginsRoot);
  const match = matchCommand(commands, words);
  if (match.kind === "unknown") throw unknownCommand(match);
  if (match.kind === "group") {
    const text = groupHelp(match.words, match.members);
    if (wantsHelp) return print(host, flags, text);
    throw new SvcError("usage", {
      message: `${match.words.join(" ")}: expected one of ${match.members.map((m) => m.words.slice(1).join(" ")).join(", ")}`,
    });
  }
  const command = await load(match.entry, commands, flags);
  if (wantsHelp) return print(host, flags, commandHelp(command, longerCommands(commands, match.entry.words)));
  const first = match.args[0];
  if (first !== undefined && !first.startsWith("-") && !command.positionals?.length) {
    throw unknownCommand(unknown(commands, [...match.entry.words, ...match.args.filter((a) => !a.startsWith("-"))]));
  }
  if (flags.json && !command.options?.json) throw new SvcError("usage", { message: `${command.path.join(" ")}: has no --json` });
  const { values, positionals } = parseArgs(command, match.args);
  if (flags.json) values.json = true;
  const common = { command, values, env: host.env, paths, version: await version(), output: outputOf(host, flags) };
  if (match.entry.module === undefined) return runUninterrupted(common, positionals, host);
  const interrupt = host.interrupt({ patienceMs: PATIENCE_MS });
  try {
    return interrupt.exitCode(await command.run(createCliContext({ ...common, signal: interrupt.signal }), values, positionals));
  } catch (error) {
    return interrupt.exitCode(report(error, flags, host));
  } finally {
    interrupt.dispose();
  }
}

/** The gateway ends when it has drained, and a stop that was asked for is a success. */
async function runUninterrupted(common: Omit<ContextOptions, "signal">, positionals: string[], host: Host): Promise<number> {
  const interrupt = host.interrupt({});
  try {
    return await common.command.run(createCliContext({ ...common, signal: interrupt.signal }), common.values, positionals);
  } finally {
    interrupt.dispose();
  }
}

async function load(entry: CommandEntry, commands: readonly CommandEntry[], flags: RootFlags): Promise<CliCommand> {
  if (isLoadable(entry)) return loadCommand(entry);
  const hints = commands.filter(isLoadable).find((c) => c.words.join(" ") === "gateway hints");
  const announce = hints && (async (cli: CliContext) => (await loadCommand(hints)).run(cli, {}, []));
  return gatewayCommand({ path: entry.words, logLevel: flags.logLevel, announce });
}

function isLoadable(entry: CommandEntry): entry is CommandEntry & { module: string } {
  return entry.module !== undefined;
}

function outputOf(host: Host, flags: Pick<RootFlags, "json" | "color">): ContextOptions["output"] {
  return {
    json: flags.json,
    ...createOutput({ ...host, json: flags.json }),
    color: createColor({ flag: flags.color, env: host.env, isTTY: host.stdout.isTTY === true }),
  };
}

function print(host: Host, flags: RootFlags, help: string): number {
  host.stdout.write(flags.json ? `${JSON.stringify({ ok: true, help })}\n` : help);
  return 0;
}

function report(error: unknown, flags: Pick<RootFlags, "json" | "color" | "logLevel">, host: Host): number {
  const failure = toFailure(error);
  const { exit, ...told } = failure;
  if (flags.json) host.stdout.write(`${JSON.stringify({ ok: false, error: told }, null, 2)}\n`);
  else host.stderr.write(humanFailure(failure, outputOf(host, flags).color.red));
  const inDetail = flags.logLevel === "debug" || flags.logLevel === "trace";
  if (failure.type === "internal" && inDetail && error instanceof Error) host.stderr.write(`${error.stack}\n`);
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
