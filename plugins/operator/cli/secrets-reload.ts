import { defineCommand } from "svc/sdk";

/** `svc secrets reload`: after a rotation, without a restart. */
export default defineCommand({
  path: ["secrets", "reload"],
  summary: "Resolve all secrets of the running gateway again",
  details:
    "Everything is asked for first and then put in place at once. Who cannot be asked keeps the old value; when the gateway's own secret cannot be had, nothing changes and the exit code is 1.",
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
