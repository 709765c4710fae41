import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { launchChromium } from "./_browser.ts";
import { type FaultWorld, faultGateway, faultRows, faults, openFaultTab, silentFaults, wrongIn } from "./_ui-faults.ts";

const { test } = needs("chromium");

let stateDir: string;
let browser: Browser;
let world: FaultWorld;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-ui-faults-"));
  const gateway = await faultGateway(stateDir);
  browser = await launchChromium();
  world = { gateway, tab: await openFaultTab(browser, { clock: true }) };
}, 90_000);
afterAll(async () => {
  await browser?.close();
  await world?.gateway.close();
  await rm(stateDir, { recursive: true, force: true });
});

test.each([...silentFaults, ...faults])(
  "$name, in every view: nothing shown is false, and nothing typed is lost",
  async (fault) => {
    expect(await wrongIn(world, fault, faultRows)).toEqual([]);
  },
  900_000,
);
