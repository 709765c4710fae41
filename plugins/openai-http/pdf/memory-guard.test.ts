import { expect, test } from "vitest";
import { guardMemory } from "./memory-guard.ts";

const mb = 1024 * 1024;
/** More than this process uses by itself. */
const used = () => process.memoryUsage().arrayBuffers;

/** Globals of a thread, apart from those of this one. */
function scopeOf() {
  class Memory {
    buffer = { byteLength: 200 * mb };
    grow(pages: number): number {
      return pages;
    }
  }
  return { Uint8Array, Float64Array, WebAssembly: { Memory }, DecompressionStream };
}

test("arrays up to the limit are made as ever; one beyond it throws, which is told", () => {
  const scope = scopeOf();
  const isExceeded = guardMemory(used() + 64 * mb, scope);

  expect(new scope.Uint8Array([1, 2])).toEqual(Uint8Array.of(1, 2));
  expect(new scope.Uint8Array(mb)).toBeInstanceOf(Uint8Array);
  expect(scope.Uint8Array.from([3])).toHaveLength(1);
  expect(isExceeded()).toBe(false);

  expect(() => new scope.Float64Array(32 * mb)).toThrow(RangeError);
  expect(isExceeded()).toBe(true);
});

test("many small arrays are counted together", () => {
  const scope = scopeOf();
  guardMemory(0, scope);
  const make = () => new scope.Uint8Array(100_000);

  expect([make().length, make().length]).toEqual([100_000, 100_000]);
  expect(make).toThrow(RangeError);
});

test("a decoder's memory grows up to its limit", () => {
  const scope = scopeOf();
  const isExceeded = guardMemory(0, scope);
  const memory = new scope.WebAssembly.Memory();

  expect(memory.grow(56 * 16)).toBe(56 * 16);
  expect(() => memory.grow(56 * 16 + 1)).toThrow(RangeError);
  expect(isExceeded()).toBe(true);
});

test("nothing unpacks outside of what is counted", () => {
  const scope = scopeOf();
  guardMemory(0, scope);

  expect(scope).not.toHaveProperty("DecompressionStream");
});
