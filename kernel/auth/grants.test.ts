import { describe, expect, test } from "vitest";
import { protocolErrors } from "../errors.ts";
import { followGrants, type Grant } from "./grants.ts";
import { createRevocations } from "./revocations.ts";

function grant(renewed?: () => Grant | undefined) {
  const controller = new AbortController();
  const end = (reason: string) => controller.abort(protocolErrors.unauthorized({ reason }));
  return { end, grant: { signal: controller.signal, ...(renewed ? { renewed } : {}) } satisfies Grant };
}

describe("a connection ends", () => {
  test("with the first of its grants that ends, for that one's reason", () => {
    const ended: string[] = [];
    const [secret, device] = [grant(), grant()];
    followGrants([secret.grant, device.grant], createRevocations(), (reason) => ended.push(reason));
    device.end("device removed");
    expect(ended).toEqual(["device removed"]);
  });

  test("at once when a grant has ended before", () => {
    const ended: string[] = [];
    const secret = grant();
    secret.end("gateway auth changed");
    followGrants([secret.grant], createRevocations(), (reason) => ended.push(reason));
    expect(ended).toEqual(["gateway auth changed"]);
  });

  test("not while a grant is renewed, and then with the renewed one", () => {
    const ended: string[] = [];
    const next = grant();
    const first = grant(() => next.grant);
    followGrants([first.grant], createRevocations(), (reason) => ended.push(reason));
    first.end("gateway policy changed");
    expect(ended).toEqual([]);
    next.end("again");
    expect(ended).toEqual(["again"]);
  });

  test("not after it is gone", () => {
    const ended: string[] = [];
    const next = grant();
    const first = grant(() => next.grant);
    const stop = followGrants([first.grant], createRevocations(), (reason) => ended.push(reason));
    first.end("renewed");
    stop();
    next.end("late");
    expect(ended).toEqual([]);
  });
});
