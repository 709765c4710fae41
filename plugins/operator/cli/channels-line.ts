import { isRecord } from "svc/sdk";

/** Accounts of channels with their states, for one row: `irc ready, mail/work blocked`. Undefined without any; an account named `default` goes by its channel. */
export function channelsLine(summary: readonly unknown[]): string | undefined {
  const accounts = summary.flatMap((one) => {
    if (!isRecord(one)) return [];
    const { channel, accountId, lifecycle } = one;
    return [`${accountId === "default" ? channel : `${channel}/${accountId}`} ${lifecycle}`];
  });
  return accounts.length === 0 ? undefined : accounts.join(", ");
}
