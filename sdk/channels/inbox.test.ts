import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import type { InboundAck, InboundEvent } from "../types/channel.ts";
import type { Logger } from "../types/common.ts";
import { ChannelInbox } from "./inbox.ts";

const event = (id: string) => ({ id }) as InboundEvent;

function inbox(receive: (event: InboundEvent) => Promise<InboundAck>) {
  const gone = new AbortController();
  const [warnings, reads]: [string[], string[]] = [[], []];
  const logger = { warn: (message: string) => void warnings.push(message) } as unknown as Logger;
  const link = { pause: () => void reads.push("pause"), resume: () => void reads.push("resume") };
  const box = new ChannelInbox({ run: { receive, logger }, link, signal: gone.signal, firstWaitMs: 1 });
  return { box, warnings, reads, gone };
}

test("messages are handed over one after the other, and one that cannot be stored is offered again before the next", async () => {
  const taken: string[] = [];
  let failures = 3;
  const { box } = inbox(async ({ id }) => {
    if (id === "b" && failures-- > 0) throw new Error("no storage");
    taken.push(id);
    return { status: "accepted" };
  });
  for (const id of ["a", "b", "c"]) box.offer(event(id));

  await eventually(() => taken.length === 3);
  expect(taken).toEqual(["a", "b", "c"]);
});

test("what is no message to the host is dropped with a warning, and does not hold the others up", async () => {
  const taken: string[] = [];
  const { box, warnings } = inbox(async ({ id }) => {
    if (id === "bad") throw new TypeError("text: expected a string");
    taken.push(id);
    return { status: "accepted" };
  });
  for (const id of ["bad", "good"]) box.offer(event(id));

  await eventually(() => taken.length === 1);
  expect(warnings).toEqual(["a message was dropped: text: expected a string"]);
});

test("from 100 waiting messages on the platform is not read until fewer than 50 wait", async () => {
  let let1: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (let1 = resolve));
  const { box, reads } = inbox(async () => {
    await held;
    return { status: "accepted" };
  });
  for (let n = 0; n < 99; n++) box.offer(event(String(n)));
  expect(reads).toEqual([]);
  box.offer(event("99"));
  expect(reads).toEqual(["pause"]);

  let1();
  await eventually(() => reads.length === 2);
  expect(reads).toEqual(["pause", "resume"]);
});

test("what the host has not taken when the link is gone is lost, and counted", async () => {
  const { box, warnings, gone } = inbox(() => Promise.reject(new Error("no storage")));
  for (const id of ["a", "b"]) box.offer(event(id));
  await nextTurn();
  gone.abort();

  await eventually(() => warnings.length === 1);
  expect(warnings[0]).toBe("2 messages were not taken, and the platform does not keep them: no storage");
});

test("a message is acknowledged to its platform when the host has it or never wants it, and not when it could not be stored", async () => {
  const acknowledged: string[] = [];
  const { box, warnings, gone } = inbox(async ({ id }) => {
    if (id === "bad") throw new TypeError("text: expected a string");
    if (id === "late") throw new Error("no storage");
    return { status: "accepted" };
  });
  for (const id of ["good", "bad", "late"]) box.offer(event(id), () => void acknowledged.push(id));

  await eventually(() => acknowledged.length === 2);
  gone.abort();
  await nextTurn();
  await nextTurn();

  expect(acknowledged).toEqual(["good", "bad"]);
  // The platform keeps it.
  expect(warnings).toHaveLength(1);
});
