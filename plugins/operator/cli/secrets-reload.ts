import { defineCommand } from "svc/sdk";

/** `svc secrets reload`: after a rotation, without a restart. */
export default defineCommand({
  path: ["secrets", "reload"],
  summary: "Resolve all secrets of the running gateway again",
  details:
    "All secrets are resolved first and then swapped at once. A secret that cannot be resolved keeps its old value; if the gateway's own secret cannot be resolved, nothing changes and the exit code is 1.",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli) => {
    const reloaded = await cli.withClient((client) => client.request("secrets.reload", {}));
    if (cli.json) {
      cli.stdout.json(reloaded);
      return 0;
    }
    const { color, stdout } = cli;
    const { resolved, changedOwners, stale, unavailable } = reloaded;
    stdout.line(
      `${resolved} secret(s) resolved. ${changedOwners.length === 0 ? "Nothing changed." : `Changed: ${changedOwners.join(", ")}`}`,
    );
    if (stale.length > 0) stdout.line(color.yellow(`Still with the old value: ${stale.join(", ")}`));
    if (unavailable.length > 0) stdout.line(color.red(`Not available: ${unavailable.join(", ")}; see svc secrets audit`));
    return 0;
  },
});
