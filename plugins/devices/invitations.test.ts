import { expect, test } from "vitest";
import { createInvitations, INVITATION_TTL_MS, MAX_INVITATIONS } from "./invitations.ts";

function setup() {
  const time = { now: 1_000 };
  let ids = 0;
  const invitations = createInvitations({ monotonic: () => time.now, randomId: () => `i${++ids}` });
  const connected = { is: true };
  const make = () => invitations.make({ scopes: ["operator.read"], isHere: () => connected.is });
  return { invitations, time, connected, make };
}

test("an invitation is good once, and its token is no id that others are told", () => {
  const { invitations, make } = setup();
  const { token, requestId, scopes } = make();
  expect(token).toMatch(/^[\w-]{43}$/);
  expect([requestId, scopes]).toEqual(["i1", ["operator.read"]]);
  expect(invitations.take(token)?.invitation).toMatchObject({ requestId: "i1", scopes: ["operator.read"] });
  expect([invitations.take(token), invitations.find(token), invitations.take("i1")]).toEqual([undefined, undefined, undefined]);
});

test("one that was taken in vain can be used after all", () => {
  const { invitations, make } = setup();
  const { token } = make();
  invitations.take(token)?.restore();
  expect(invitations.find(token)).toBeDefined();
});

test("it ends with its time, with the connection that made it, and when it is withdrawn", () => {
  const { invitations, time, connected, make } = setup();
  const old = make();
  time.now += INVITATION_TTL_MS - 1;
  expect(invitations.find(old.token)).toBeDefined();
  time.now += 1;
  expect(invitations.find(old.token)).toBeUndefined();

  const withdrawn = make();
  expect([invitations.withdraw(withdrawn.requestId), invitations.withdraw(withdrawn.requestId)]).toEqual([true, false]);
  expect(invitations.find(withdrawn.token)).toBeUndefined();

  const left = make();
  connected.is = false;
  expect(invitations.find(left.token)).toBeUndefined();
  connected.is = true;
  expect(invitations.find(left.token)).toBeUndefined();
});

test("of too many the oldest goes", () => {
  const { invitations, make } = setup();
  const all = Array.from({ length: MAX_INVITATIONS + 1 }, make);
  expect(all.filter(({ token }) => invitations.find(token) === undefined)).toEqual([all[0]]);
});
