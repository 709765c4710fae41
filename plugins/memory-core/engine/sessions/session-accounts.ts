/** Growth after which a session is read again; 0: any growth counts. */
export interface GrowthThresholds {
  deltaBytes: number;
  deltaMessages: number;
}

/** One session's news. */
export interface SessionGrowth {
  sessionId: string;
  bytes: number;
  messages: number;
  /** True when it was compacted or begun anew: earlier counts are void. */
  isReset: boolean;
}

/** Growth of each session since it was last indexed, and the sessions that are due. */
export interface SessionAccounts {
  /** Books the growth; true when a session has become due. */
  add(grown: readonly SessionGrowth[]): boolean;
  markDue(sessionId: string): void;
  isDue(sessionId: string): boolean;
  dueIds(): string[];
  /** Called when a transcript is about to be read; the answer is called once it is indexed. What came meanwhile stays booked. */
  settling(sessionId: string): () => void;
  forget(sessionId: string): void;
}

interface Account {
  bytes: number;
  messages: number;
  /** Counts the times it became due; 0: it is not. */
  due: number;
}

/** Sessions that are counted at a time. The one that has been quiet longest is forgotten and then counts from zero. */
const MAX_ACCOUNTS = 10_000;

export function createSessionAccounts(thresholds: GrowthThresholds): SessionAccounts {
  const accounts = new Map<string, Account>();
  let dueEver = 0;

  const open = (sessionId: string): Account => {
    const account = accounts.get(sessionId) ?? { bytes: 0, messages: 0, due: 0 };
    accounts.delete(sessionId);
    accounts.set(sessionId, account);
    if (accounts.size > MAX_ACCOUNTS) dropQuietest(accounts);
    return account;
  };
  const markDue = (account: Account) => {
    account.due = ++dueEver;
  };

  return {
    add(grown) {
      let isAnyDue = false;
      for (const { sessionId, bytes, messages, isReset } of grown) {
        const account = open(sessionId);
        account.bytes = (isReset ? 0 : account.bytes) + bytes;
        account.messages = (isReset ? 0 : account.messages) + messages;
        if (!reached(account, thresholds)) continue;
        account.bytes = left(account.bytes, thresholds.deltaBytes);
        account.messages = left(account.messages, thresholds.deltaMessages);
        markDue(account);
        isAnyDue = true;
      }
      return isAnyDue;
    },
    markDue: (sessionId) => markDue(open(sessionId)),
    isDue: (sessionId) => (accounts.get(sessionId)?.due ?? 0) > 0,
    dueIds: () => [...accounts].flatMap(([sessionId, { due }]) => (due > 0 ? [sessionId] : [])),
    settling(sessionId) {
      const before = { ...(accounts.get(sessionId) ?? { bytes: 0, messages: 0, due: 0 }) };
      return () => {
        const account = accounts.get(sessionId);
        if (!account) return;
        account.bytes = Math.max(0, account.bytes - before.bytes);
        account.messages = Math.max(0, account.messages - before.messages);
        if (account.due === before.due) account.due = 0;
        if (account.due === 0 && account.bytes === 0 && account.messages === 0) accounts.delete(sessionId);
      };
    },
    forget: (sessionId) => void accounts.delete(sessionId),
  };
}

function reached({ bytes, messages }: Account, { deltaBytes, deltaMessages }: GrowthThresholds): boolean {
  const hit = (grown: number, threshold: number) => (threshold <= 0 ? grown > 0 : grown >= threshold);
  return hit(bytes, deltaBytes) || hit(messages, deltaMessages);
}

/** The threshold is taken off; what is beyond it counts for the next time. */
function left(grown: number, threshold: number): number {
  return threshold <= 0 ? 0 : Math.max(0, grown - threshold);
}

/** One that is due is kept as long as there is another. */
function dropQuietest(accounts: Map<string, Account>): void {
  for (const [sessionId, { due }] of accounts) {
    if (due > 0) continue;
    accounts.delete(sessionId);
    return;
  }
  for (const sessionId of accounts.keys()) {
    accounts.delete(sessionId);
    return;
  }
}
