import { afterEach, expect, test, vi } from "vitest";

const { rangeAround, rangeBetween, stepTowards } = await import(new URL("./public/ui/window.js", import.meta.url).href);
const { afterFrame } = await import(new URL("./public/ui/frames.js", import.meta.url).href);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("blocks are in a range when a part of them lies in it", () => {
  const heights = [100, 100, 50, 100];
  expect(rangeBetween(heights, 0, 100)).toEqual({ from: 0, to: 1 });
  expect(rangeBetween(heights, 99, 101)).toEqual({ from: 0, to: 2 });
  expect(rangeBetween(heights, 100, 250)).toEqual({ from: 1, to: 3 });
  expect(rangeBetween(heights, -400, 40)).toEqual({ from: 0, to: 1 });
  expect(rangeBetween(heights, 200, 9_000)).toEqual({ from: 2, to: 4 });
  expect(rangeBetween(heights, 9_000, 9_500)).toEqual({ from: 4, to: 4 });
  expect(rangeBetween([], 0, 100)).toEqual({ from: 0, to: 0 });
});

test("each frame draws one block more, what is seen first and then around it, and drops at once what is far", () => {
  const wanted = { from: 10, to: 16 };
  const seen = { from: 12, to: 14 };
  const steps = [{ from: 0, to: 4 }];
  for (let i = 0; i < 8; i++) steps.push(stepTowards(steps.at(-1), wanted, seen));
  expect(steps.slice(1).map(({ from, to }) => [from, to])).toEqual([
    [12, 13],
    [12, 14],
    [12, 15],
    [12, 16],
    [11, 16],
    [10, 16],
    [10, 16],
    [10, 16],
  ]);
  expect(stepTowards({ from: 10, to: 16 }, { from: 13, to: 19 }, { from: 15, to: 17 })).toEqual({ from: 13, to: 17 });
  expect(stepTowards({ from: 13, to: 19 }, wanted, seen)).toEqual({ from: 12, to: 16 });
});

test("around a view some blocks are drawn, and four on each side where the reader opened what is taller than that", () => {
  const low = Array.from({ length: 100 }, () => 50);
  expect(rangeAround(low, 2_000, 2_500)).toEqual({ from: 33, to: 57 });
  const tall = Array.from({ length: 100 }, () => 500);
  expect(rangeAround(tall, 20_000, 20_600)).toEqual({ from: 36, to: 46 });
  expect(rangeAround(tall, 0, 600)).toEqual({ from: 0, to: 6 });
  expect(rangeAround(tall.slice(0, 3), 700, 1_500)).toEqual({ from: 0, to: 3 });
});

test("work waits for a frame and is done after it, unless it is called off before or behind the frame", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const frames = new Map<number, () => void>();
  vi.stubGlobal("requestAnimationFrame", (act: () => void) => frames.set(frames.size + 1, act).size);
  vi.stubGlobal("cancelAnimationFrame", (id: number) => frames.delete(id));
  const work = vi.fn();
  const draw = () => {
    for (const act of frames.values()) act();
    frames.clear();
  };
  afterFrame(work);
  vi.runAllTimers();
  draw();
  expect(work).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(work).toHaveBeenCalledTimes(1);
  afterFrame(work)();
  draw();
  const callOff = afterFrame(work);
  draw();
  callOff();
  vi.runAllTimers();
  expect(work).toHaveBeenCalledTimes(1);
});
