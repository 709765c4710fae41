import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { commonErrors, type SvcError } from "../../sdk/errors.ts";
import type { CliCommand, CliContext, CliValues } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { GatewayMaker } from "../boot/running-gateway.ts";
import { readEnvFiles } from "../process/env-files.ts";
import { type ProfilePaths, packageRoot, resolvePaths } from "../process/paths.ts";
import type { StandardOutput } from "../process/standard-streams.ts";
import { supervisedExitCode } from "../process/supervisor.ts";
import { createOutput } from "./cli-output.ts";
import { type Failure, toFailure } from "./failure.ts";
import { gatewayCommand } from "./gateway-command.ts";
import { commandHelp, groupHelp } from "./help.ts";
import type { Interrupt } from "./interrupt.ts";
import { type CommandEntry, longerCommands, matchCommand, unknown } from "./match.ts";
import type { ParsedCommand } from "./parse-command.ts";
import { nearestRootFlag, type RootFlags, takeRootFlags } from "./root-flags.ts";

/** Environment of the program; tests supply their own. */
export interface Host {
  env: Env;
  stdout: { write(text: string): unknown; isTTY?: boolean };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  interrupt(options: { patienceMs?: number | undefined }): Interrupt;
  /** State of the real streams; absent where text goes nowhere that could fail. */
  output?: StandardOutput;
  /** Ends the process at once. */
  exit?(code: number): unknown;
  pluginsRoot?: string;
  /** Folder that is searched for a `.env`; default: the working directory. */
  cwd?: string;
  /** Gives the process variables that it lacks. */
  exportEnv?(env: Env): () => void;
}

/** A command that does not come to an end by itself after a signal is not waited for longer. */
const PATIENCE_MS = 3_000;
/** Exit code of a command that ended because nobody reads its stdout: 128 + SIGPIPE, as shells know it. */
const EXIT_UNREAD = 141;
const gatewayPaths = new Set(["gateway", "gateway run"]);

type Output = Pick<CliContext, "json" | "stdout" | "stderr" | "color">;

/** Input for creating a command's context. */
export interface ContextOptions {
  command: CliCommand;
  values: CliValues;
  env: Env;
  paths: ProfilePaths;
  version: string;
  signal: AbortSignal;
  output: Output;
}

/** Parts of the program besides these rules: its manifest reader, parser, colours and the kernel. */
export interface ProgramParts {
  readCommands(paths: ProfilePaths, pluginsRoot?: string): Promise<CommandEntry[]>;
  loadCommand(entry: CommandEntry & { module: string }, where: { paths: ProfilePaths; env: Env }): Promise<CliCommand>;
  parseCommand(command: CliCommand, args: readonly string[]): ParsedCommand;
  createContext(options: ContextOptions): CliContext;
  createColor(options: { flag: boolean; env: Env; isTTY: boolean }): CliContext["color"];
  maker(): Promise<GatewayMaker>;
}

/** The `svc` program: one command line → exit code. Never rejects: every failure becomes a message and an exit code. */
export function createProgram(parts: ProgramParts): (argv: readonly string[], host: Host) => Promise<number> {
  return async (argv, host) => {
    const to: To = { parts, host, output: outputOf(parts, host, { json: argv.includes("--json"), color: true }) };
    let flags: RootFlags | undefined;
    try {
      const taken = takeRootFlags(argv);
      flags = taken.flags;
      to.output = outputOf(parts, host, flags);
      return await dispatch(taken.rest, flags, to);
    } catch (error) {
      return report(error, to.output, flags);
    }
  };
}

interface To {
  parts: ProgramParts;
  host: Host;
  output: Output;
}

/** The environment of the program with what the `.env` files add to it. */
interface FileEnv {
  /** As the files are now. */
  read(): Promise<Env>;
  /** The same, and the process has it from then on, for the plugins it will load. */
  take(): Promise<Env>;
}

async function dispatch(rest: readonly string[], flags: RootFlags, to: To): Promise<number> {
  const wantsHelp = flags.help || rest[0] === "help";
  const paths = resolvePaths({ env: to.host.env, profile: flags.profile });
  const commands = await to.parts.readCommands(paths, to.host.pluginsRoot);
  const match = matchCommand(commands, rest[0] === "help" ? rest.slice(1) : rest);
  if (match.kind === "unknown") throw match.typed === "" && rest[0]?.startsWith("-") ? misplacedFlag(rest[0]) : unknownCommand(match);
  if (match.kind === "group") {
    if (wantsHelp) return print(to, groupHelp(match.words, match.members));
    const next = match.members.map((m) => m.words.slice(match.words.length).join(" ")).join(", ");
    throw commonErrors.usage({ message: `${match.words.join(" ")}: expected one of ${next}` });
  }
  const fileEnv = fileEnvOf(to.host, paths.stateDir, to.output);
  const command = await load(match.entry, commands, { flags, where: { paths, env: to.host.env }, parts: to.parts, fileEnv, host: to.host });
  if (wantsHelp) return print(to, commandHelp(command, longerCommands(commands, match.entry.words)));
  const first = match.args[0];
  if (first !== undefined && !first.startsWith("-") && !command.positionals?.length) {
    throw unknownCommand(unknown(commands, [...match.entry.words, ...match.args.filter((a) => !a.startsWith("-"))]));
  }
  return execute(command, match.args, flags, { ...to, fileEnv });
}

