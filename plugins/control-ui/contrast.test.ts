import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync(new URL("./public/css/tokens.css", import.meta.url), "utf8");
const themes = ["light", "dark"] as const;
const plainGrounds = ["bg", "surface", "sunken"];

/** The ratios of the design reference: colour, what it stands on in the light and in the dark theme, and the figures. */
const published: Array<[token: string, grounds: [string, string], ratios: [number, number]]> = [
  ["text", ["accent-soft", "accent-soft"], [14.18, 10.72]],
  ["muted", ["accent-soft", "accent-soft"], [5.68, 5.42]],
  ["accent", ["accent-soft", "accent-soft"], [5.16, 6.63]],
  ["on-accent", ["accent", "accent"], [6.16, 8.77]],
  ["ok", ["ok-soft", "ok-soft"], [4.65, 7.5]],
  ["warn", ["warn-soft", "warn-soft"], [5.24, 8.11]],
  ["bad", ["bad-soft", "bad-soft"], [5.46, 7.1]],
  ["info", ["info-soft", "info-soft"], [5.49, 7.44]],
  ["focus", ["sunken", "surface"], [5.49, 7.96]],
  ["control", ["sunken", "surface"], [3.2, 3.51]],
  ["plot-4", ["surface", "surface"], [6.29, 8.25]],
];

for (const [i, theme] of themes.entries()) {
  test.each(published)(`%s has the published contrast in the ${theme} theme`, (token, grounds, ratios) => {
    expect(ratio(colour(token, i), colour(grounds[i] ?? "", i))).toBeCloseTo(ratios[i] ?? 0, 1);
  });

  test.each(["text", "muted", "accent", "ok", "warn", "bad", "info", "focus"])(
    `%s can be read on every plain ground of the ${theme} theme`,
    (token) => {
      for (const ground of plainGrounds) expect(ratio(colour(token, i), colour(ground, i))).toBeGreaterThanOrEqual(4.5);
    },
  );

  test(`borders of controls can be seen on every plain ground of the ${theme} theme`, () => {
    for (const ground of plainGrounds) expect(ratio(colour("control", i), colour(ground, i))).toBeGreaterThanOrEqual(3);
  });
}

test("the palette is the one of the design reference", () => {
  const declared = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map((m) => `${m[1]} ${m[2]} ${m[3]}`);

  expect(declared).toEqual([
    "bg #f7f7f5 #141614",
    "surface #ffffff #1c1f1d",
    "sunken #eeeeea #0e100f",
    "line #d9d9d3 #343935",
    "control #85857c #6e756f",
    "text #1c1d1a #ecefeb",
    "muted #5a5c55 #a6ada7",
    "focus #0b57d0 #8ab4ff",
    "accent #0b6e5f #5fd0b9",
    "on-accent #ffffff #06241e",
    "accent-soft #dcefea #173a33",
    "ok #1f7a3d #6fd08c",
    "ok-soft #e2f3e6 #16301f",
    "warn #8a5a00 #f0b952",
    "warn-soft #fbf0d9 #33280f",
    "bad #b3261e #ff8f85",
    "bad-soft #fbe6e4 #3a1a18",
    "info #1f5fa8 #8dbdf5",
    "info-soft #e4eef9 #152a42",
    "plot-4 #a5317e #f29bd4",
  ]);
});

function colour(token: string, theme: number): string {
  const match = new RegExp(`--${token}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css);
  return match?.[theme + 1] ?? "missing";
}

/** WCAG 2.2, relative luminance and contrast ratio. */
function ratio(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
