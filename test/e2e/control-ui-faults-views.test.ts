import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { launchChromium } from "./_browser.ts";
import { currentToken, type FaultWorld, faultGateway, faultRows, faults, openFaultTab, silentFaults, wrongIn } from "./_ui-faults.ts";

const { test } = needs("chromium");

/** Views for faults that are slow by themselves; `npm run test:long ui-faults` has all of them. */
const few = faultRows.filter(({ name }) => ["chat", "models", "config"].includes(name));

let stateDir: string;
let browser: Browser;
let world: FaultWorld;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-ui-faults-"));
  const gateway = await faultGateway(stateDir);
  browser = await launchChromium();
  world = { gateway, tab: await openFaultTab(browser) };
});
afterAll(async () => {
  await browser?.close();
  await world?.gateway.close();
  await rm(stateDir, { recursive: true, force: true });
});

test.each(silentFaults)(
  "$name: the page notices by itself, and shows no old time as the present one",
  async (fault) => {
    const tab = await openFaultTab(browser, { clock: true });
    try {
      expect(await wrongIn({ ...world, tab }, fault, few)).toEqual([]);
    } finally {
      await tab.leave();
    }
  },
  240_000,
);

test.each(faults)(
  "$name: what is shown says how old it is, nothing can be written, nothing typed is lost, and all of it is as of now afterwards",
  async (fault) => {
    expect(await wrongIn(world, fault, fault === faults[0] ? faultRows : few)).toEqual([]);
    expect(world.tab.problems.filter((problem) => !/WebSocket|ERR_CONNECTION|401/.test(problem))).toEqual([]);
  },
  240_000,
);

test("a reload for another build asks first where something typed would be lost", async () => {
  const tab = await openFaultTab(browser);
  const { page } = tab;
  try {
    await page.goto(`${world.gateway.url}/#token=${currentToken()}`);
    await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
    await page.evaluate("location.hash = '#/channels'");
    await page.getByRole("button", { name: "irc", exact: true }).click();
    const host = page.getByRole("form", { name: "Set up irc" }).getByLabel(/^host/i).first();
    await host.fill("irc.example.net");
    const fault = faults.find(({ name }) => name.includes("build")) as (typeof faults)[number];
    await fault.begin({ ...world, tab });
    await fault.end({ ...world, tab });
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("dialog").getByText("What stands in other fields is lost.").waitFor();
    await page.keyboard.press("Escape");
    expect(await host.inputValue()).toBe("irc.example.net");
  } finally {
    await tab.leave();
  }
});
