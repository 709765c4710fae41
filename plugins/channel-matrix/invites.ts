import { messageOf, sleep } from "svc/sdk";
import type { InvitePolicy } from "./accounts.ts";
import { eventsIn, type MatrixEvent, recordOf, textOf } from "./events.ts";
import type { ReceivingContext } from "./files.ts";
import { type Homeserver, MatrixFault, pathOf } from "./homeserver.ts";

/** An invitation of the account into a room. */
export interface Invite {
  roomId: string;
  roomName: string | undefined;
  inviter: string;
  isDirect: boolean;
  isEncrypted: boolean;
}

/** Invitations of strangers that are accepted within a time: somebody else decides how many come. */
const [MAX_ACCEPTED, WINDOW_MS] = [30, 3_600_000];
/** Rooms whose invitation was told once. */
const MAX_TOLD = 1_000;

/** Reads an invitation; undefined for one that does not say who invites. */
export function inviteIn(roomId: string, raw: unknown, userId: string): Invite | undefined {
  const events = eventsIn(recordOf(recordOf(raw).invite_state).events);
  const find = (matches: (event: MatrixEvent) => boolean) => events.find(matches);
  const member = find(({ type, state_key: key, content }) => type === "m.room.member" && key === userId && content.membership === "invite");
  if (!member) return undefined;
  return {
    roomId,
    roomName: textOf(find(({ type }) => type === "m.room.name")?.content.name, 100) || undefined,
    inviter: member.sender,
    isDirect: member.content.is_direct === true,
    isEncrypted: find(({ type }) => type === "m.room.encryption") !== undefined,
  };
}

/** Reason for which an invitation is left alone; undefined for one that is accepted. Pure. */
export function refusalOf({ roomId, inviter, isDirect, isEncrypted }: Invite, policy: InvitePolicy): string | undefined {
  if (isEncrypted) return "the room is encrypted, and encryption is not part of this release";
  const { dmPolicy, allowFrom, groupPolicy, groups } = policy;
  if (isDirect) {
    // Somebody unknown has to get as far as the question for a pairing code.
    if (dmPolicy === "open" || dmPolicy === "pairing" || (dmPolicy === "allowlist" && allowFrom.some((id) => id === inviter || id === "*")))
      return undefined;
    return `dmPolicy is ${dmPolicy}, and allowFrom does not name ${inviter}`;
  }
  const group = groups.get(roomId) ?? groups.get("*");
  if (groupPolicy === "disabled" || group?.enabled === false) return "groups are disabled";
  return group || groupPolicy === "open" ? undefined : "the room is not below groups";
}

/** Facts about invitations that outlive a link. */
export interface InviteMemory {
  /** Rooms whose invitation was told once. */
  told: Set<string>;
  /** Start of the present hour, by the monotonic clock, and invitations that were accepted in it. */
  windowStart: number;
  accepted: number;
}

export function newInviteMemory(): InviteMemory {
  return { told: new Set(), windowStart: Number.NEGATIVE_INFINITY, accepted: 0 };
}

/** Invitations that are being accepted at a time; the others are found again at the next start. */
const MAX_WAITING = 100;
/** Tries to enter a room, and the longest wait between them. */
const [MAX_TRIES, MAX_WAIT_MS] = [3, 30_000];

/**
 * Accepts invitations that the rules admit, one after the other, and leaves all others alone. It works beside the loop that reads messages: entering a room waits for
 * the inviter's server, which may be slow on purpose.
 */
export class Invites {
  readonly #context: ReceivingContext;
  readonly #memory: InviteMemory;
  readonly #waiting: Invite[] = [];
  #isWorking = false;

  constructor(context: ReceivingContext, memory: InviteMemory) {
    this.#context = context;
    this.#memory = memory;
  }

  /** False while invitations wait, which the next link has to look for. */
  get isIdle(): boolean {
    return !this.#isWorking;
  }

