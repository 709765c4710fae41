import { commonErrors, defineCommand } from "svc/sdk";
import { collectStatus, isWell } from "../status/collect.ts";
import { statusDocument } from "../status/document.ts";
import { printStatus } from "../status/lines.ts";

/** `svc gateway status`: works with a dead gateway and with an invalid config, and writes nothing. */
export default defineCommand({
  path: ["gateway", "status"],
  summary: "Show whether the gateway is running, reachable and healthy",
  details: "Exits with 1 when the probe fails. --deep looks for other services of the system; it asks no more of the gateway.",
  examples: [
    ["Prove that a read-scope call works", "svc gateway status --require-rpc"],
    ["Find services of other installations", "svc gateway status --deep"],
  ],
  options: {
    "require-rpc": { kind: "flag", description: "Also call health, and fail when that fails" },
    "no-probe": { kind: "flag", description: "Do not connect" },
    deep: { kind: "flag", description: "Scan the system for other gateway services" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const requireRpc = values["require-rpc"] === true;
    const connects = values["no-probe"] !== true;
    if (!connects && requireRpc) throw commonErrors.usage({ message: "gateway status: --no-probe and --require-rpc exclude each other" });
    const findings = await collectStatus(cli, { requireRpc, connects, deep: values.deep === true });
    if (cli.json) cli.stdout.json(statusDocument(cli, findings));
    else printStatus(cli, findings);
    return isWell(findings) ? 0 : 1;
  },
});
