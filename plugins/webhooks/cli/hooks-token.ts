import { randomBytes } from "node:crypto";
import { type CliContext, commonErrors, defineCommand, isRecord } from "svc/sdk";
import { valueAt, withValueAt } from "svc/sdk/internal";
import { isServed } from "./is-served.ts";

const PATH = ["hooks", "token"] as const;
/** 32 random bytes, 43 characters. */
const TOKEN_BYTES = 32;

/** `svc hooks token`: where senders' token comes from; shown to a person only, or replaced. */
export default defineCommand({
  path: ["hooks", "token"],
  summary: "Show or replace the token that senders use",
  details:
    "Without a flag it says where the token comes from. --show prints it to a terminal and nowhere else. --rotate writes a new random one into the config file; the old one ends at once, so every sender has to be given the new one.",
  examples: [
    ["A first or a new token", "svc hooks token --rotate"],
    ["To copy it to a sender", "svc hooks token --show"],
  ],
  options: {
    show: { kind: "flag", description: "Print the token; only to a terminal" },
    rotate: { kind: "flag", description: "Replace it with a new random one" },
    json: { kind: "flag", description: "One JSON document on stdout; never the token" },
  },
  rpc: true,
  run: async (cli, values) => {
    if (typeof values.url === "string") {
      throw commonErrors.usage({ message: "hooks token: works on the config of this machine; leave out --url" });
    }
    if (values.show === true && (cli.json || !cli.stdout.isTTY)) {
      throw commonErrors.failed({
        message: "hooks token: --show prints the token to a terminal only; run it there, without --json and without a pipe",
      });
    }
    if (values.rotate === true) await rotate(cli, await isServed(cli, values));
    return tell(cli, { isShown: values.show === true, isNew: values.rotate === true });
  },
});

/** Configured token and its effective value. */
interface Found {
  source: "none" | "config" | "variable" | "secret-ref";
  /** Absent: there is none, or it stands with a secret provider. */
  token?: string;
}

async function find(cli: CliContext): Promise<Found> {
  const loaded = await (await cli.configFile()).load();
  const written = valueAt(loaded.source, PATH);
  if (written === undefined) return { source: "none" };
  if (isRecord(written)) return { source: "secret-ref" };
  const token = valueAt(loaded.resolved, PATH);
  const source = typeof written === "string" && /\$\{/.test(written) ? "variable" : "config";
  return { source, ...(typeof token === "string" ? { token } : {}) };
}

/** Rotates the token through the one write pipeline: in the running gateway, or here. @throws {SvcError} `failed` for a token that is kept elsewhere; `config-*` */
async function rotate(cli: CliContext, isLive: boolean): Promise<void> {
  const { source } = await find(cli);
  if (source === "variable" || source === "secret-ref") {
    const where = source === "variable" ? "an environment variable" : "a secret provider";
    throw commonErrors.failed({
      message: `hooks token: the config takes it from ${where}; expected a token in the config file; change it there, then run svc secrets reload`,
    });
  }
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const file = await cli.configFile();
  const apply = (tree: unknown) => withValueAt(tree, PATH, token);
  if (!isLive) {
    await file.write({ kind: "edit", apply }, { onWarning: (text) => cli.stderr.line(text) });
    return;
  }
  await cli.withClient(async (client) => {
    const { hash } = await client.request("config.get", {});
    const { issues } = await client.request("config.patch", { raw: JSON.stringify({ hooks: { token } }), baseHash: hash });
    if (issues)
      throw commonErrors.failed({ message: `hooks token: written, but not applied: ${issues.map((one) => one.message).join("; ")}` });
  });
}

const sources = {
  none: "There is no token.",
  config: "The token is in the config file.",
  variable: "The token comes from an environment variable.",
  "secret-ref": "The token is kept by a secret provider.",
} as const;

async function tell(cli: CliContext, { isShown, isNew }: { isShown: boolean; isNew: boolean }): Promise<number> {
  const { source, token } = await find(cli);
  const isUsable = token !== undefined || source === "secret-ref";
  if (cli.json) {
    cli.stdout.json({ ok: isUsable, source, rotated: isNew });
    return isUsable ? 0 : 1;
  }
  if (isNew) {
    cli.stdout.line("The token was replaced; the old one opens nothing any more.");
    cli.stdout.line("Every sender needs the new one, as `Authorization: Bearer <token>` or `X-SVC-Token: <token>`;");
    cli.stdout.line("paths that a signature opens instead of the token go on as they are.");
  } else cli.stdout.line(sources[source]);
  if (isShown && token !== undefined) cli.stdout.line(token);
  else if (isShown && source === "secret-ref") cli.stdout.line("It is shown by that provider, not here.");
  else if (token !== undefined) cli.stdout.line("svc hooks token --show prints it to a terminal.");
  if (!isUsable) cli.stderr.line(cli.color.yellow(source === "none" ? "svc hooks token --rotate makes one." : "The variable is not set."));
  return isUsable ? 0 : 1;
}
