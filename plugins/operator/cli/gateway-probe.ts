import { type CliContext, defineCommand, type JsonObject } from "svc/sdk";
import { type ProbeTarget, probeTargets } from "../probe/targets.ts";
import { judge, type ProbedTarget } from "../probe/verdict.ts";
import { probe } from "./probe.ts";

/** `svc gateway probe`: every gateway that this host could mean, asked one after the other as to reachability, capability and a read. */
export default defineCommand({
  path: ["gateway", "probe"],
  summary: "Ask every gateway this host knows, and warn when several answer",
  details:
    "Asks the address given with --url, gateway.remote.url, this profile's own port, and the ports of gateways of other profiles. Exits with 1 when none answers.",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli) => {
    const targets = await probeTargets(cli);
    const probed = await Promise.all(targets.map((target) => probeOne(cli, target)));
    const verdict = judge(probed);
    if (cli.json) cli.stdout.json({ ...verdict, targets: probed.map(documentOf) });
    else print(cli, probed, verdict.warnings);
    return verdict.ok ? 0 : 1;
  },
});

async function probeOne(cli: CliContext, target: ProbeTarget): Promise<ProbedTarget> {
  return { target, result: await probe(cli, { requireRpc: true, target: target.connection }) };
}

function documentOf({ target: { id, connection }, result }: ProbedTarget): JsonObject {
  const { ok, latencyMs = null, reason, rpc, auth, bootId, serverVersion } = result;
  return {
    id,
    url: connection.url,
    connect: { ok, latencyMs, error: reason },
    read: { ok: rpc?.ok === true },
    auth: auth ? { role: auth.role, scopes: [...auth.scopes] } : null,
    server: bootId === undefined ? null : { bootId, version: serverVersion ?? null },
  };
}

function print(
  { color, stdout, stderr }: CliContext,
  probed: readonly ProbedTarget[],
  warnings: ReturnType<typeof judge>["warnings"],
): void {
  const tint = (ok: boolean, text: string) => (ok ? color.green(text) : color.red(text));
  for (const { target, result } of probed) {
    const { ok, latencyMs, reason, capability, rpc, serverVersion } = result;
    stdout.line(color.bold(`${target.id}  ${target.connection.url}`));
    stdout.line(`  Connect: ${tint(ok, ok ? `ok (${latencyMs}ms)` : `failed (${reason})`)}`);
    stdout.line(`  Capability: ${capability.replaceAll("_", "-")}`);
    stdout.line(`  Read probe: ${ok && rpc ? tint(rpc.ok, rpc.result) : "skipped"}`);
    if (ok) stdout.line(`  Gateway: ${target.connection.host} v${serverVersion}`);
  }
  for (const { code, message } of warnings) stderr.line(color.yellow(`${code}: ${message}`));
}
