import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { axeViolations, launchChromium, openTab, type Tab } from "./_browser.ts";
import { askToBePaired, createHouse, type House, show, viewsOf } from "./_ui-house.ts";

const { describe, test } = needs("chromium");

let house: House;
let browser: Browser;
let tab: Tab;
let page: Page;

beforeAll(async () => {
  [house, browser] = await Promise.all([createHouse(), launchChromium()]);
  tab = await openTab(browser);
  page = tab.page;
  await page.goto(`${house.gateway.url}/#token=${house.gateway.token}`);
  await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
});
afterAll(async () => {
  await browser?.close();
  await house?.close();
});
afterEach(async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ forcedColors: "none", reducedMotion: "no-preference", colorScheme: "light" });
  await page.evaluate(() => document.documentElement.removeAttribute("dir"));
  expect(tab.problems.splice(0)).toEqual([]);
});

interface Way {
  name: string;
  width: number;
  height: number;
  media?: Parameters<Page["emulateMedia"]>[0];
  isRightToLeft?: boolean;
  /** Rules of axe that are asked for; none: all of them. */
  rules?: string[];
}

/** Rules about what another direction, size or palette can break. */
const lookRules = ["color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block"];
const ways: Way[] = [
  { name: "from right to left", width: 1440, height: 900, isRightToLeft: true },
  { name: "from right to left on a phone", width: 390, height: 844, isRightToLeft: true, rules: lookRules },
  { name: "enlarged four times", width: 320, height: 256, rules: lookRules },
  // axe reads the page's own colours here, not those that are seen.
  {
    name: "in colours of the system",
    width: 1440,
    height: 900,
    media: { forcedColors: "active", colorScheme: "dark" },
    rules: lookRules.slice(1),
  },
];

describe.each(ways)("every view $name", ({ name, width, height, media, isRightToLeft = false, rules }) => {
  test("scrolls one way only, hides nothing behind anything, and has nothing for axe to find", async () => {
    await page.setViewportSize({ width, height });
    if (media) await page.emulateMedia(media);
    if (isRightToLeft) await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
    const found: string[] = [];
    for (const [view, address] of viewsOf(house)) {
      await show(page, address);
      found.push(...(await layoutTroubles(page)).map((trouble) => `${view}: ${trouble}`));
      found.push(...(await axeViolations(page, rules)).map((violation) => `${view}: ${violation}`));
      await tab.picture(`access-${name.replaceAll(" ", "-")}-${view}`);
    }
    expect(found).toEqual([]);
  });
});

test("a translated file of the catalogue is shown, and nothing else has to be touched", async () => {
  const translated = await openTab(browser);
  const file = join(import.meta.dirname, "../../plugins/control-ui/public/texts/sessions.js");
  const body = (await readFile(file, "utf8"))
    .replace('sessions: "Sessions"', 'sessions: "الجلسات"')
    .replace('other: "# messages"', 'two: "رسالتان", other: "# رسائل"');
  await translated.page.route("**/texts/sessions.js", (route) => route.fulfill({ body, contentType: "text/javascript" }));
  await translated.page.goto(`${house.gateway.url}/#token=${house.gateway.token}`);
  await translated.page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
  await show(translated.page, "#/sessions");
  await translated.page.getByRole("heading", { level: 1, name: "الجلسات" }).waitFor();
  await translated.page.getByRole("button", { name: "Actions for Letters of last week" }).click();
  await translated.page.getByRole("menuitem", { name: "Delete" }).click();
  await translated.page.getByRole("heading", { name: "Delete “Letters of last week”, 2 رسائل?" }).waitFor();
  expect(translated.problems).toEqual([]);
  await translated.leave();
});

test("nothing moves for people who asked their system for that", async () => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await show(page, "#/chat/agent%3Amain%3Amoving");
  await field().fill("Tell me a long story.");
  await page.keyboard.press("Enter");
  await page.locator(".answer").getByText("Once upon a time").waitFor();
  expect(await moving()).toEqual([]);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  expect(await moving()).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
});

