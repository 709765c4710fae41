import { type CliCommand, defineCommand } from "svc/sdk";

const options = { json: { kind: "flag", description: "One JSON document on stdout" } } as const;
const positionals = [{ name: "request", required: true }];

/** `svc devices approve|reject <request>`: the answer to a device that waits. */
export default [approve(), reject()];

function approve(): CliCommand {
  return defineCommand({
    path: ["devices", "approve"],
    summary: "Approve a waiting device",
    details:
      "Grants what the device asked for: svc devices list shows it. A request waits for five minutes and is renewed by each attempt.",
    options,
    positionals,
    rpc: true,
    run: async (cli, _values, [requestId = ""]) => {
      const { device } = await cli.withClient((client) => client.request("device.pair.approve", { requestId }));
      if (cli.json) cli.stdout.json({ ok: true, requestId, device });
      else
        cli.stdout.line(
          `Approved ${device.displayName ?? device.clientId ?? "device"} (${device.deviceId}); it gets in with its next attempt.`,
        );
      return 0;
    },
  });
}

function reject(): CliCommand {
  return defineCommand({
    path: ["devices", "reject"],
    summary: "Reject a waiting device",
    options,
    positionals,
    rpc: true,
    run: async (cli, _values, [requestId = ""]) => {
      const { deviceId } = await cli.withClient((client) => client.request("device.pair.reject", { requestId }));
      if (cli.json) cli.stdout.json({ ok: true, requestId, deviceId });
      else cli.stdout.line(`Rejected ${deviceId}.`);
      return 0;
    },
  });
}