  take(roomId: string, raw: unknown): void {
    const { run, self } = this.#context;
    const invite = inviteIn(roomId, raw, self.userId);
    if (!invite || this.#waiting.some((one) => one.roomId === roomId)) return;
    const reason = refusalOf(invite, run.account.invites) ?? this.#tooMany(invite);
    if (reason !== undefined) return this.#tell(invite, reason);
    this.#waiting.push(invite);
    if (!this.#isWorking) void this.#work();
  }

  async #work(): Promise<void> {
    const { run } = this.#context;
    this.#isWorking = true;
    for (let invite = this.#waiting[0]; invite !== undefined && !run.signal.aborted; invite = this.#waiting[0]) {
      await this.#enter(invite);
      this.#waiting.shift();
    }
    this.#isWorking = this.#waiting.length > 0;
  }

  async #enter(invite: Invite): Promise<void> {
    const { run, timing } = this.#context;
    for (let tries = 1; !run.signal.aborted; tries += 1) {
      try {
        return await this.#accept(invite);
      } catch (error) {
        if (run.signal.aborted) return;
        const isRefused = error instanceof MatrixFault && error.status !== 429;
        if (isRefused || tries >= MAX_TRIES) return this.#tell(invite, messageOf(error));
        const waitMs = (error instanceof MatrixFault ? error.retryAfterMs : undefined) ?? timing.reconnectMs * 2 ** tries;
        await sleep(Math.min(waitMs, MAX_WAIT_MS), run.signal).catch(() => undefined);
      }
    }
  }

  async #accept({ roomId, inviter, isDirect }: Invite): Promise<void> {
    const { run, server, directory, self, timing } = this.#context;
    const options = { limitMs: timing.callMs, signal: run.signal };
    // Listed first: a process that ends in between finds the invitation again, but would take the chat for a group.
    if (isDirect) {
      await listDirect(server, { userId: self.userId, person: inviter, roomId }, options);
      directory.addDirect(roomId, inviter);
    }
    await server.call("POST", pathOf`/v3/rooms/${roomId}/join`, { body: {}, ...options });
    run.logger.info("an invitation was accepted", { room: roomId, inviter, isDirect });
  }

  #tooMany({ roomId }: Invite): string | undefined {
    const { run } = this.#context;
    if (this.#waiting.length >= MAX_WAITING) return `${MAX_WAITING} others wait`;
    // Rooms that the operator has named are never too many.
    if (run.account.invites.groups.has(roomId)) return undefined;
    const now = run.clock.monotonic();
    const memory = this.#memory;
    if (now - memory.windowStart > WINDOW_MS) {
      memory.windowStart = now;
      memory.accepted = 0;
    }
    memory.accepted += 1;
    return memory.accepted > MAX_ACCEPTED ? `${MAX_ACCEPTED} were accepted within an hour` : undefined;
  }

  #tell({ roomId, roomName, inviter }: Invite, reason: string): void {
    const { told } = this.#memory;
    if (told.has(roomId)) return;
    if (told.size >= MAX_TOLD) told.delete(told.values().next().value as string);
    told.add(roomId);
    this.#context.run.logger.warn(`an invitation is left alone: ${reason}`, { room: roomId, name: roomName, inviter });
  }
}

/** Adds a room to the account's direct chats with a person; the others stay. */
export async function listDirect(
  server: Homeserver,
  { userId, person, roomId }: { userId: string; person: string; roomId: string },
  options: { limitMs: number; signal: AbortSignal },
): Promise<void> {
  const path = pathOf`/v3/user/${userId}/account_data/m.direct`;
  const present = await server.call<unknown>("GET", path, options).catch((error: unknown) => {
    if (error instanceof MatrixFault && error.code === "M_NOT_FOUND") return {};
    throw error;
  });
  const listed = recordOf(present);
  const rooms = Array.isArray(listed[person]) ? (listed[person] as unknown[]) : [];
  if (rooms.includes(roomId)) return;
  await server.call("PUT", path, { body: { ...listed, [person]: [...rooms, roomId] }, ...options });
}
