import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { installErrors } from "../errors.ts";

type Env = Readonly<Record<string, string | undefined>>;

const LIMIT_MS = 600_000;
const MAX_OUTPUT = 1_048_576;
const MAX_LINE = 8_192;
/** Variables npm needs to find itself, its settings and the network; no secret of the gateway, and nothing that loads code. */
const passed =
  /^(PATH|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|TMPDIR|TEMP|TMP|LANG|LC_\w+|(HTTPS?|NO|ALL)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|NPM_CONFIG_\w+)$/i;

/**
 * Runs the operator's npm with scripts off, without a shell, at most 10 min.
 * @param options.onPackage called when a package has come, from the registry or from npm's own cache
 * @returns what it wrote to stdout
 * @throws {SvcError} `npm-failed` with the last thing npm complained about
 */
export async function runNpm(
  args: readonly string[],
  options: { cwd: string; env: Env; signal: AbortSignal; onPackage?: () => void },
): Promise<string> {
  const command = args[0] as string;
  const [file, ...before] = await findNpm(options.env);
  const fixed = [
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    `--loglevel=${options.onPackage ? "http" : "error"}`,
  ];
  const child = spawn(file as string, [...before, ...args, ...fixed], {
    cwd: options.cwd,
    env: childEnv(options.env),
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(LIMIT_MS)]),
    killSignal: "SIGKILL",
  });
  const out = collect(child.stdout);
  const complaints = collect(child.stderr);
  if (options.onPackage) countPackages(child.stderr, options.onPackage);
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) => reject(installErrors.npmFailed({ command, reason }, { cause }));
    child.on("error", (error) =>
      error.name === "AbortError" ? fail(options.signal.aborted ? "stopped" : "not done after 10 min") : fail(error.message, error),
    );
    child.once("close", (code) => (code === 0 ? resolve(out.text) : fail(lastComplaint(complaints.text) ?? `exit code ${code}`)));
  });
}

/** The allow-listed environment of the child. */
export function childEnv(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((e): e is [string, string] => e[1] !== undefined && passed.test(e[0])));
}

/** The first `npm` on the path as an absolute name, else the one that came with this Node, run by it. */
async function findNpm(env: Env): Promise<string[]> {
  const folders = process.platform === "win32" ? [] : (env.PATH ?? "").split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    if (await isExecutable(join(folder, "npm"))) return [join(folder, "npm")];
  }
  const here = dirname(process.execPath);
  for (const cli of [join(here, "node_modules/npm/bin/npm-cli.js"), join(here, "../lib/node_modules/npm/bin/npm-cli.js")]) {
    if (await isExecutable(cli, constants.R_OK)) return [process.execPath, cli];
  }
  throw installErrors.npmFailed({
    command: "--version",
    reason: "there is no npm on the PATH; install it (it comes with Node.js)",
  });
}

async function isExecutable(path: string, mode = constants.X_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

function collect(stream: NodeJS.ReadableStream): { readonly text: string } {
  const collected = { text: "" };
  stream.setEncoding("utf8");
  stream.on("error", () => undefined); // its end is judged by `close` of the child
  stream.on("data", (chunk: string) => {
    collected.text = (collected.text + chunk).slice(-MAX_OUTPUT);
  });
  return collected;
}

/** npm says on a line of its own which archive it got. */
function countPackages(stream: NodeJS.ReadableStream, onPackage: () => void): void {
  let rest = "";
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = (lines.pop() ?? "").slice(-MAX_LINE);
    for (const line of lines) if (/^npm http (fetch GET 200|cache) .*\.tgz/.test(line)) onPackage();
  });
}

/** The line that says what is wrong; npm puts the place of its log after it, and a registry's address may hold credentials. */
function lastComplaint(text: string): string | undefined {
  const lines = text
    .split("\n")
    .filter((line) => !line.startsWith("npm http "))
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, "").trim())
    .filter((line) => line !== "" && !/complete log of this run|^(code|syscall|errno) \S+$|^\/.*\.log$/.test(line));
  return lines[0]?.replace(/\/\/[^/@\s]*@/g, "//***@").slice(0, 300);
}
