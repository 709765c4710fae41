import type { IrcAccount } from "./accounts.ts";
import { Handshake, type Welcome } from "./handshake.ts";
import { type Line, parseLine } from "./line.ts";
import type { IrcTiming } from "./timing.ts";
import { openWire, type Wire } from "./wire.ts";

interface LinkOptions {
  account: IrcAccount;
  /** Nicks to try, in this order. */
  nicks: readonly string[];
  timing: IrcTiming;
  /** Closes the link. */
  signal: AbortSignal;
  /** Called once, when the account is registered; returns what takes the lines that follow, the next one in the same packet among them. */
  onWelcome(wire: Wire, welcome: Welcome): (line: Line) => void;
}

/**
 * Connects, registers, and reads until the link is gone. Resolves with the reason: `AccountRefusedError` when another try would end in the same way, undefined when the
 * link was closed from here.
 */
export async function link({ account, nicks, timing, signal, onWelcome }: LinkOptions): Promise<Error | undefined> {
  const handshake = new Handshake(account, nicks);
  let take: ((line: Line) => void) | undefined;
  let late: NodeJS.Timeout | undefined;
  try {
    const wire = await openWire({
      account,
      timing,
      signal,
      onOpen(open) {
        const tooLate = new Error(`the server did not accept the account within ${timing.registerMs / 1_000} s`);
        late = setTimeout(() => open.destroy(tooLate), timing.registerMs);
        for (const line of handshake.start()) open.send(line);
      },
      onLine(text, open) {
        const line = parseLine(text);
        if (!line) return;
        if (take) return take(line);
        const { send, welcome } = handshake.take(line);
        for (const one of send) open.send(one);
        if (!welcome) return;
        clearTimeout(late);
        take = onWelcome(open, welcome);
      },
    });
    return await wire.ended;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearTimeout(late);
  }
}
