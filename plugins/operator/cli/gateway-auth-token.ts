import { randomBytes } from "node:crypto";
import { type CliContext, commonErrors, defineCommand, isRecord } from "svc/sdk";
import { valueAt, withValueAt } from "svc/sdk/internal";

const PATH = ["gateway", "auth", "token"] as const;
/** 32 random bytes, 43 characters. */
const TOKEN_BYTES = 32;

/** `svc gateway auth-token`: where the token of this profile's gateway comes from; shown to a person only, or replaced. */
export default defineCommand({
  path: ["gateway", "auth-token"],
  summary: "Show or replace the token of the gateway",
  details:
    "Without a flag it says where the token comes from. --show prints it to a terminal and nowhere else; a script reads it by svc dashboard --secret. --rotate writes a new random one into the config file; a gateway that runs takes it over and closes connections that used the old one.",
  examples: [
    ["A new token", "svc gateway auth-token --rotate"],
    ["To copy it to another client", "svc gateway auth-token --show"],
  ],
  options: {
    show: { kind: "flag", description: "Print the token; only to a terminal" },
    rotate: { kind: "flag", description: "Replace it with a new random one" },
    json: { kind: "flag", description: "One JSON document on stdout; never the token" },
  },
  run: async (cli, values) => {
    if (values.show === true && (cli.json || !cli.stdout.isTTY)) {
      throw commonErrors.failed({
        message: "gateway auth-token: --show prints the token to a terminal only; run it there, without --json and without a pipe",
      });
    }
    if (values.rotate === true) await rotate(cli);
    return tell(cli, { isShown: values.show === true, isNew: values.rotate === true });
  },
});

type Source = "none" | "config" | "variable" | "secret-ref" | "env";

/** Configured token and its effective value, as a start of the gateway takes it. */
async function find(cli: CliContext): Promise<{ source: Source; token?: string; mode: string | undefined }> {
  const loaded = await (await cli.configFile()).load();
  const mode = loaded.config?.gateway.auth.mode;
  const written = valueAt(loaded.source, PATH);
  if (isRecord(written)) return { source: "secret-ref", mode };
  if (typeof written === "string") {
    const token = valueAt(loaded.resolved, PATH);
    return { source: /\$\{/.test(written) ? "variable" : "config", mode, ...(typeof token === "string" ? { token } : {}) };
  }
  const token = cli.env.SVC_GATEWAY_TOKEN?.trim();
  return token ? { source: "env", token, mode } : { source: "none", mode };
}

/** @throws {SvcError} `failed` for a token that is kept elsewhere, and where another mode is in force; `config-*` */
async function rotate(cli: CliContext): Promise<void> {
  const { source, mode } = await find(cli);
  const refuse = (reason: string) => commonErrors.failed({ message: `gateway auth-token: ${reason}` });
  if (mode !== undefined && mode !== "token") throw refuse(`gateway.auth.mode is ${mode}, which takes no token; set it to token first`);
  if (source !== "config" && source !== "none") {
    throw refuse(`it is taken from ${places[source]}; expected a token in the config file; change it there, then restart the gateway`);
  }
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const apply = (tree: unknown) => withValueAt(tree, PATH, token);
  const file = await cli.configFile();
  await file.write({ kind: "edit", apply }, { onWarning: (text) => cli.stderr.line(text) });
}

const places: Readonly<Record<Source, string>> = {
  none: "nowhere",
  config: "the config file (gateway.auth.token)",
  variable: "a variable that the config names",
  "secret-ref": "a secret provider",
  env: "SVC_GATEWAY_TOKEN",
};

async function tell(cli: CliContext, { isShown, isNew }: { isShown: boolean; isNew: boolean }): Promise<number> {
  const { source, token } = await find(cli);
  const isThere = token !== undefined || source === "secret-ref";
  if (cli.json) {
    cli.stdout.json({ ok: isThere, source, rotated: isNew });
    return isThere ? 0 : 1;
  }
  if (isNew) cli.stdout.line("The token was replaced; the old one opens nothing any more. Other clients need the new one.");
  else if (isThere) cli.stdout.line(`The token comes from ${places[source]}.`);
  if (isShown && token !== undefined) cli.stdout.line(token);
  else if (isShown && source === "secret-ref") cli.stdout.line("It is shown by that provider, not here.");
  else if (token !== undefined) cli.stdout.line("svc gateway auth-token --show prints it to a terminal.");
  if (!isThere) cli.stderr.line(cli.color.yellow("There is no token; svc gateway auth-token --rotate makes one."));
  return isThere ? 0 : 1;
}
