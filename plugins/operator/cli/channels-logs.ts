import { commonErrors, defineCommand } from "svc/sdk";
import { logOptions, showLog } from "./logs.ts";

/** `svc channels logs [channel]`: what the accounts of channels log is below this part of the gateway. */
export default defineCommand({
  path: ["channels", "logs"],
  summary: "Show what the log says about channels",
  details: "All that concerns messages, one channel, or one account of it. As svc logs, through the running gateway or from the file.",
  examples: [
    ["What an account does", "svc channels logs irc --account work --follow"],
    ["What went wrong", "svc channels logs --level warn"],
  ],
  options: { account: { kind: "string", description: "Only this account of the channel", placeholder: "id" }, ...logOptions },
  positionals: [{ name: "channel", required: false }],
  rpc: true,
  run: (cli, values, [channel]) => {
    const { account } = values;
    if (account !== undefined && channel === undefined) throw commonErrors.usage({ message: "channels logs: --account needs a channel" });
    return showLog(cli, values, ["plugin/messaging", channel, account].filter((part) => part !== undefined).join("/"));
  },
});
