import { randomUUID } from "node:crypto";
import { type Channel, methodOf, type PluginContext } from "svc/sdk";
import type { Accounts } from "../accounts/accounts.ts";
import { Logins } from "../accounts/logins.ts";
import { channelsStatus } from "../accounts/status.ts";
import { messagingErrors } from "../errors.ts";
import { messagingMethods } from "../protocol-methods.ts";

/** Time for a person to follow the steps of a sign-in. */
const LOGIN_MS = 300_000;
/** Account that signs in where the section has none yet. */
const NEW_ACCOUNT = "default";

/** `channels.status`, `channels.start`, `channels.stop`, `channels.login`, `channels.logout`. */
export function registerChannelMethods(ctx: PluginContext, accounts: Accounts): void {
  const store = () => ctx.service("store@2");
  const logins = new Logins(ctx);
  const find = (method: string, id: string, accountId: string | undefined): { channel: Channel; accountId: string } => {
    const channel = accounts.channels().find((one) => one.id === id);
    if (!channel) throw messagingErrors.channelNotKnown({ method });
    const chosen = accountId ?? accounts.list(channel)[0]?.accountId;
    if (chosen === undefined) throw messagingErrors.unknownAccount({ channel: id, account: "default" });
    return { channel, accountId: chosen };
  };
  /** Finds also the first account of a channel, which the config does not name before it has signed in. */
  const findForLogin = async (method: string, id: string, named: string | undefined): Promise<{ channel: Channel; accountId: string }> => {
    const channel = await accounts.find(id);
    if (!channel) throw messagingErrors.channelNotKnown({ method });
    return { channel, accountId: named ?? accounts.list(channel)[0]?.accountId ?? NEW_ACCOUNT };
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
    ...methodOf(messagingMethods, "channels.login"),
    async handler({ channel: id, accountId: named, timeoutMs = LOGIN_MS }, call) {
      const { channel, accountId } = await findForLogin("channels.login", id, named);
      const loginId = randomUUID();
      const steps = call.subscribe(loginId);
      try {
        const { identity, note } = await logins.run(channel, accountId, {
          timeoutMs,
          signal: call.signal,
          begun: () => call.accept({ status: "accepted", loginId, channel: id, accountId, timeoutMs }),
          onStep: (step) => ctx.emit("channels.login", { loginId, channel: id, accountId, step }, { topic: loginId }),
        });
        const more = { ...(identity === undefined ? {} : { identity }), ...(note === undefined ? {} : { note }) };
        return { status: "done", channel: id, accountId, ...more, started: await startedAnew(channel, accountId) };
      } finally {
        void steps.dispose();
      }
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "channels.logout"),
    async handler({ channel: id, accountId: named }) {
      const { channel, accountId } = await findForLogin("channels.logout", id, named);
      if (accounts.has(channel, accountId)) await accounts.stop(channel, accountId);
      return { channel: id, accountId, cleared: await logins.clear(channel, accountId) };
    },
  });

  /** An account that still lacks keys, or is disabled, is started by the change of the config that completes it. */
  async function startedAnew(channel: Channel, accountId: string): Promise<boolean> {
    if (ctx.service("gateway@1").info().phase !== "ready") return false;
    const listed = accounts.list(channel).find((one) => one.accountId === accountId);
    if (!listed?.enabled || !listed.configured) return false;
    await accounts.start(channel, accountId, { again: true });
    return accounts.get(channel.id, accountId) !== undefined;
  }
}
