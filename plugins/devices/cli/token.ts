import { type CliCommand, type CliValues, commonErrors, defineCommand } from "svc/sdk";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const role = { kind: "string", description: "Whose token: operator (default) or node", choices: ["operator", "node"] } as const;
const positionals = [{ name: "device", required: true }];

/** `svc devices rotate|revoke <device>`: the token of one role of a device. */
export default [rotate(), revoke()];

function rotate(): CliCommand {
  return defineCommand({
    path: ["devices", "rotate"],
    summary: "Replace the token of a device",
    details:
      "The old token is revoked at once, and the device's connections are closed. Only the device itself receives the new one: its own command stores it; any other device gets it when it next signs in with the gateway's secret.",
    examples: [["Fewer rights from now on", "svc devices rotate 56475aa7… --scopes read"]],
    options: { role, scopes: { kind: "string", description: "Comma-separated; no more than before", placeholder: "read,write" }, json },
    positionals,
    rpc: true,
    run: async (cli, values, [deviceId = ""]) => {
      const scopes = scopesOf(values.scopes);
      const params = { deviceId, role: roleOf(values), ...(scopes ? { scopes } : {}) };
      const rotated = await cli.withClient((client) => client.request("device.token.rotate", params));
      const { token, ...shown } = rotated;
      if (cli.json) cli.stdout.json({ ok: true, ...shown, stored: token !== undefined });
      else cli.stdout.line(`${deviceId}: the ${shown.role} token was replaced${token === undefined ? "." : " and stored here."}`);
      return 0;
    },
  });
}

function revoke(): CliCommand {
  return defineCommand({
    path: ["devices", "revoke"],
    summary: "Revoke the token of a device, or remove the device",
    details:
      "The device's connections end at once. It stays paired: who holds the gateway's secret too gets a new token; --forget ends that as well.",
    options: { role, forget: { kind: "flag", description: "Remove the device; it then needs a new approval" }, json },
    positionals,
    rpc: true,
    run: async (cli, values, [deviceId = ""]) => {
      const forget = values.forget === true;
      const ended = await cli.withClient((client) =>
        forget
          ? client.request("device.pair.remove", { deviceId })
          : client.request("device.token.revoke", { deviceId, role: roleOf(values) }),
      );
      if (cli.json) cli.stdout.json({ ok: true, ...ended });
      else cli.stdout.line(forget ? `${deviceId} is forgotten.` : `${deviceId}: the ${roleOf(values)} token is revoked.`);
      return 0;
    },
  });
}

function roleOf({ role: given }: CliValues): "operator" | "node" {
  return given === "node" ? "node" : "operator";
}

const scopeNames = ["read", "write", "approvals", "pairing", "admin"] as const;

/** `read,write` or `operator.read,operator.write`. @throws {SvcError} `usage` */
function scopesOf(given: CliValues[string]): Array<`operator.${(typeof scopeNames)[number]}`> | undefined {
  if (typeof given !== "string") return undefined;
  return given.split(",").map((text) => {
    const name = scopeNames.find((scope) => scope === text.trim().replace(/^operator\./, ""));
    if (!name) throw commonErrors.usage({ message: `--scopes: expected some of ${scopeNames.join(", ")}, got "${text.trim()}"` });
    return `operator.${name}` as const;
  });
}
