import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { launchChromium, openTab } from "./_browser.ts";
import { createHouse, type House, show, viewsOf } from "./_ui-house.ts";

const { test } = needs("chromium");

let house: House;
let browser: Browser;

beforeAll(async () => {
  [house, browser] = await Promise.all([createHouse(), launchChromium()]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await house?.close();
});

const screens = [
  { name: "desktop", width: 1440, height: 900 },
  { name: "tablet", width: 900, height: 1180 },
  { name: "phone", width: 390, height: 844, touch: true },
];

/** Pictures of every view for people who look at the page, in `test/.tmp/screens/`. */
test.each(screens.flatMap((screen) => [false, true].map((dark) => ({ ...screen, dark, look: dark ? "dark" : "light" }))))(
  "every view is drawn, and photographed: $name, $look",
  async ({ name, look, ...screen }) => {
    const tab = await openTab(browser, { ...screen, still: true });
    const { page } = tab;
    await page.goto(`${house.gateway.url}/#token=${house.gateway.token}`);
    await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    for (const [view, address] of viewsOf(house)) {
      await show(page, address);
      await page.waitForLoadState("networkidle");
      expect(await page.locator("main h1, main .transcript").count(), view).toBeGreaterThan(0);
      await tab.takePicture(`view-${view}-${name}-${look}`);
    }
    await page.keyboard.press("y");
    await page.getByRole("dialog", { name: "Needs you" }).waitFor();
    await tab.takePicture(`view-needs-${name}-${look}`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await tab.takePicture(`view-palette-${name}-${look}`);
    expect(tab.problems).toEqual([]);
    await tab.leave();
  },
  300_000,
);
