import { expect, test } from "vitest";
import { floatsText } from "./float-text.ts";

test.each([
  [[], "[]"],
  [[0, -0, 1, -1, 0.5, -0.25], "[0,0,1,-1,0.5,-0.25]"],
  [
    [0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001],
    "[0.100000001,0.00999999978,0.00100000005,0.0000999999975,0.00000999999975,9.99999997e-7]",
  ],
  [[1e-7, 3e-39, 1234.5678, 3.4e38, 0.99999994], "[1.00000001e-7,3.00000065e-39,1234.56775,3.39999995e+38,0.99999994]"],
  [[-1.2345678e20, -1.2345678e20, -1.2345678e20], "[-123456781000000000000,-123456781000000000000,-123456781000000000000]"],
])("%j is written with the digits of a float32", (numbers, text) => {
  expect(floatsText(Float32Array.from(numbers))).toBe(text);
});

test("every number is read back as the same float32", () => {
  const bits = new Uint32Array(1);
  const float = new Float32Array(bits.buffer);
  let seed = 7;
  for (let i = 0; i < 200; i++) {
    // From the smallest exponents to those of ones, with any fraction.
    const vector = Float32Array.from({ length: 1_000 }, () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      bits[0] = ((((seed >>> 24) % 30) + 100) << 23) | (seed & 0x807fffff);
      return float[0] as number;
    });
    expect(Float32Array.from(JSON.parse(floatsText(vector)))).toEqual(vector);
  }
});
