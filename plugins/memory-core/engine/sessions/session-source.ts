import type { IndexSettings } from "../../index-settings.ts";
import type { DocumentGuard } from "../document-guard.ts";
import type { DocumentContent, DocumentRow, DocumentSource, IndexDocument, ListedDocuments } from "../documents.ts";
import { codeOf, IndexFault, reasonOf } from "../fault.ts";
import type { Host } from "../host.ts";
import type { Pacer } from "../pacer.ts";
import { createSessionAccounts, type SessionAccounts, type SessionGrowth } from "./session-accounts.ts";
import { createTranscriptBuilder } from "./transcript-text.ts";

/** Scope of a requested sync, as far as transcripts are concerned. */
export interface SessionSyncWish {
  reason: string;
  /** The whole index is rebuilt, or was asked to be. */
  isFull: boolean;
  /** These transcripts only, whatever their accounts. */
  sessionIds?: readonly string[] | undefined;
}

/** The agent's transcripts as documents, and the accounts that decide when one is read again. */
export interface Sessions {
  /** Books the growth; true when a sync is due. */
  grown(growth: readonly SessionGrowth[]): boolean;
  /** Documents that a sync has to check; undefined: it leaves the transcripts alone. */
  sourceFor(wish: SessionSyncWish): DocumentSource | undefined;
  /** Returns why transcripts could not be listed the last time. */
  problem(): string | undefined;
  /** Transcripts have grown enough to be read again. */
  isDirty(): boolean;
}

interface ListedSession {
  sessionId: string;
  messages: number;
}

/** A session as the main thread lists it becomes `sessions/<sessionId>`. */
const PREFIX = "sessions/";
const LIST_MS = 60_000;
const READ_MS = 30_000;
/** Reasons that come often and have nothing to do with transcripts. */
const fileReasons = new Set(["session-start", "watch", "watch-added"]);

/** @param guard a transcript that is left out is looked at with all others */
export function createSessions(
  settings: Pick<IndexSettings, "sources" | "sessions">,
  host: Host,
  guard: Pick<DocumentGuard, "isLeftOut">,
): Sessions {
  const accounts = createSessionAccounts(settings.sessions);
  const isOn = settings.sources.includes("sessions");
  let problem: string | undefined;
  // A new thread knows nothing of what came before it: the first look compares every session with its row.
  let isCaughtUp = false;
  // Number of messages read by the last full reindex, per session. Its index may never have been put in place, so the next sync compares.
  let lastFull: Map<string, number> | undefined;

  const listAll = async (known: ReadonlyMap<string, DocumentRow>, pacer: Pacer, isFull: boolean): Promise<ListedDocuments> => {
    const due = accounts.dueIds();
    let sessions: ListedSession[];
    try {
      sessions = await host.call("listSessions", {}, { timeoutMs: LIST_MS });
    } catch (error) {
      // The notes are indexed all the same, and what is indexed of the transcripts stays.
      problem = `session transcripts cannot be read at present (${codeOf(error) ?? reasonOf(error)}); what is indexed of them stays`;
      return { documents: [], isComplete: false, problems: [] };
    }
    problem = undefined;
    await pacer.breathe();
    if (!isCaughtUp || isFull) for (const session of sessions) if (isBehind(session, known)) accounts.markDue(session.sessionId);
    for (const [sessionId, messages] of lastFull ?? []) if (isBehind({ sessionId, messages }, known)) accounts.markDue(sessionId);
    isCaughtUp = true;
    const listed = new Set(sessions.map(({ sessionId }) => sessionId));
    for (const sessionId of due) if (!listed.has(sessionId)) accounts.forget(sessionId);
    lastFull = isFull ? new Map() : undefined;
    const read = lastFull;
    const wanted = sessions.filter(({ sessionId }) => {
      const path = pathOf(sessionId);
      return isFull || accounts.isDue(sessionId) || known.has(path) || guard.isLeftOut("sessions", path);
    });
    const documents = wanted.map(({ sessionId }) =>
      transcriptDocument(sessionId, { accounts, host, settled: (messages) => read?.set(sessionId, messages) }),
    );
    return { documents, isComplete: true, problems: [] };
  };

  const these = (sessionIds: readonly string[]): DocumentSource => {
    const documents = sessionIds.map((sessionId) => transcriptDocument(sessionId, { accounts, host, settled: () => undefined }));
    return { source: "sessions", only: sessionIds.map(pathOf), list: async () => ({ documents, isComplete: false, problems: [] }) };
  };

  return {
    grown: (growth) => isOn && accounts.add(growth),
    problem: () => problem,
    isDirty: () => isOn && accounts.dueIds().length > 0,
    sourceFor({ reason, isFull, sessionIds }) {
      if (!isOn) return undefined;
      if (sessionIds && !isFull) {
        for (const sessionId of sessionIds) accounts.markDue(sessionId);
        return these([...new Set(sessionIds)]);
      }
      const due = accounts.dueIds();
      if (!isFull && (fileReasons.has(reason) || (isCaughtUp && !lastFull && due.length === 0))) return undefined;
      if (!isFull && reason === "session-delta" && isCaughtUp && !lastFull) return these(due);
      return { source: "sessions", list: (known, pacer) => listAll(known, pacer, isFull) };
    },
  };
}

/** `size` of a transcript's row is the number of its messages when it was read. */
function isBehind({ sessionId, messages }: ListedSession, known: ReadonlyMap<string, DocumentRow>): boolean {
  return known.get(pathOf(sessionId))?.size !== messages;
}

interface TranscriptParts {
  accounts: SessionAccounts;
  host: Host;
  /** @param messages of the transcript when it was read */
  settled(messages: number): void;
}

function transcriptDocument(sessionId: string, { accounts, host, settled }: TranscriptParts): IndexDocument {
  let settle = () => accounts.settling(sessionId)();
  return {
    path: pathOf(sessionId),
    isUnchanged: () => !accounts.isDue(sessionId),
    async read(during) {
      const closeAccount = accounts.settling(sessionId);
      const content = await readTranscript(sessionId, host, during);
      if (content.kind === "gone") accounts.forget(sessionId);
      settle = () => {
        closeAccount();
        if (content.kind === "text") settled(content.size);
      };
      return content;
    },
    settled: () => settle(),
  };
}

async function readTranscript(sessionId: string, host: Host, during: <T>(work: () => T) => T): Promise<DocumentContent> {
  const builder = createTranscriptBuilder();
  let messages = 0;
  for (let after = 0; ; ) {
    const page = await host.call("readSession", { sessionId, after }, { timeoutMs: READ_MS });
    if (!page) return { kind: "gone" };
    during(() => {
      for (const message of page.messages) builder.add(message);
    });
    messages = page.total;
    if (page.next === undefined) break;
    if (page.next <= after) throw new IndexFault("memory-index-failed", { reason: `transcript ${sessionId} was read twice from ${after}` });
    after = page.next;
  }
  const { text, seqs, hash, lastAt } = builder.build();
  return { kind: "text", text, hash, mtimeMs: lastAt, size: messages, lineNumbers: seqs };
}

function pathOf(sessionId: string): string {
  return `${PREFIX}${sessionId}`;
}
