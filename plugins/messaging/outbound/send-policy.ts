import type { SvcConfig } from "svc/sdk";

type Policy = SvcConfig["session"]["sendPolicy"];

/** A message on its way out of a session. */
interface Leaving {
  channel: string;
  sessionKey: string;
}

/** True when the policy lets a session's messages go: the first rule whose every field matches decides, else the default. Pure. */
export function isSendAllowed(policy: Policy, { channel, sessionKey }: Leaving): boolean {
  const key = sessionKey.replace(/^agent:[^:]*:/, "").toLowerCase();
  const rule = policy.rules.find(
    ({ match }) =>
      (match.channel === undefined || match.channel === channel) &&
      (match.chatType === undefined || match.chatType === chatTypeOf(key)) &&
      (match.keyPrefix === undefined || key.startsWith(match.keyPrefix)) &&
      (match.rawKeyPrefix === undefined || sessionKey.startsWith(match.rawKeyPrefix)),
  );
  return (rule?.action ?? policy.default) === "allow";
}

/** Kind of chat by the key of its session without its agent; a session that belongs to no chat counts as direct. */
function chatTypeOf(key: string): "direct" | "group" | "channel" {
  const type = key.split(":").find((part) => part === "direct" || part === "group" || part === "channel");
  return (type as "direct" | "group" | "channel" | undefined) ?? "direct";
}
