import { type Kit, runsOf } from "../kit.ts";
import { mayJoin } from "../tools/operator-tools.ts";
import type { Run } from "./run.ts";

/** Messages that are to be put before the next model call of a turn at work. What was accepted behind another kind of message waits for it. */
export function takeSteered(run: Run, kit: Kit): Run[] {
  const taken: Run[] = [];
  for (const next of waitingRuns(kit, run.sessionKey)) {
    if (next.mode !== "steer" || !absorb(run, next, kit)) break;
    taken.push(next);
  }
  return taken;
}

/** Is there a message that the next call of `takeSteered` would take? */
export function steeringWaits(run: Run, kit: Kit): boolean {
  const next = waitingRuns(kit, run.sessionKey)[0];
  return next?.mode === "steer" && next.job !== undefined && fits(run, next);
}

function fits(lead: Run, run: Run): boolean {
  return run.sessionId === lead.sessionId && placeOf(run) === placeOf(lead) && mayJoin(rightsOf(run), rightsOf(lead));
}

function rightsOf({ origin, request: { isOwner } }: Run): Parameters<typeof mayJoin>[0] {
  return { origin, ...(isOwner === undefined ? {} : { isOwner }) };
}

/** From here on the turn of `lead` answers the message of `run`, too. An answer has one way to go: messages from different places have a turn each. */
export function absorb(lead: Run, run: Run, kit: Kit): boolean {
  if (!fits(lead, run)) return false;
  if (!run.job || !kit.lanes.remove(run.job)) return false;
  run.lead = lead;
  lead.followers.push(run);
  run.phase = "running";
  run.startedAt = kit.ctx.clock.now();
  kit.events.lifecycle(run, { phase: "start", startedAt: run.startedAt });
  return true;
}

function placeOf({ request: { deliver, deliverTo: to = {} } }: Run): string {
  return JSON.stringify(deliver ? [to.channel, to.accountId, to.to, to.threadId] : []);
}

/** Runs of a session that have no turn yet and belong to no other's, in order of acceptance. */
export function waitingRuns(kit: Pick<Kit, "runs">, sessionKey: string): Run[] {
  return runsOf(kit, sessionKey).filter((run) => run.phase === "queued" && !run.aborted);
}
