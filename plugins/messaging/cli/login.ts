import { type CliContext, defineCommand, type EventPayloadOf, printableLine } from "svc/sdk";
import { encode } from "uqr";

const account = { kind: "string", description: "Account (default: the default account of the channel)", placeholder: "id" } as const;
const json = { kind: "flag", description: "One JSON document on stdout" } as const;

type Step = EventPayloadOf<"channels.login">["step"];

const login = defineCommand({
  path: ["channels", "login"],
  summary: "Sign an account in on its platform",
  details:
    "For channels that have a sign-in of their own, by a QR code, an address or a code. Ctrl-C ends it. Other channels have their credentials in the config.",
  examples: [["Link the gateway to a Signal account", "svc channels login signal"]],
  positionals: [{ name: "channel", required: true }],
  options: {
    account,
    limit: { kind: "integer", min: 1, max: 900, description: "Time to finish it (default: 300)", placeholder: "s" },
    json,
  },
  rpc: true,
  run: (cli, values, [channel = ""]) =>
    cli.withClient(async (client) => {
      let loginId: string | undefined;
      const off = client.on("channels.login", (event) => {
        if (event.loginId === loginId) show(cli, event.step);
      });
      const params = {
        channel,
        ...(typeof values.account === "string" ? { accountId: values.account } : {}),
        ...(typeof values.limit === "number" ? { timeoutMs: values.limit * 1_000 } : {}),
      };
      try {
        const end = await client.request("channels.login", params, { onAccepted: (accepted) => (loginId = accepted.loginId) });
        if (end.status !== "done") return 1;
        const { identity, note, started, accountId } = end;
        if (cli.json) cli.stdout.json({ ok: true, ...end });
        else {
          const as = identity === undefined ? "" : ` as ${printableLine(identity)}`;
          cli.stdout.line(`${printableLine(channel)}, account ${printableLine(accountId)}: signed in${as}.`);
          if (note !== undefined) cli.stdout.line(printableLine(note));
          if (started) cli.stdout.line("It is starting; see svc channels status");
        }
        return 0;
      } finally {
        off();
      }
    }),
});

/** Shows a step. With `--json` stdout is for the end alone. */
function show(cli: CliContext, step: Step): void {
  const { line } = cli.json ? cli.stderr : cli.stdout;
  if (step.kind === "url") line(`Open ${printableLine(step.url)}`);
  else if (step.kind === "code") line(`Enter the code ${printableLine(step.code)}`);
  else {
    const drawn = (cli.json ? cli.stderr : cli.stdout).isTTY ? drawCode(step.text) : undefined;
    if (drawn !== undefined) line(`${drawn}\n`);
    line(
      `${drawn === undefined ? "Make a QR code of this text, and scan it" : "Scan this QR code"} with the app: ${printableLine(step.text)}`,
    );
  }
}

/** Draws a QR code with two modules in each character, light ones in the colour of the text; undefined for a text that no code can hold. */
export function drawCode(text: string): string | undefined {
  let rows: boolean[][];
  try {
    rows = encode(text, { border: 2 }).data;
  } catch {
    return undefined;
  }
  const lines: string[] = [];
  for (let y = 0; y < rows.length; y += 2) {
    const [upper = [], lower = upper.map(() => true)] = [rows[y], rows[y + 1]];
    lines.push(upper.map((isDark, x) => (isDark ? (lower[x] ? " " : "▄") : lower[x] ? "▀" : "█")).join(""));
  }
  return lines.join("\n");
}

const logout = defineCommand({
  path: ["channels", "logout"],
  summary: "Stop an account and clear its sign-in",
  details: "Clears what svc channels login has stored, here and on the platform. Credentials in the config stay where they are.",
  positionals: [{ name: "channel", required: true }],
  options: { account, json },
  rpc: true,
  run: (cli, values, [channel = ""]) =>
    cli.withClient(async (client) => {
      const params = { channel, ...(typeof values.account === "string" ? { accountId: values.account } : {}) };
      const { accountId, cleared } = await client.request("channels.logout", params, { timeoutMs: 90_000 });
      if (cli.json) cli.stdout.json({ ok: true, channel, accountId, cleared });
      else {
        const rest = cleared ? "its sign-in is cleared." : "there was no sign-in to clear; credentials in the config stay.";
        cli.stdout.line(`${printableLine(channel)}, account ${printableLine(accountId)}: stopped; ${rest}`);
      }
      return 0;
    }),
});

export default [login, logout];
