import { type ApprovalQuestion, type ApprovalRecord, isSvcError, type MessageRoute, type Messaging, type PluginContext } from "svc/sdk";

/** Passes a question on to the owner; rejects when the message cannot be queued. */
export type TellOwner = (record: ApprovalRecord) => Promise<void>;

const WORDS = { "allow-once": "once", "allow-always": "always", deny: "deny" } as const;

/**
 * How to ask the owner in the chat that a question is about. Undefined where that chat is none of theirs: it is no direct conversation, or not with somebody of
 * `commands.ownerAllowFrom`, who alone may answer there. A chat that cannot be looked up is none of theirs either: those who are connected are asked all the same.
 */
export async function ownerTeller(ctx: Pick<PluginContext, "service">, about: ApprovalQuestion["request"]): Promise<TellOwner | undefined> {
  const { agentId, sessionKey } = about;
  const messaging = messagingOf(ctx);
  if (!messaging || agentId === undefined || sessionKey === undefined) return undefined;
  const route = await messaging.lastRoute(sessionKey).catch(() => undefined);
  if (!route || !isOwners(messaging, route, sessionKey)) return undefined;
  return async (record) => {
    await messaging.deliver({
      ...route,
      sessionKey,
      agentId,
      text: questionText(record),
      isAnswer: false,
      origin: "chat",
      uid: `approval:${record.id}`,
    });
  };
}

/** The id in a chat: few enough characters to type. */
export function shortId(id: string): string {
  return id.replace(/^plugin:/, "").slice(0, 6);
}

function questionText({ id, request, approvalKind, createdAtMs, expiresAtMs }: ApprovalRecord): string {
  const what =
    "title" in request
      ? `${request.title}\n\n${request.description}`
      : `The agent wants to run a command${request.cwd === undefined ? "" : ` in ${request.cwd}`}:\n\n${fenced(request.command ?? "")}`;
  const answers = request.allowedDecisions.map((decision) => `/approve ${shortId(id)} ${WORDS[decision]}`).join(", ");
  const minutes = Math.max(1, Math.round((expiresAtMs - createdAtMs) / 60_000));
  return `**${approvalKind === "exec" ? "Approval of a command" : "Approval"}**\n\n${what}\n\nAnswer within ${minutes} min: ${answers}`;
}

/** A command as code; its own backticks do not end it. */
function fenced(command: string): string {
  const longest = Math.max(2, ...[...command.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${command}\n${fence}`;
}

/** Whether a route leads to an owner alone. The peer of a direct session counts, where a platform names its chats otherwise than its people. */
function isOwners(messaging: Pick<Messaging, "isOwner">, { channel, to }: MessageRoute, sessionKey: string): boolean {
  if (isShared(sessionKey)) return false;
  const peer = /:direct:([^:]+)(?::(?:thread|topic):[^:]+)?$/.exec(sessionKey)?.[1]?.replaceAll("%3A", ":").replaceAll("%25", "%");
  return [to, peer].some((id) => id !== undefined && messaging.isOwner({ channel, id }));
}

/** Session of a chat of several people. A thread has those of the conversation that it is in. */
export function isShared(sessionKey: string): boolean {
  return /:(?:group|channel):/.test(sessionKey);
}

function messagingOf(ctx: Pick<PluginContext, "service">): Messaging | undefined {
  try {
    return ctx.service("messaging@1");
  } catch (error) {
    if (isSvcError(error, "service-unavailable")) return undefined;
    throw error;
  }
}
