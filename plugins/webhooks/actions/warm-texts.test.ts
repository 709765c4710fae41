import { expect, test } from "vitest";
import { warmTexts } from "./warm-texts.ts";

test("texts are warmed one piece a turn, and no more of them once the gateway stops", async () => {
  const countTurns = async (signal: AbortSignal) => {
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await warmTexts(signal);
    isOver = true;
    return turns;
  };
  expect(await countTurns(new AbortController().signal)).toBeGreaterThanOrEqual(7);
  expect(await countTurns(AbortSignal.abort())).toBeLessThanOrEqual(2);
});
