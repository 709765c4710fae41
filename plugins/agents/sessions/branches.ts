import type { BranchPoint, SessionBranch, SessionRow, StoreOp } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";

/** Scope of the rows that list the forks of a conversation; their key is `<sessionId of its first transcript>/<sessionId of the fork>`. */
const SCOPE = "session-branch";
/** Forks of one conversation, and forks of forks of forks. */
export const branchLimits = { forks: 100, depth: 50 };

/** One message with those that other branches have in its place. */
export interface SharedPoint {
  /** First message of the session that the others do not have. */
  seq: number;
  /** Index of the branch that the session is part of. */
  current: number;
  branches: Array<{ key: string; seq: number; updatedAt: number }>;
}

/** A transcript and the forks that led to it. */
export type BranchNode = Pick<SessionRow, "key" | "sessionId" | "updatedAt"> & { path: readonly BranchPoint[] };

/**
 * Origin of a fork. A fork of a fork in what both share, or in the place of the message that made it one, is a fork of the first: branches of one message stand side by side
 * whichever of them was edited. Pure.
 */
export function branchFrom(source: Pick<SessionRow, "sessionId" | "branch">, seq: number, made: { at: number; ts: number }): SessionBranch {
  const path = source.branch?.path ?? [];
  const kept = path.filter((point) => point.at < seq);
  const left = path[kept.length];
  const point = left ? { sessionId: left.sessionId, seq: Math.min(seq, left.seq) } : { sessionId: source.sessionId, seq };
  return { root: source.branch?.root ?? source.sessionId, path: [...kept, { ...point, ...made }] };
}

/** Where a session and the others of its conversation go on differently, in the order of its transcript. Pure. */
export function sharedPoints(session: BranchNode, nodes: readonly BranchNode[]): SharedPoint[] {
  const places = new Map<string, Pick<BranchPoint, "sessionId" | "seq">>();
  for (const { path } of nodes) for (const { sessionId, seq } of path) places.set(`${sessionId}/${seq}`, { sessionId, seq });
  const points = [...places.values()].flatMap((place) => {
    const own = branchAt(session, place);
    if (!own) return [];
    const branches = new Map<string, { node: BranchNode; seq: number; ts: number }>();
    for (const node of nodes) {
      const branch = branchAt(node, place);
      const known = branch && branches.get(branch.id)?.node;
      const isOther = known === undefined || (known.key !== session.key && (node.key === session.key || node.updatedAt > known.updatedAt));
      if (branch && isOther) branches.set(branch.id, { node, seq: branch.seq, ts: branch.ts });
    }
    const inOrder = [...branches].sort(([, a], [, b]) => a.ts - b.ts);
    if (inOrder.length < 2) return [];
    const current = inOrder.findIndex(([id]) => id === own.id);
    return [{ seq: own.seq, current, branches: inOrder.map(([, { node, seq }]) => ({ key: node.key, seq, updatedAt: node.updatedAt })) }];
  });
  return points.sort((a, b) => a.seq - b.seq);
}

/** The branch of a place that a transcript is part of, named by the transcript that began it; undefined: it does not have the place. */
function branchAt(
  { sessionId, path }: BranchNode,
  place: Pick<BranchPoint, "sessionId" | "seq">,
): { id: string; seq: number; ts: number } | undefined {
  const i = path.findIndex((point) => point.sessionId === place.sessionId);
  const point = path[i];
  // It has the transcript itself, at least as far as this message.
  if (point ? point.seq > place.seq : sessionId === place.sessionId) return { id: place.sessionId, seq: place.seq, ts: 0 };
  if (point?.seq !== place.seq) return undefined;
  return { id: path[i + 1]?.sessionId ?? sessionId, seq: point.at, ts: point.ts };
}

/** The sessions of a conversation that are still there: the one it began with and its forks. */
export async function branchNodes(kit: Pick<Kit, "store">, session: SessionRow): Promise<BranchNode[]> {
  const { sessions, kv } = kit.store();
  const root = session.branch?.root ?? session.sessionId;
  const first = await sessions.bySessionId(root);
  const nodes = first ? [toNode(first)] : [];
  for (const { key, value } of await kv.list(SCOPE, `${root}/`)) {
    const row = await sessions.get(String(value));
    if (row && `${root}/${row.sessionId}` === key) nodes.push(toNode(row));
  }
  return nodes;
}

export function toNode({ key, sessionId, updatedAt, branch }: SessionRow): BranchNode {
  return { key, sessionId, updatedAt, path: branch?.path ?? [] };
}

/** @throws {SvcError} `too-many-branches` */
export async function checkBranchRoom(kit: Pick<Kit, "store">, source: SessionRow): Promise<void> {
  const { forks: limit, depth } = branchLimits;
  const nodes = await branchNodes(kit, source);
  if (nodes.filter(({ path }) => path.length > 0).length >= limit || (source.branch?.path.length ?? 0) >= depth) {
    throw agentErrors.tooManyBranches({ key: source.key, limit });
  }
}

/** Lists a fork among the branches of its conversation, in the commit that makes it. */
export function joinBranchOps({ key, sessionId, branch }: SessionRow): StoreOp[] {
  return branch ? [{ op: "kv.put", scope: SCOPE, key: `${branch.root}/${sessionId}`, value: key }] : [];
}

/** Strikes a transcript from the branches of its conversation, in the commit that takes it from its session. */
export function leaveBranchOps({ sessionId, branch }: SessionRow): StoreOp[] {
  return branch ? [{ op: "kv.delete", scope: SCOPE, key: `${branch.root}/${sessionId}` }] : [];
}