describe("a screen reader is given", () => {
  test("a conversation: who said what, the search, a table, the source, and that an answer is on its way", async () => {
    await show(page, "#/chat/agent%3Amain%3Atree");
    await field().fill("Where is the router?");
    await page.keyboard.press("Enter");
    await page.locator(".answer table").waitFor();
    await page.getByRole("button", { name: "Copy answer" }).waitFor();
    await page.locator(".tool").waitFor();
    expect(await tree(page.getByRole("region", { name: "Conversation" }))).toMatchInlineSnapshot(`
      "- region "Conversation":
        - region "Messages":
          - article:
            - heading "Today" [level=2]
            - text: You Where is the router?
            - paragraph:
              - strong: main
              - time: 00:00
              - text: house/script
            - group:
              - code: memory_search
              - text: “router shelf” 1 hit
            - paragraph:
              - text: The router stands
              - strong: in the hall
              - text: ", on the second shelf beside the meter."
            - region "Table":
              - table:
                - rowgroup:
                  - row "Light Means":
                    - columnheader "Light"
                    - columnheader "Means"
                - rowgroup:
                  - row "green connected":
                    - cell "green"
                    - cell "connected"
                  - 'row "orange, blinking no line: restart it and wait two minutes"':
                    - cell "orange, blinking"
                    - 'cell "no line: restart it and wait two minutes"'
            - paragraph: Its password is on the sticker below.
            - link "Source house.md:3-5":
            - button "Copy answer"
            - button "More about this answer"
        - status
        - 'button "main, house/script: choose agent and model"': main, house/script
        - progressbar "Context used"
        - text: 2,952 of 32,000 tokens in the last request and its answer
        - button "More about this conversation"
        - form "Write":
          - button "Attach files"
          - textbox "Message"
          - button "Send" [disabled]"
    `);
    await field().fill("Tell me a long story.");
    await page.keyboard.press("Enter");
    await page.locator("main").getByRole("status").filter({ hasText: "Answering" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => page.locator("main").getByRole("status").filter({ hasText: "Answering" }).count()).toBe(0);
  });

  test("what waits for somebody, told when it comes, with the subject in the name of each button", async () => {
    await show(page, "#/about");
    const told = page.locator("header [aria-live=polite]");
    await expect.poll(() => told.textContent()).toBe("Needs you: 4");
    const answer = house.gateway.rpc("exec.approval.request", { command: "rm -rf /tmp/x", agentId: "main", cwd: "/srv" });
    await expect.poll(() => told.textContent()).toBe("Needs you: 5");
    await page.keyboard.press("y");
    const panel = page.getByRole("dialog", { name: "Needs you" });
    await panel.getByText("rm -rf /tmp/x").waitFor();
    expect(await tree(panel)).toMatchInlineSnapshot(`
      "- dialog "Needs you":
        - heading "Needs you" [level=2]
        - status: 5 things to look at.
        - list:
          - listitem:
            - paragraph:
              - strong: Agent main asks to run a command
            - text: rm -rf /tmp/x
            - paragraph: in /srv · expires in 0 min
            - 'button "Allow once: Agent main asks to run a command"': Allow once
            - 'button "Deny: Agent main asks to run a command"': Deny
          - listitem:
            - paragraph:
              - strong: Eve (@eve) asks to write to the agent
            - paragraph: talk, default · code 00000000 · expires in 0 min
            - 'button "Approve: Eve (@eve) asks to write to the agent"': Approve
            - 'button "Reject: Eve (@eve) asks to write to the agent"': Reject
            - link "Channels":
          - listitem:
            - paragraph:
              - strong: Phone 1 asks to be paired
            - paragraph: "Asks to do: read"
            - paragraph: web · from 192.0.2.7 · asked just now · id 11111111
            - 'button "Approve: Phone 1 asks to be paired"': Approve
            - 'button "Reject: Phone 1 asks to be paired"': Reject
            - link "Devices":
          - listitem:
            - paragraph:
              - strong: Talk · away is blocked
            - paragraph: the token is not of the right form
            - 'button "Start again: Talk · away is blocked"': Start again
            - link "Open Channels":
          - listitem:
            - paragraph:
              - strong: Weather does not work
            - paragraph: "index.ts:1:116: expected a key of the weather service, got none"
            - paragraph: "What to do: its module throws while loading; fix it or switch it off: svc plugins disable weather."
            - 'button "Try again: Weather does not work"': Try again
            - link "Open Plugins":
        - button "Close""
    `);
    await panel.getByRole("button", { name: "Deny: Agent main asks to run a command" }).click();
    expect(await answer).toMatchObject({ decision: "deny" });
    await expect.poll(() => panel.getByRole("status").first().textContent()).toMatch(/4 things/);
    await page.keyboard.press("Escape");
  });

  test("a form whose value is wrong: the field says so, and why", async () => {
    await show(page, "#/schedule");
    await page.getByRole("button", { name: "New job" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "At intervals" }).click();
    await dialog.getByRole("spinbutton", { name: "Every" }).fill("0");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("alert").waitFor();
    expect(await tree(dialog.getByRole("group", { name: "When" }).first())).toMatchInlineSnapshot(`
      "- group "When":
        - text: When
        - group "When":
          - button "By a crontab"
          - button "At intervals" [pressed]
          - button "Once"
        - text: Every
        - spinbutton "Every" [invalid]: "0"
        - alert: A number from one second to 366 days.
        - text: Unit
        - combobox "Unit":
          - option "seconds"
          - option "minutes" [selected]
          - option "hours"
          - option "days""
    `);
    expect(await dialog.getByRole("spinbutton", { name: "Every" }).getAttribute("aria-invalid")).toBe("true");
    await page.keyboard.press("Escape");
  });
});

describe("by keyboard alone", () => {
  test("one signs in, asks, opens a source, stops an answer and goes to another session", async () => {
    tab = await openTab(browser);
    page = tab.page;
    await page.goto(house.gateway.url);
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
    await page.keyboard.type(house.gateway.token);
    await page.keyboard.press("Enter");
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.keyboard.press("n");
    await expect.poll(focused).toBe("Message");
    await page.keyboard.type("Where is the router?");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /house\.md:3-5/ }).waitFor();
    await tabTo(/house\.md:3-5/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.locator("mark").filter({ hasText: "The router stands in the hall" }).waitFor();
    await tabTo(/^Close/);
    await page.keyboard.press("Enter");
    await field().waitFor();
    await tabTo(/^Message$/);
    await page.keyboard.type("Tell me a long story.");
    await page.keyboard.press("Enter");
    await page.locator(".answer").getByText("Once upon a time").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Stopped", { exact: true }).first().waitFor();
    const before = page.url();
    await page.keyboard.press("Alt+ArrowDown");
    await expect.poll(() => page.url()).not.toBe(before);
  });

  test("one approves a device and changes a setting", async () => {
    askToBePaired(house.gateway, 2);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press("g");
    await page.keyboard.press("d");
    await page.getByText("Phone 2").waitFor();
    await tabTo(/^Approve.*Phone 2/);
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Phone 2 may connect now.").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.getByRole("searchbox", { name: "Search settings" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("logging level");
    await page
      .getByRole("link", { name: /logging\.level/ })
      .first()
      .waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("SELECT");
    await page.keyboard.type("debug");
    await page.getByText("1 change not saved").waitFor();
    await tabTo(/^Review changes$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).waitFor();
    await expect.poll(focused).toBe("Cancel");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Saved and applied.").waitFor();
  });
});

