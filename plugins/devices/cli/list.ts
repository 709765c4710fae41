import { type CliContext, defineCommand, type ResultOf } from "svc/sdk";

type Devices = ResultOf<"device.pair.list">;

/** `svc devices list`: who waits first, then who is paired. */
export default defineCommand({
  path: ["devices", "list"],
  summary: "List devices waiting for approval, and paired devices",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli) => {
    const devices = await cli.withClient((client) => client.request("device.pair.list", {}));
    if (cli.json) cli.stdout.json({ ok: true, ...devices });
    else print(cli, devices);
    return 0;
  },
});

function print(cli: CliContext, { pending, paired }: Devices): void {
  const { color, stdout } = cli;
  for (const device of pending) {
    const what = device.isRepair ? "asks for more" : "waits for approval";
    const from = device.remoteIp ? ` from ${device.remoteIp}` : "";
    stdout.line(
      color.yellow(`${device.displayName ?? device.clientId}${from} ${what}: ${device.role} ${scopesOf(device.scopes)}`.trimEnd()),
    );
    stdout.line(`  svc devices approve ${device.requestId}`);
  }
  if (pending.length > 0 && paired.length > 0) stdout.line();
  if (paired.length > 0) cli.stdout.table(["DEVICE", "NAME", "ROLES", "SCOPES", "SEEN", "TOKENS"], paired.map(rowOf));
  else if (pending.length === 0) stdout.line("No device is paired, and none waits.");
}

function rowOf(device: Devices["paired"][number]): string[] {
  const tokens = device.tokens.map(({ role, revokedAtMs }) => (revokedAtMs === undefined ? role : `${role} (revoked)`));
  return [
    device.deviceId,
    device.label ?? device.displayName ?? device.clientId ?? "",
    (device.roles ?? []).join(","),
    scopesOf(device.scopes ?? []),
    device.connected ? "now" : device.lastSeenAtMs === undefined ? "" : formatTime(device.lastSeenAtMs),
    tokens.join(", ") || "none",
  ];
}

/** `2026-03-01 12:03` in local time. */
function formatTime(ms: number): string {
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}

function scopesOf(scopes: readonly string[]): string {
  return scopes.map((scope) => scope.replace("operator.", "")).join(",");
}
