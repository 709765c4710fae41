import { hash, randomBytes } from "node:crypto";
import type { OperatorScope } from "svc/sdk";

/** Time in which an invitation is good. */
export const INVITATION_TTL_MS = 300_000;
/** Invitations kept; the oldest goes first. */
export const MAX_INVITATIONS = 32;

export interface InvitationOptions {
  monotonic(): number;
  randomId(): string;
}

/** Offer of one connected client: whoever shows its token first pairs a device with it. */
export interface Invitation {
  requestId: string;
  scopes: readonly OperatorScope[];
}

/** Invitations of new devices, in memory only: digests of their tokens, never the tokens. Each is good once. */
export interface Invitations {
  /**
   * Makes one; its token is 32 random bytes, base64url, and shown to its maker alone.
   * @param host.isHere asked whenever somebody shows the token: an invitation does not outlive the connection that made it
   */
  make(host: { scopes: readonly OperatorScope[]; isHere(): boolean }): Invitation & { token: string };
  find(token: string): Invitation | undefined;
  /** Takes one out, so that nobody else comes in by it meanwhile. */
  take(token: string): { invitation: Invitation; restore(): void } | undefined;
  /** False when there is none of this id any more. */
  withdraw(requestId: string): boolean;
}

interface Kept extends Invitation {
  expiresAt: number;
  isHere(): boolean;
}

export function createInvitations({ monotonic, randomId }: InvitationOptions): Invitations {
  const open = new Map<string, Kept>();
  const sweep = () => {
    const now = monotonic();
    for (const [key, { expiresAt, isHere }] of open) if (expiresAt <= now || !isHere()) open.delete(key);
  };
  // Strangers ask here: one invitation is looked at, not all with every client.
  const find = (token: string): Kept | undefined => {
    const key = digest(token);
    const kept = open.get(key);
    if (kept === undefined || (kept.expiresAt > monotonic() && kept.isHere())) return kept;
    open.delete(key);
    return undefined;
  };
  return {
    make({ scopes, isHere }) {
      sweep();
      const token = randomBytes(32).toString("base64url");
      const kept: Kept = { requestId: randomId(), scopes: [...scopes], isHere, expiresAt: monotonic() + INVITATION_TTL_MS };
      open.set(digest(token), kept);
      if (open.size > MAX_INVITATIONS) open.delete(open.keys().next().value as string);
      return { requestId: kept.requestId, scopes: kept.scopes, token };
    },
    find,
    take(token) {
      const kept = find(token);
      if (!kept) return undefined;
      open.delete(digest(token));
      return { invitation: kept, restore: () => void open.set(digest(token), kept) };
    },
    withdraw(requestId) {
      sweep();
      const found = [...open].find(([, kept]) => kept.requestId === requestId);
      return found !== undefined && open.delete(found[0]);
    },
  };
}

/** Tokens of 256 random bits are found by their digest: the time of the search says nothing of them. */
function digest(token: string): string {
  return hash("sha256", token, "hex");
}
