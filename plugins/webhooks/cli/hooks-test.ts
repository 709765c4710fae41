import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type CliContext, type CliValues, commonErrors, defineCommand, messageOf, printableLine, type ResultOf } from "svc/sdk";
import { parseJson, strictJsonLimits } from "svc/sdk/internal";
import { isServed } from "./is-served.ts";
import { openOffline } from "./offline.ts";
import { credentialWords } from "./text.ts";

/** The largest body that any hook may have. */
const MAX_BYTES = 33_554_432;
/** A transform may take 30 s, a list of them no longer. */
const TRIAL_MS = 45_000;

type Tried = ResultOf<"webhooks.test">;

/** `svc hooks test <name> --payload <file>`: everything but the doing. */
export default defineCommand({
  path: ["hooks", "test"],
  summary: "Show what a payload would do, without doing it",
  details:
    "Mapping, transform, templates and every rule are applied as for a request that was let in; nothing is stored, and nobody is woken. A mistake of a transform is shown with file, line and column. Without a running gateway it is done here; whether the agent may use the model is not judged then.",
  examples: [
    ["A payload in a file", "svc hooks test github --payload push.json --header x-github-event=push"],
    ["From a pipe", 'echo \'{"message":"hello"}\' | svc hooks test agent --payload -'],
  ],
  positionals: [{ name: "name", required: true }],
  options: {
    payload: { kind: "string", description: "File with the JSON a sender would post, or - for stdin", placeholder: "file" },
    header: { kind: "string", description: "Header of the request; may be repeated", placeholder: "name=value", repeats: true },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values, [name = ""]) => {
    const trial = { name, payload: await readPayload(values.payload), headers: headersOf(values.header) };
    const tried = (await isServed(cli, values))
      ? await cli.withClient((client) => client.request("webhooks.test", trial, { timeoutMs: limitOf(values) }))
      : await tryHere(cli, trial);
    const isWell = tried.outcome !== "unmapped" && tried.items.every(({ refusal }) => refusal === undefined);
    if (cli.json) cli.stdout.json({ ok: isWell, ...tried });
    else print(cli, tried);
    return isWell ? 0 : 1;
  },
});

function limitOf({ timeout }: CliValues): number {
  return typeof timeout === "number" ? timeout : TRIAL_MS;
}

async function tryHere(cli: CliContext, trial: { name: string; payload: unknown; headers: Record<string, string> }): Promise<Tried> {
  const offline = await openOffline(cli);
  try {
    return JSON.parse(JSON.stringify(await offline.try(trial, cli.signal))) as Tried;
  } finally {
    await offline.close();
  }
}

/** @throws {SvcError} `usage` */
async function readPayload(from: CliValues[string]): Promise<unknown> {
  if (typeof from !== "string") throw commonErrors.usage({ message: "hooks test: --payload is required: a file, or - for stdin" });
  const text = from === "-" ? await readStdin() : await readWhole(from);
  if (text.trim() === "") return {};
  try {
    return parseJson(text, strictJsonLimits);
  } catch (error) {
    throw commonErrors.usage({ message: `--payload ${from}: expected JSON: ${messageOf(error)}` });
  }
}

async function readWhole(path: string): Promise<string> {
  const file = resolve(path);
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new Error(`${size} bytes; expected at most ${MAX_BYTES}`);
    return await readFile(file, "utf8");
  } catch (error) {
    throw commonErrors.usage({ message: `--payload ${path}: cannot be read: ${messageOf(error)}` });
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) throw commonErrors.usage({ message: `--payload -: more than ${MAX_BYTES} bytes` });
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `name=value` or `name: value`, one a line. @throws {SvcError} `usage` */
export function headersOf(given: CliValues[string]): Record<string, string> {
  const lines = typeof given === "string" ? given.split("\n") : [];
  return Object.fromEntries(
    lines.map((line) => {
      const parts = /^([!#$%&'*+.^_`|~\w-]+)\s*[=:]\s*((?:\S.*)?)$/.exec(line);
      if (!parts) throw commonErrors.usage({ message: `--header: expected name=value, got "${line.slice(0, 60)}"` });
      return [(parts[1] as string).toLowerCase(), parts[2] as string];
    }),
  );
}

const outcomes = {
  actions: "",
  nothing: "Nothing is to be done: the sender gets 204.",
  answered: "This is a question of the sender's scheme: it is answered, and nothing is done.",
  unmapped: "No mapping matches: the sender gets 404. svc hooks list shows the mappings.",
} as const;

function print(cli: CliContext, { path, outcome, mapping, preset, verify, items, warnings }: Tried): void {
  const { stdout, stderr, color } = cli;
  const by = mapping === undefined ? "" : `  mapping ${mapping}${preset === undefined ? "" : ` of preset ${preset}`}`;
  const direct = path === "wake" || path === "agent";
  stdout.line(`${color.bold(path)}${by}${mapping !== undefined || direct ? `  opened by ${credentialWords(verify)}` : ""}`);
  if (outcome !== "actions") stdout.line(outcomes[outcome]);
  items.forEach((item, i) => {
    if (items.length > 1) stdout.line(color.bold(`\nItem ${i + 1} of ${items.length}`));
    if (item.refusal) printRefusal(cli, item.refusal);
    else printAction(cli, item.action ?? {});
  });
  for (const warning of warnings) stderr.line(color.yellow(`warning: ${warning}`));
}

function printRefusal({ stdout, color }: CliContext, { status, message, reason }: NonNullable<Tried["items"][number]["refusal"]>): void {
  stdout.line(color.red(`Refused with ${status}: ${message}`));
  if (reason !== undefined && reason !== message) stdout.line(reason);
}

function printAction({ stdout }: CliContext, action: NonNullable<Tried["items"][number]["action"]>): void {
  const { message, text, path: _, mapping: __, isFallbackAgent, ...fields } = action;
  if (isFallbackAgent === true) stdout.line("  The agent that is named is not there; the default one is taken.");
  for (const [field, value] of Object.entries(fields))
    stdout.line(`  ${field.padEnd(15)} ${printableLine(typeof value === "string" ? value : JSON.stringify(value))}`);
  stdout.line();
  stdout.line(String(message ?? text ?? ""));
}
