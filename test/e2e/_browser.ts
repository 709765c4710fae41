import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { commandPath } from "../servers/needs.ts";
import { checkFrames } from "./_frames.ts";

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const screens = join(import.meta.dirname, "../.tmp/screens");
/** Pictures are for people who look at the pages; no test reads them. */
const takesPictures = process.env.SVC_TEST_SCREENS === "1";

export const desktop = { width: 1440, height: 900 } as const;
export const phone = { width: 390, height: 844, touch: true } as const;

function chromiumPath(): string {
  return process.env.CHROMIUM_PATH ?? commandPath("chromium") ?? "/usr/bin/chromium";
}

/** @param more further switches, such as those of a microphone that is none */
export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: [...args, ...more] });
}

export interface Tab {
  page: Page;
  context: BrowserContext;
  /** Console errors and warnings, uncaught errors and policy violations so far. */
  problems: string[];
  /** Leaves a picture in `test/.tmp/screens` where `SVC_TEST_SCREENS=1` asks for them. */
  picture(name: string): Promise<void>;
  /** Leaves a picture there in any case. */
  takePicture(name: string): Promise<void>;
  /** Ends what its page has under way. A fresh profile is closed, a kept tab waits for the next test. */
  leave(): Promise<void>;
}

interface Screen {
  width: number;
  height: number;
  touch?: boolean;
  dark?: boolean;
  /** Nothing moves, for people who asked their system for that. */
  still?: boolean;
}

/** Tabs of each browser, by screen. */
const kept = new WeakMap<Browser, Map<string, Tab>>();
const colourSchemeOf = ({ dark = false }: Screen) => (dark ? "dark" : "light");

/**
 * A tab that an earlier test of this file may have used, with empty storage and no problems noted. Its cache stays, and its history: a new profile and its first
 * page load cost as much CPU as six of these.
 */
export async function takeTab(browser: Browser, options: Screen = desktop): Promise<Tab> {
  const tabs = kept.get(browser) ?? new Map<string, Tab>();
  kept.set(browser, tabs);
  const name = JSON.stringify(options);
  // Animations are drawn sixty times a second, by the processor; fresh profiles keep them.
  const tab = tabs.get(name) ?? keep(await openTab(browser, { ...options, still: true }), options, () => tabs.delete(name));
  tabs.set(name, tab);
  tab.problems.length = 0;
  return tab;
}

/** @param drop called when nobody can say what its page has left behind */
function keep(tab: Tab, options: Screen, drop: () => void): Tab {
  const { page, context, problems } = tab;
  const leave = async () => {
    for (const other of context.pages()) if (other !== page) await other.close();
    await context.clearPermissions();
    // Whatever the page does while it ends, it stores nothing.
    const isClean = await page.evaluate(forgetStorage).then(
      () => true,
      () => page.url() === "about:blank",
    );
    if (!isClean) {
      drop();
      return context.close();
    }
    const seen = problems.length;
    await page.goto("about:blank");
    // Sockets and requests that the page had open have failed by leaving it.
    problems.length = seen;
    await page.emulateMedia({ colorScheme: colourSchemeOf(options) });
  };
  return { ...tab, leave };
}

const forgetStorage = `
for (const storage of [localStorage, sessionStorage]) storage.clear();
Storage.prototype.setItem = () => undefined;`;

/** A fresh browser profile with one tab that notes everything that goes wrong in it; its frames are compared with the protocol. */
export async function openTab(browser: Browser, options: Screen = desktop): Promise<Tab> {
  const { width, height, touch = false, still = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    hasTouch: touch,
    isMobile: touch,
    colorScheme: colourSchemeOf(options),
    reducedMotion: still ? "reduce" : "no-preference",
    locale: "en-GB",
  });
  const problems: string[] = [];
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  checkFrames(page);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      problems.push(`${message.type()}: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction("noteViolation", (text: string) => problems.push(`policy: ${text}`));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      void (globalThis as unknown as { noteViolation(text: string): void }).noteViolation(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const takePicture = async (name: string) => {
    await mkdir(screens, { recursive: true });
    await page.screenshot({ path: join(screens, `${name}.png`), animations: "disabled" });
  };
  return {
    page,
    context,
    problems,
    takePicture,
    picture: async (name) => (takesPictures ? takePicture(name) : undefined),
    leave: () => context.close(),
  };
}

interface AxeResult {
  violations: Array<{ id: string; help: string; nodes: Array<{ target: string[]; failureSummary?: string }> }>;
}

/** Lists what axe finds, one line per element, once everything that fades or slides in is in its place. */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(await axeSource());
  await page.evaluate(finishAnimations);
  // Elements that pass are not described.
  const options = { resultTypes: ["violations"], ...(rules ? { runOnly: { type: "rule", values: rules } } : {}) };
  const result = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResult;
  return result.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary ?? v.help}`));
}

/** The same for a page in light colours, and after it what axe finds of its dark ones. */
export async function axeViolationsInBothSchemes(page: Page): Promise<string[]> {
  const found = await axeViolations(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await axeViolations(page, colourRules);
  await page.emulateMedia({ colorScheme: "light" });
  return [...found, ...dark.map((line) => `dark, ${line}`)];
}

/** All that another colour can break. */
const colourRules = ["color-contrast", "link-in-text-block"];

const axeSource = () => readFile(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** Endless ones cannot be finished. */
const finishAnimations =
  "for (const one of document.getAnimations()) if (Number.isFinite(one.effect?.getComputedTiming().endTime)) one.finish()";
