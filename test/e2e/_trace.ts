import type { Browser, Page } from "playwright-core";

/** One event of Chromium's trace; times in microseconds. */
interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  /** CPU time of the thread. */
  tdur?: number;
  args?: { name?: string };
}

/** Work of a page while it was traced. */
export interface Frames {
  /** Frames that were drawn. */
  drawn: number;
  /** Longest times between two frames, most first, ms. */
  gaps: number[];
  /** CPU time of the longest pieces of work on the page's main thread, most first, ms: nothing of the page is drawn meanwhile. */
  tasks: number[];
  /** The same by the clock, which other work on the machine lengthens. */
  tasksByClock: number[];
  /** Parts of the longest piece of work, such as `Layout 12`, ms by the clock, most first. */
  longestOf: string[];
}

/** Few of them: each event costs the page time. */
const categories = ["devtools.timeline", "disabled-by-default-devtools.timeline.frame", "toplevel"];
const KEPT = 8;

/** Traces a page while something is done to it. */
export async function traceFrames(browser: Browser, page: Page, act: () => Promise<void>): Promise<Frames> {
  await browser.startTracing(page, { categories });
  let bytes: Buffer | undefined;
  try {
    await act();
  } finally {
    bytes = await browser.stopTracing();
  }
  return framesIn((JSON.parse(bytes.toString()) as { traceEvents: TraceEvent[] }).traceEvents);
}

function framesIn(all: readonly TraceEvent[]): Frames {
  const main = busiestMainThread(all);
  const tasks = all.filter((event) => isTask(event) && `${event.pid}/${event.tid}` === main);
  const drawn = all
    .filter(({ name, pid }) => name === "DrawFrame" && String(pid) === main?.split("/")[0])
    .map(({ ts }) => ts)
    .sort((a, b) => a - b);
  const gaps = drawn.slice(1).map((ts, i) => ts - (drawn[i] as number));
  return {
    drawn: drawn.length,
    gaps: longest(gaps),
    tasks: longest(tasks.map(timeOf)),
    tasksByClock: longest(tasks.map(({ dur = 0 }) => dur)),
    longestOf: partsOf(
      all,
      tasks.reduce<TraceEvent | undefined>((most, one) => (!most || timeOf(one) > timeOf(most) ? one : most), undefined),
    ),
  };
}

/** CPU time; its clock has longer ticks than the other one, so that a short piece may seem to have taken longer than it lasted. */
function timeOf({ tdur, dur = 0 }: TraceEvent): number {
  return Math.min(tdur ?? dur, dur);
}

/** Sums by name of what happened within a task; parts lie within each other. */
function partsOf(all: readonly TraceEvent[], task: TraceEvent | undefined): string[] {
  if (!task) return [];
  const end = task.ts + (task.dur ?? 0);
  const sums = new Map<string, number>();
  for (const { name, ph, pid, tid, ts, dur = 0 } of all) {
    if (ph === "X" && pid === task.pid && tid === task.tid && ts >= task.ts && ts + dur <= end) sums.set(name, (sums.get(name) ?? 0) + dur);
  }
  const parts = [...sums].filter(([, micros]) => micros >= 1_000).sort((a, b) => b[1] - a[1]);
  return parts.slice(0, 12).map(([name, micros]) => `${name} ${Math.round(micros / 100) / 10}`);
}

function isTask({ name, ph }: TraceEvent): boolean {
  return ph === "X" && name === "ThreadControllerImpl::RunTask";
}

/** Other pages and workers of the browser have main threads, too. */
function busiestMainThread(all: readonly TraceEvent[]): string | undefined {
  const mains = new Set(
    all.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain").map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const busy = new Map<string, number>();
  for (const event of all) {
    const thread = `${event.pid}/${event.tid}`;
    if (isTask(event) && mains.has(thread)) busy.set(thread, (busy.get(thread) ?? 0) + (event.dur ?? 0));
  }
  return [...busy].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function longest(micros: number[]): number[] {
  return micros
    .sort((a, b) => b - a)
    .slice(0, KEPT)
    .map((one) => Math.round(one / 100) / 10);
}
