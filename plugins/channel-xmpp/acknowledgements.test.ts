import { expect, test } from "vitest";
import { Acknowledgements } from "./acknowledgements.ts";
import { xml } from "./xml.ts";

const stanza = (id: string) => xml("message", { id });

test("a stanza counts as handled when it is, and all before it are", () => {
  const acks = new Acknowledgements();
  const [first, second, third] = [acks.receive(), acks.receive(), acks.receive()];

  third();
  second();
  expect(acks.handled).toBe(0);
  first();
  expect(acks.handled).toBe(3);
});

test("after a link that broke, stanzas that were not told as handled count anew: the server sends them again", () => {
  const acks = new Acknowledgements();
  acks.receive()();
  const late = acks.receive();
  const told = acks.handled;
  late();

  acks.rewind(told);
  const again = acks.receive();

  expect(acks.handled).toBe(1);
  late();
  again();
  expect(acks.handled).toBe(2);
});

test("the server's count acknowledges in order, also past the end of the counter; more than was sent ends the link", () => {
  const acks = new Acknowledgements();
  const acked: string[] = [];
  for (const id of ["a", "b", "c"]) acks.send(stanza(id), () => void acked.push(id));

  acks.ack(2);
  expect([acked, acks.waiting]).toEqual([["a", "b"], 1]);
  expect(() => acks.ack(4)).toThrow("more than it was sent");
  expect(() => acks.ack(0)).toThrow("more than it was sent");
});

test("what is not acknowledged is sent again, but not what somebody was told is lost", () => {
  const acks = new Acknowledgements();
  const [a, b, c] = [stanza("a"), stanza("b"), stanza("c")];
  for (const one of [a, b, c]) acks.send(one);
  acks.ack(1);

  acks.drop(b);
  expect(acks.resend()).toEqual([c]);

  acks.ack(2);
  expect(acks.waiting).toBe(0);
});

test("a server that acknowledges nothing any more does not fill the memory", () => {
  const acks = new Acknowledgements();
  expect(() => {
    for (let i = 0; i < 2_000; i += 1) acks.send(stanza(String(i)));
  }).toThrow("acknowledges nothing");
});
