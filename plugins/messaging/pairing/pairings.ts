import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import { type Clock, isSvcError, type Logger, type Store, type StoreOp, z } from "svc/sdk";
import { reached, timeOrderedId } from "svc/sdk/internal";
import { messagingErrors } from "../errors.ts";

/** Rows of this plugin, besides those of its `ctx.kv`: they are written in one commit with messages. */
const SCOPE = "messaging/pairing";
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_CHARS = 8;
const VALID_MS = 3_600_000;
/** Requests that wait on one account; further ones are ignored until one is decided or has expired. */
const MAX_PENDING = 3;
/** Writes of one account that meet another one are tried again. */
const MAX_TRIES = 5;

const person = z.object({ id: z.string().min(1), name: z.string().optional() });
const request = z.object({ code: z.string(), sender: person, to: z.string(), requestedAt: z.number(), expiresAt: z.number() });
const pendingList = z.array(request);
const approval = person.extend({ approvedAt: z.number() });

/** Somebody who has written to an account and waits to be let in. */
export type PairingRequest = z.output<typeof request>;
export type Approved = z.output<typeof approval>;

export interface PairingAccount {
  channel: string;
  accountId: string;
}

export interface PairingDeps {
  store(): Store;
  clock: Clock;
  logger: Logger;
  /** The message that tells a stranger their code, as operations for the commit of the request, or none where it cannot be sent. */
  replyOps(account: PairingAccount, request: PairingRequest, uid: string): Promise<StoreOp[]>;
  /** Called once a request or its end is durable. */
  onRequested(account: PairingAccount, request: PairingRequest): void;
  onResolved(account: PairingAccount, request: PairingRequest, decision: "approved" | "rejected"): void;
  onRevoked(account: PairingAccount, sender: Approved): void;
}

/** Keeps who may write to an account because an operator has approved them, and who asks for it. Everything is on disk before anybody hears of it. */
export class Pairings {
  readonly #deps: PairingDeps;

  constructor(deps: PairingDeps) {
    this.#deps = deps;
  }

