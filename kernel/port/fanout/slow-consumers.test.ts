import { expect, test } from "vitest";
import { createSlowConsumers, type OutboundAccount } from "./slow-consumers.ts";

const bounds = { maxBytes: 100, maxTotalBytes: 250, stallBytes: 10, stallProgressBytes: 5, stallMs: 30 };

function setup(count: number) {
  const time = { now: 0 };
  const slow = createSlowConsumers(bounds, () => time.now);
  const peers = Array.from({ length: count }, () => {
    const peer = { unsent: 0, sent: 0, cuts: 0, looks: 0, account: undefined as unknown as OutboundAccount };
    peer.account = slow.watch({
      buffered() {
        peer.looks += 1;
        return peer.unsent;
      },
      progress: () => peer.sent,
      cut: () => {
        peer.cuts += 1;
      },
    });
    /** Writes as a connection does. */
    const write = (bytes: number, droppable = false) => {
      const admitted = peer.account.admits(bytes, droppable);
      if (admitted) peer.unsent += bytes;
      return admitted;
    };
    return Object.assign(peer, { write });
  });
  return { slow, peers, time };
}
const first = <T>(list: T[]): T => list[0] as T;

test("one connection: at its bound everything goes out, above it droppable frames are skipped and any other cuts it once", () => {
  const peer = first(setup(1).peers);
  peer.unsent = 100;
  expect(peer.write(1)).toBe(true);
  expect([peer.write(1, true), peer.cuts]).toEqual([false, 0]);
  expect([peer.write(1), peer.cuts]).toEqual([false, 1]);
  expect([peer.write(1), peer.cuts]).toEqual([false, 1]);
});

test("all connections: above the sum the one with the most unsent bytes is cut, and only as many as it takes", () => {
  const { slow, peers } = setup(4);
  for (const [i, bytes] of [40, 90, 60, 50].entries()) peers[i]?.write(bytes);
  expect(peers.map((p) => p.cuts)).toEqual([0, 0, 0, 0]);
  expect(slow.total()).toBe(240);
  peers[3]?.write(11);
  expect(peers.map((p) => p.cuts)).toEqual([0, 1, 0, 0]);
});

test("bytes that have left since are no reason to cut anybody", () => {
  const { slow, peers } = setup(4);
  for (let round = 0; round < 10; round++) {
    for (const peer of peers) peer.write(60);
    for (const peer of peers) peer.unsent = 0;
  }
  expect(peers.map((p) => p.cuts)).toEqual([0, 0, 0, 0]);
  expect(slow.total()).toBe(0);
});

test("a frame to one costs no look at the others, as long as all together are below the bound", () => {
  const { peers } = setup(3);
  const [writer, ...others] = peers as [(typeof peers)[0], ...typeof peers];
  for (let i = 0; i < 100; i++) {
    writer.write(60);
    writer.unsent = 0;
  }
  expect([writer.looks, others.map((p) => p.looks)]).toEqual([100, [0, 0]]);
});

test("what was cut or has gone counts no more", () => {
  const { slow, peers } = setup(3);
  for (const peer of peers) peer.write(80);
  peers[0]?.account.remove();
  expect(slow.total()).toBe(160);
  expect(peers[0]?.write(1)).toBe(false);
  peers[1]?.write(80);
  expect(peers.map((p) => p.cuts)).toEqual([0, 0, 0]);
  peers[2]?.write(20);
  expect(peers.map((p) => p.cuts)).toEqual([0, 1, 0]);
  expect(slow.total()).toBe(100);
});

test("a stall begins anew when enough bytes have left, and is over below the bound", () => {
  const { slow, peers, time } = setup(1);
  const peer = first(peers);
  const pass = (ms: number) => {
    time.now += ms;
    slow.look();
  };
  peer.unsent = 11;
  slow.look();
  pass(29);
  peer.sent += 5;
  pass(1);
  pass(29);
  peer.unsent = 10;
  pass(1);
  peer.unsent = 11;
  pass(29);
  pass(29);
  expect(peer.cuts).toBe(0);
  pass(1);
  expect(peer.cuts).toBe(1);
  pass(100);
  expect(peer.cuts).toBe(1);
});

test("a reader that takes a byte now and then is as slow as one that takes none", () => {
  const { slow, peers, time } = setup(1);
  const peer = first(peers);
  peer.unsent = 11;
  for (let i = 0; i < 4; i++) {
    slow.look();
    time.now += 10;
    peer.sent += 1;
  }
  slow.look();
  expect(peer.cuts).toBe(1);
});

test("a kind of connection may have a lower bound for stalls than the others", () => {
  const { slow, peers, time } = setup(1);
  let cuts = 0;
  slow.watch({ buffered: () => 1, progress: () => 0, cut: () => (cuts += 1) }, 0);
  first(peers).unsent = 1;
  slow.look();
  time.now += 30;
  slow.look();
  expect([cuts, first(peers).cuts]).toEqual([1, 0]);
});

test("what was written without a question counts too: at once when it is reported, else at the next look", () => {
  const { slow, peers } = setup(4);
  for (const [i, bytes] of [90, 80, 70, 11].entries()) {
    const peer = peers[i] as (typeof peers)[0];
    peer.unsent = bytes;
    if (i < 3) peer.account.wrote();
  }
  expect(peers.map((p) => p.cuts)).toEqual([0, 0, 0, 0]);
  slow.look();
  expect(peers.map((p) => p.cuts)).toEqual([1, 0, 0, 0]);
  const last = peers[3] as (typeof peers)[0];
  last.unsent = 101;
  last.account.wrote();
  expect(peers.map((p) => p.cuts)).toEqual([1, 0, 0, 1]);
});
