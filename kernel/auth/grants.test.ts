import { describe, expect, test } from "vitest";
import { protocolErrors } from "../../sdk/protocol/errors.ts";
import { followRights, type Right } from "./grants.ts";
import { createRevocations } from "./revocations.ts";

function right(renewed?: () => Right | undefined) {
  const controller = new AbortController();
  const end = (reason: string) => controller.abort(protocolErrors.unauthorized({ reason }));
  return { end, right: { signal: controller.signal, ...(renewed ? { renewed } : {}) } satisfies Right };
}

describe("a connection ends", () => {
  test("with the first of its rights that ends, for that one's reason", () => {
    const ended: string[] = [];
    const [secret, device] = [right(), right()];
    followRights([secret.right, device.right], createRevocations(), (reason) => ended.push(reason));
    device.end("device removed");
    expect(ended).toEqual(["device removed"]);
  });

  test("at once when a right has ended before", () => {
    const ended: string[] = [];
    const secret = right();
    secret.end("gateway auth changed");
    followRights([secret.right], createRevocations(), (reason) => ended.push(reason));
    expect(ended).toEqual(["gateway auth changed"]);
  });

  test("not while a right is renewed, and then with the renewed one", () => {
    const ended: string[] = [];
    const next = right();
    const first = right(() => next.right);
    followRights([first.right], createRevocations(), (reason) => ended.push(reason));
    first.end("gateway policy changed");
    expect(ended).toEqual([]);
    next.end("again");
    expect(ended).toEqual(["again"]);
  });

  test("not after it is gone", () => {
    const ended: string[] = [];
    const next = right();
    const first = right(() => next.right);
    const stop = followRights([first.right], createRevocations(), (reason) => ended.push(reason));
    first.end("renewed");
    stop();
    next.end("late");
    expect(ended).toEqual([]);
  });
});
