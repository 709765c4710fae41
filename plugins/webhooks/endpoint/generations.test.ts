import { expect, test, vi } from "vitest";
import type { Ingress } from "../ingress.ts";
import { createGenerations } from "./generations.ts";

function generation() {
  const dispose = vi.fn();
  return { dispose, value: { ingress: { dispose } as unknown as Ingress, tokenDigest: undefined } };
}

test("an ingress that was replaced ends with its last reader, not before and only once", () => {
  const generations = createGenerations();
  const [old, next] = [generation(), generation()];
  generations.swap(old.value);
  const [first, second] = [generations.enter(), generations.enter()];

  generations.swap(next.value);

  expect(first?.isCurrent()).toBe(false);
  first?.release();
  first?.release();
  expect(old.dispose).not.toHaveBeenCalled();
  second?.release();
  expect(old.dispose).toHaveBeenCalledTimes(1);
  expect(generations.enter()?.isCurrent()).toBe(true);
});

test("without a reader it ends at once, and an endpoint that was closed takes no request", () => {
  const generations = createGenerations();
  const only = generation();
  generations.swap(only.value);

  generations.swap(undefined);

  expect(only.dispose).toHaveBeenCalledTimes(1);
  expect(generations.enter()).toBeUndefined();
});
