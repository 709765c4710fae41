import type { SessionRow, SvcConfig } from "svc/sdk";

/** Reason why a session gets a new transcript automatically. */
export type ExpiryReason = "daily" | "idle";

type ResetRule = SvcConfig["session"]["reset"];
type Reset = Pick<SvcConfig["session"], "reset" | "resetByType" | "resetByChannel">;

/** The rule for a session: that of its channel over that of its type of chat over the general one, field by field. */
export function resetRuleOf(config: Reset, { channel, chatType }: Pick<SessionRow, "channel" | "chatType">): ResetRule {
  const type = chatType === "channel" ? "group" : (chatType ?? "direct");
  const rules = [channel === undefined ? undefined : config.resetByChannel[channel], config.resetByType[type], config.reset];
  const first = <Field extends keyof ResetRule>(field: Field) => rules.find((rule) => rule?.[field] !== undefined)?.[field];
  return { mode: first("mode") ?? config.reset.mode, atHour: first("atHour") ?? config.reset.atHour, idleMinutes: first("idleMinutes") };
}

/**
 * Says whether the transcript of a session has expired at a moment; the message that finds it so begins a new one. A transcript without a message never does.
 *
 * @param now epoch milliseconds
 */
export function expiryOf(rule: ResetRule, row: SessionRow, now: number): ExpiryReason | undefined {
  const { mode, atHour, idleMinutes } = rule;
  // Background runs leave `lastInteractionAt` as it is; a session that only hooks write to has none.
  const usedAt = row.lastInteractionAt ?? row.lastActivityAt;
  if (mode === "none" || usedAt === undefined) return undefined;
  if (mode === "daily" && row.sessionStartedAt < lastDailyReset(now, atHour)) return "daily";
  return idleMinutes !== undefined && now - usedAt > idleMinutes * 60_000 ? "idle" : undefined;
}

/** The last time at or before a moment at which a day begins for sessions: this hour in the time zone of the machine. */
export function lastDailyReset(now: number, atHour: number): number {
  const day = new Date(now);
  day.setHours(atHour, 0, 0, 0);
  if (day.getTime() > now) {
    day.setDate(day.getDate() - 1);
    // An hour that the day before does not have (clocks go forward) is the next one there.
    day.setHours(atHour, 0, 0, 0);
  }
  return day.getTime();
}
