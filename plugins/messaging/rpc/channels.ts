import { type Channel, methodOf, type PluginContext } from "svc/sdk";
import type { Accounts } from "../accounts/accounts.ts";
import { channelsStatus } from "../accounts/status.ts";
import { messagingErrors } from "../errors.ts";
import { messagingMethods } from "../protocol-methods.ts";

/** `channels.status`, `channels.start`, `channels.stop`, `channels.logout`. */
export function registerChannelMethods(ctx: PluginContext, accounts: Accounts): void {
  const store = () => ctx.service("store@2");
  const find = (method: string, id: string, accountId: string | undefined): { channel: Channel; accountId: string } => {
    const channel = accounts.channels().find((one) => one.id === id);
    if (!channel) throw messagingErrors.channelNotKnown({ method });
    const chosen = accountId ?? accounts.list(channel)[0]?.accountId;
    if (chosen === undefined) throw messagingErrors.unknownAccount({ channel: id, account: "default" });
    return { channel, accountId: chosen };
  };
  ctx.registerRpc({
    ...methodOf(messagingMethods, "channels.status"),
    handler: (params) => channelsStatus(params, { ctx, accounts, store }),
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "channels.start"),
    async handler({ channel: id, accountId: named }) {
      const { channel, accountId } = find("channels.start", id, named);
      const { phase } = ctx.service("gateway@1").info();
      if (phase !== "ready") throw messagingErrors.channelsOff({ reason: `the gateway is in phase ${phase}` });
      await accounts.start(channel, accountId);
      return { channel: id, accountId, started: accounts.get(id, accountId) !== undefined };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "channels.stop"),
    async handler({ channel: id, accountId: named }) {
      const { channel, accountId } = find("channels.stop", id, named);
      await accounts.stop(channel, accountId);
      ctx.logger.info(`channel ${id}, account ${accountId}: stopped by an operator`);
      return { channel: id, accountId, stopped: accounts.get(id, accountId) === undefined };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "channels.logout"),
    async handler({ channel: id, accountId: named }) {
      const { channel, accountId } = find("channels.logout", id, named);
      await accounts.stop(channel, accountId);
      // No channel of this version signs in by itself: its credentials are the operator's, in the config.
      return { channel: id, accountId, cleared: false };
    },
  });
}
