import { type CliContext, defineCommand } from "svc/sdk";

/** Time a restarted gateway has to come back before this command gives up; active runs are waited for separately. */
const BACK_WITHIN_MS = 60_000;

export default defineCommand({
  path: ["gateway", "restart"],
  summary: "Restart the running gateway gracefully",
  details: "The gateway first waits for active runs (gateway.reload.deferralTimeoutMs). This command returns when it answers again.",
  examples: [["After a change that needs it", "svc gateway restart"]],
  options: {
    reason: { kind: "string", description: "Reason to give to connected clients", placeholder: "text" },
    "no-wait": { kind: "flag", description: "Return as soon as the restart is scheduled" },
    json: { kind: "flag", description: "Print the result as JSON" },
  },
  rpc: true,
  run: async (cli, values) => {
    const reason = typeof values.reason === "string" ? values.reason : "svc gateway restart";
    const scheduled = await cli.withClient(async (client) => {
      const gone = new Promise<void>((resolve) => client.on("shutdown", () => resolve()));
      const answer = await client.request("gateway.restart.request", { reason });
      if (values["no-wait"] !== true) await gone;
      return answer;
    });
    if (values["no-wait"] !== true) await backAgain(cli);
    if (cli.json) cli.stdout.json(scheduled);
    else cli.stdout.line(values["no-wait"] === true ? "Restart scheduled." : "Restarted.");
    return 0;
  },
});

/** Connects until it works; the last failure is thrown when the time is over. */
async function backAgain(cli: CliContext): Promise<void> {
  const deadline = performance.now() + BACK_WITHIN_MS;
  for (;;) {
    try {
      return await cli.withClient(async () => undefined);
    } catch (error) {
      if (performance.now() > deadline || cli.signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
