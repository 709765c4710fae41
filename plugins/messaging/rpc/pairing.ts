import { methodOf, type PluginContext, type ResultOf } from "svc/sdk";
import { timeOrderedId } from "svc/sdk/internal";
import type { Accounts } from "../accounts/accounts.ts";
import { messagingErrors } from "../errors.ts";
import type { PairingAccount, PairingRequest, Pairings } from "../pairing/pairings.ts";
import { APPROVED_TEXT, noticeOps } from "../pairing/reply.ts";
import { messagingMethods } from "../protocol-methods.ts";

type Listed = ResultOf<"messaging.pairing.list">;

/** `messaging.pairing.list`, `.approve`, `.reject`, `.revoke`. */
export function registerPairingMethods(
  ctx: PluginContext,
  { pairings, accounts, queue }: { pairings: Pairings; accounts: Accounts; queue: { nudge(): void } },
): void {
  /** The account that is meant; a channel whose plugin is off has its requests all the same. */
  const accountOf = async (channel: string, accountId: string | undefined, code: string): Promise<PairingAccount> => {
    if (accountId !== undefined) return { channel, accountId };
    const waiting = (await pairings.list(channel)).filter(({ pending }) => pending.some((one) => one.code === code.trim().toUpperCase()));
    const known = accounts.channels().find(({ id }) => id === channel);
    const chosen = waiting[0]?.accountId ?? (known && accounts.list(known)[0]?.accountId);
    if (chosen === undefined) throw messagingErrors.channelNotKnown({ method: "messaging.pairing" });
    return { channel, accountId: chosen };
  };

  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.pairing.list"),
    async handler({ channel }) {
      const found = await pairings.list(channel);
      return {
        requests: found.flatMap((account) => account.pending.map((request) => toPairingRequest(account, request))),
        paired: found.flatMap(({ channel: id, accountId, approved }) =>
          approved.map((one): Listed["paired"][number] => ({ channel: id, accountId, approvedAt: one.approvedAt, ...senderOf(one) })),
        ),
      };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.pairing.approve"),
    async handler({ channel, accountId, code, notify = false }) {
      const account = await accountOf(channel, accountId, code);
      const { sender, to } = await pairings.approve(account, code);
      ctx.logger.info(`pairing on ${channel}: a sender was approved`, { accountId: account.accountId, sender: sender.id });
      if (notify) {
        const at = ctx.clock.now();
        const { agentId } = ctx.service("agents@1").resolve({});
        await ctx.service("store@2").commit(noticeOps(APPROVED_TEXT, { account, to, uid: `paired-${timeOrderedId(at)}`, agentId, at }));
        queue.nudge();
      }
      return { ok: true, ...account, ...senderOf(sender) };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.pairing.reject"),
    async handler({ channel, accountId, code }) {
      const account = await accountOf(channel, accountId, code);
      const { sender } = await pairings.reject(account, code);
      ctx.logger.info(`pairing on ${channel}: a sender was rejected`, { accountId: account.accountId, sender: sender.id });
      return { ok: true, ...account, ...senderOf(sender) };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.pairing.revoke"),
    async handler({ channel, accountId, senderId }) {
      const listed = await pairings.list(channel);
      const found = listed.find((one) => one.approved.some(({ id }) => id === senderId))?.accountId;
      const account = { channel, accountId: accountId ?? found ?? "default" };
      const sender = await pairings.revoke(account, senderId);
      ctx.logger.info(`pairing on ${channel}: an approval was taken back`, { accountId: account.accountId, sender: sender.id });
      return { ok: true, ...account, ...senderOf(sender) };
    },
  });
}

/** A request as operators see it. */
export function toPairingRequest(
  { channel, accountId }: PairingAccount,
  { code, sender, requestedAt, expiresAt }: PairingRequest,
): Listed["requests"][number] {
  return { channel, accountId, code, requestedAt, expiresAt, ...senderOf(sender) };
}

function senderOf({ id, name }: { id: string; name?: string | undefined }): { senderId: string; senderName?: string } {
  return { senderId: id, ...(name === undefined ? {} : { senderName: name }) };
}