async function execute(command: CliCommand, args: readonly string[], flags: RootFlags, to: To & { fileEnv: FileEnv }): Promise<number> {
  const { host, output, parts } = to;
  if (flags.json && !command.options?.json) throw commonErrors.usage({ message: `${command.path.join(" ")}: has no --json` });
  const parsed = parts.parseCommand(command, args);
  const { values } = parsed;
  if (flags.json) values.json = true;
  const paths = resolvePaths({ env: host.env, profile: flags.profile });
  // The gateway ends when it has drained, however long that takes, and a stop that was asked for is a success.
  const isGateway = gatewayPaths.has(command.path.join(" "));
  const interrupt = host.interrupt(isGateway ? {} : { patienceMs: PATIENCE_MS });
  const exitCode = isGateway ? (code: number) => supervisedExitCode(code, host.env) : interrupt.exitCode;
  // The gateway outlives its terminal and whoever reads its log.
  const unread = isGateway ? undefined : endUnread(host);
  const signal = unread ? AbortSignal.any([interrupt.signal, unread.signal]) : interrupt.signal;
  try {
    const env = await to.fileEnv.take();
    const context = parts.createContext({ command, values, env, paths, version: await version(), output, signal });
    const code = await parsed.run(context);
    await unread?.check();
    return exitCode(code);
  } catch (error) {
    // A person who pressed Ctrl-C knows why the connection closed.
    if (!isGateway && interrupt.signal.aborted && !output.json) return exitCode(1);
    if (unread?.signal.aborted && host.output?.fault() === undefined) return exitCode(EXIT_UNREAD);
    return exitCode(report(error, output, flags));
  } finally {
    unread?.dispose();
    interrupt.dispose();
  }
}

/** A command whose stdout fails is asked to end, like by Ctrl-C; one that had finished by then keeps its own exit code. */
function endUnread({ output, exit }: Host) {
  if (!output) return undefined;
  const { closed: signal } = output;
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer = setTimeout(() => exit?.(EXIT_UNREAD), PATIENCE_MS).unref();
  };
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  return {
    signal,
    /** @throws {SvcError} when what was written did not get there, though somebody wants it */
    async check() {
      await output.flushed();
      const code = output.fault();
      if (code !== undefined) throw commonErrors.failed({ message: `stdout cannot be written: ${code}; the output is not complete` });
    },
    dispose() {
      clearTimeout(timer);
      signal.removeEventListener("abort", begin);
    },
  };
}

function fileEnvOf(host: Host, stateDir: string, output: Output): FileEnv {
  // Variables the program was started with; the process gains those of the files later.
  const own = { ...host.env };
  let takeBack: (() => void) | undefined;
  const readFiles = () => readEnvFiles({ env: own, cwd: host.cwd ?? process.cwd(), stateDir });
  return {
    read: async () => ({ ...own, ...(await readFiles()).added }),
    async take() {
      const { added, problems } = await readFiles();
      for (const problem of problems) output.stderr.line(`svc: not read: ${problem}`);
      takeBack?.();
      takeBack = host.exportEnv?.(added);
      return { ...own, ...added };
    },
  };
}

/** A restart in the same process is a start: it goes by the `.env` files as they are then. */
function withFileEnv(maker: GatewayMaker, fileEnv: FileEnv): GatewayMaker {
  return {
    ...maker,
    async create(options) {
      const env = options.restartedAt === undefined ? options.env : await fileEnv.take();
      return maker.create({ ...options, env, readEnv: fileEnv.read });
    },
  };
}

interface LoadDeps {
  flags: RootFlags;
  where: { paths: ProfilePaths; env: Env };
  parts: ProgramParts;
  fileEnv: FileEnv;
  host: Host;
}

async function load(
  entry: CommandEntry,
  commands: readonly CommandEntry[],
  { flags, where, parts, fileEnv, host }: LoadDeps,
): Promise<CliCommand> {
  if (isLoadable(entry)) return parts.loadCommand(entry, where);
  const hints = commands.filter(isLoadable).find((c) => c.words.join(" ") === "gateway hints");
  const announce = hints && (async (cli: CliContext) => (await parts.loadCommand(hints, where)).run(cli, {}, []));
  return gatewayCommand({
    path: entry.words,
    logLevel: flags.logLevel,
    announce,
    output: host.output,
    maker: async () => withFileEnv(await parts.maker(), fileEnv),
  });
}

function isLoadable(entry: CommandEntry): entry is CommandEntry & { module: string } {
  return entry.module !== undefined;
}

function outputOf(parts: ProgramParts, host: Host, flags: Pick<RootFlags, "json" | "color">): Output {
  const color = parts.createColor({ flag: flags.color, env: host.env, isTTY: host.stdout.isTTY === true });
  return { json: flags.json, ...createOutput({ ...host, json: flags.json, bold: color.bold }), color };
}

function print({ output }: To, help: string): number {
  if (output.json) output.stdout.json({ ok: true, help });
  else output.stdout.write(help);
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

/** A line that begins with a flag that is not the program's own. */
function misplacedFlag(flag: string): SvcError {
  const near = nearestRootFlag(flag);
  const hint = near ? `did you mean: ${near}` : "flags of a command follow it; see svc --help";
  return commonErrors.usage({ message: `unknown flag ${flag} before the command`, hint });
}

function unknownCommand(match: { typed: string; suggestion: string | undefined }): SvcError {
  const message = match.typed === "" ? "expected a command; see svc --help" : `unknown command "${match.typed}"`;
  const hint = match.suggestion ? `did you mean: svc ${match.suggestion}` : "see svc --help";
  return commonErrors.usage(match.typed === "" ? { message } : { message, hint });
}

async function version(): Promise<string> {
  return (JSON.parse(await readFile(join(packageRoot(), "package.json"), "utf8")) as { version: string }).version;
}
