import { spawn } from "node:child_process";
import { type CliContext, type CliTarget, commonErrors, defineCommand } from "svc/sdk";
import { hasGateway } from "svc/sdk/internal";
import { pageUrl } from "./page-url.ts";

/** `svc dashboard`: the control UI's address with the token in its fragment, which no server ever sees. */
export default defineCommand({
  path: ["dashboard"],
  summary: "Open the control UI, signed in",
  details: "Prints the address; on a desktop it is opened too. The token in it is the key to the gateway: treat it like a password.",
  examples: [
    ["Only print it", "svc dashboard --no-open"],
    ["The secret for a script", 'curl -H "Authorization: Bearer $(svc dashboard --secret)" http://127.0.0.1:18789/v1/models'],
  ],
  options: {
    "no-open": { kind: "flag", description: "Print only" },
    secret: { kind: "flag", description: "Print only the gateway's secret, for $(…)" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const target = await cli.target();
    if (values.secret === true) return printSecret(cli, target);
    const url = await signedInUrl(cli, target);
    const opened = values["no-open"] !== true && !cli.json && cli.stdout.isTTY && open(url, cli.env);
    if (cli.json) cli.stdout.json({ ok: true, url, opened });
    else cli.stdout.line(url);
    if (!cli.json && target.password) cli.stderr.line("Sign in there with the gateway password.");
    if (target.portSource !== "flag" && !(await hasGateway(cli))) cli.stderr.line(`No gateway runs here yet; ${await cli.startAdvice()}`);
    return 0;
  },
});

async function signedInUrl(cli: CliContext, target: CliTarget): Promise<string> {
  if (target.ssh) {
    const message = `the control UI is behind ssh ${target.ssh.target}; forward a port and open it there: ssh -N -L ${target.port}:${target.host}:${target.port} ${target.ssh.target}`;
    throw commonErrors.failed({ message });
  }
  const { config } = await cli.config();
  const page = pageUrl(target.url, config);
  if (page === undefined) throw commonErrors.failed({ message: "the control UI is off; set gateway.controlUi.enabled to true" });
  return target.token ? `${page}#token=${encodeURIComponent(target.token)}` : page;
}

function printSecret(cli: CliContext, target: CliTarget): number {
  const secret = target.token ?? target.password;
  if (secret === undefined) {
    throw commonErrors.failed({ message: missingSecret(target) });
  }
  if (cli.json) cli.stdout.json({ ok: true, secret, source: target.secretSource });
  else cli.stdout.line(secret);
  return 0;
}

function missingSecret({ authMode }: CliTarget): string {
  if (authMode === "none") return "there is no gateway secret: gateway.auth.mode is none, so callers need none";
  const name = authMode === "password" || authMode === "trusted-proxy" ? "password" : "token";
  return `no gateway ${name} was found; set gateway.auth.${name}, or SVC_GATEWAY_${name.toUpperCase()}`;
}

/** Starts the desktop's own opener and forgets it; false where there is no desktop. */
function open(url: string, env: CliContext["env"]): boolean {
  const opener = openerFor(process.platform, env);
  if (!opener) return false;
  const child = spawn(opener.command, [...opener.args, url], { detached: true, stdio: "ignore" });
  child.on("error", () => undefined); // the address is printed anyway
  child.unref();
  return true;
}

/** The program that opens an address on this system. */
export function openerFor(platform: NodeJS.Platform, env: CliContext["env"]): { command: string; args: string[] } | undefined {
  if (platform === "darwin") return { command: "open", args: [] };
  if (platform === "win32") return { command: "rundll32", args: ["url.dll,FileProtocolHandler"] };
  return env.DISPLAY || env.WAYLAND_DISPLAY ? { command: "xdg-open", args: [] } : undefined;
}