const field = () => page.getByRole("textbox", { name: "Message" });

/** Names of elements that move now. */
function moving(): Promise<string[]> {
  return page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ playState, effect }) => playState === "running" && Number(effect?.getComputedTiming().duration) > 1)
      .map(({ effect }) => (effect as KeyframeEffect).target?.className ?? ""),
  );
}

/** Roles, names and states that a screen reader is given, without what differs from run to run. */
async function tree(part: Locator): Promise<string> {
  const lines = (await part.ariaSnapshot()).split("\n").filter((line) => !line.includes("/url:"));
  return lines
    .join("\n")
    .replace(/\d\d:\d\d/g, "00:00")
    .replace(/code \w{8}/g, "code 00000000")
    .replace(/expires in \d+ min/g, "expires in 0 min")
    .replace(/asked .* ·/g, "asked just now ·");
}

/** Name of what has the focus. */
function focused(): Promise<string> {
  return page.evaluate(() => (document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "").trim());
}

/** Goes on by the Tab key until something of this name has the focus. */
async function tabTo(name: RegExp, key = "Tab"): Promise<void> {
  const seen: string[] = [];
  for (let steps = 0; steps < 80; steps++) {
    await page.keyboard.press(key);
    seen.push(await focused());
    if (name.test(seen.at(-1) as string)) return;
  }
  expect(seen).toContain(String(name));
}

/** Elements that leave the page sideways, and controls that cannot be reached by a pointer. */
function layoutTroubles(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const nameOf = (e: Element) =>
      `${e.tagName.toLowerCase()}.${e.getAttribute("class")} “${(e.getAttribute("aria-label") ?? e.textContent ?? "").trim().slice(0, 40)}”`;
    const troubles: string[] = [];
    for (const e of [document.documentElement, ...document.querySelectorAll("main, main > div, dialog[open]")])
      if (e.scrollWidth > e.clientWidth + 1) troubles.push(`${nameOf(e)} is ${e.scrollWidth} wide in ${e.clientWidth}`);
    for (const e of document.querySelectorAll("main *")) {
      const { left, right, width } = e.getBoundingClientRect();
      const isClipped = e.closest(".sr-only, pre, code, table, svg, .md, [popover], .cut, .plot, .command") !== null;
      if (width > 0 && !isClipped && (left < -1 || right > innerWidth + 1))
        troubles.push(`${nameOf(e)} reaches from ${Math.round(left)} to ${Math.round(right)}`);
    }
    const controls = [...document.querySelectorAll<HTMLElement>("main :is(a[href], button, input, select, textarea)")].filter(
      (e) => e.checkVisibility() && !e.closest(".sr-only, [popover]"),
    );
    for (const e of controls.slice(0, 80)) {
      e.scrollIntoView({ block: "center", inline: "nearest" });
      const box = e.getClientRects()[0] ?? e.getBoundingClientRect();
      const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      const isFree = at !== null && (e.contains(at) || at.contains(e) || at.closest("label")?.contains(e) === true);
      if (!isFree) troubles.push(`${nameOf(e)} is behind ${at ? nameOf(at) : "the edge of the page"}`);
    }
    scrollTo(0, 0);
    return troubles.slice(0, 8);
  });
}