  /** True for a sender that was approved on this very account. */
  async isPaired(account: PairingAccount, senderId: string): Promise<boolean> {
    return (await this.#deps.store().kv.get(SCOPE, approvedKey(account, senderId))) !== undefined;
  }

  /**
   * A stranger has written. The first message of one makes a request and is answered with its code, in one commit; while it waits, nothing more is said. The message itself
   * is not kept.
   */
  async request(
    account: PairingAccount,
    { sender, to }: { sender: PairingRequest["sender"]; to: string },
  ): Promise<"requested" | "pending" | "full"> {
    const { clock, onRequested, replyOps } = this.#deps;
    return this.#changePending<"requested" | "pending" | "full">(account, async (pending) => {
      if (pending.some((one) => one.sender.id === sender.id)) return { answer: "pending" };
      if (pending.length >= MAX_PENDING) return { answer: "full" };
      const at = clock.now();
      const { id, name } = sender;
      const made: PairingRequest = {
        code: newCode(pending),
        sender: { id, ...(name === undefined ? {} : { name }) },
        to,
        requestedAt: at,
        expiresAt: at + VALID_MS,
      };
      await reached("pairing.before-request");
      const more = await replyOps(account, made, `pairing-${timeOrderedId(at)}`);
      return { answer: "requested", pending: [...pending, made], more, after: () => onRequested(account, made) };
    });
  }

  /** Requests that wait, and people that were approved. */
  async list(channel?: string): Promise<Array<PairingAccount & { pending: PairingRequest[]; approved: Approved[] }>> {
    const prefix = channel === undefined ? "" : `${part(channel)}/`;
    const rows = [
      ...(await this.#deps.store().kv.list(SCOPE, `pending/${prefix}`)),
      ...(await this.#deps.store().kv.list(SCOPE, `approved/${prefix}`)),
    ];
    const found = new Map<string, PairingAccount & { pending: PairingRequest[]; approved: Approved[] }>();
    for (const { key, value } of rows) {
      const [kind, channelPart = "", accountPart = ""] = key.split("/");
      const account = { channel: decodeURIComponent(channelPart), accountId: decodeURIComponent(accountPart) };
      const entry = found.get(JSON.stringify(account)) ?? { ...account, pending: [], approved: [] };
      found.set(JSON.stringify(account), entry);
      if (kind === "pending") entry.pending.push(...this.#valid(value));
      else entry.approved.push(...approval.array().catch([]).parse([value]));
    }
    return [...found.values()].filter(({ pending, approved }) => pending.length + approved.length > 0);
  }

  /**
   * Lets the sender of a request write to its account: direct messages there, nothing else.
   * @throws {SvcError} `pairing-unknown-code`
   */
  approve(account: PairingAccount, code: string): Promise<PairingRequest> {
    return this.#resolve(account, code, "approved");
  }

  /** @throws {SvcError} `pairing-unknown-code` */
  reject(account: PairingAccount, code: string): Promise<PairingRequest> {
    return this.#resolve(account, code, "rejected");
  }

  /**
   * Takes an approval back.
   * @throws {SvcError} `pairing-unknown-sender`
   */
  async revoke(account: PairingAccount, senderId: string): Promise<Approved> {
    const key = approvedKey(account, senderId);
    const value = await this.#deps.store().kv.get(SCOPE, key);
    if (value === undefined) throw messagingErrors.pairingUnknownSender({ channel: account.channel, sender: senderId });
    await this.#deps.store().commit([{ op: "kv.delete", scope: SCOPE, key }]);
    const { success, data } = approval.safeParse(value);
    const revoked: Approved = success ? data : { id: senderId, approvedAt: 0 };
    this.#deps.onRevoked(account, revoked);
    return revoked;
  }

  #resolve(account: PairingAccount, code: string, decision: "approved" | "rejected"): Promise<PairingRequest> {
    const { clock, onResolved } = this.#deps;
    return this.#changePending(account, async (pending) => {
      const found = pending.filter((one) => isSameCode(one.code, code))[0];
      if (!found) throw messagingErrors.pairingUnknownCode({ channel: account.channel, account: account.accountId });
      const value: Approved = { ...found.sender, approvedAt: clock.now() };
      const grant: StoreOp = { op: "kv.put", scope: SCOPE, key: approvedKey(account, found.sender.id), value };
      return {
        answer: found,
        pending: pending.filter((one) => one !== found),
        more: decision === "approved" ? [grant] : [],
        after: () => onResolved(account, found, decision),
      };
    });
  }

  /** Reads the requests of an account and writes what becomes of them; somebody else's write meanwhile makes it begin again. */
  async #changePending<T>(
    account: PairingAccount,
    change: (pending: PairingRequest[]) => Promise<{ answer: T; pending?: PairingRequest[]; more?: StoreOp[]; after?: () => void }>,
  ): Promise<T> {
    const key = pendingKey(account);
    for (let left = MAX_TRIES; ; left--) {
      const stored = await this.#deps.store().kv.read(SCOPE, key);
      const next = await change(this.#valid(stored?.value));
      if (!next.pending) return next.answer;
      const condition = stored ? { ifVersion: stored.version } : { ifAbsent: true };
      const put: StoreOp =
        next.pending.length === 0 && stored
          ? { op: "kv.delete", scope: SCOPE, key, ifVersion: stored.version }
          : { op: "kv.put", scope: SCOPE, key, value: next.pending, ...condition };
      try {
        await this.#deps.store().commit([put, ...(next.more ?? [])]);
      } catch (error) {
        const isOvertaken = isSvcError(error, "kv-changed") || (isSvcError(error, "exists") && !stored);
        if (!isOvertaken || left <= 1) throw error;
        continue;
      }
      await reached("pairing.after-commit");
      next.after?.();
      return next.answer;
    }
  }

  #valid(value: unknown): PairingRequest[] {
    const now = this.#deps.clock.now();
    const { success, data } = pendingList.safeParse(value ?? []);
    if (!success) this.#deps.logger.error("pairing requests that cannot be read are dropped");
    return (data ?? []).filter((one) => one.expiresAt > now);
  }
}

/** Equal work for each code, whatever it has in common with the right one. */
function isSameCode(code: string, given: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(code), digest(given.trim().toUpperCase()));
}

function newCode(pending: readonly PairingRequest[]): string {
  for (;;) {
    const code = Array.from({ length: CODE_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    if (!pending.some((one) => one.code === code)) return code;
  }
}

/** Text as one part of a key. */
const part = (text: string) => encodeURIComponent(text);
const pendingKey = ({ channel, accountId }: PairingAccount) => `pending/${part(channel)}/${part(accountId)}`;
const approvedKey = ({ channel, accountId }: PairingAccount, senderId: string) =>
  `approved/${part(channel)}/${part(accountId)}/${createHash("sha256").update(senderId).digest("hex")}`;
