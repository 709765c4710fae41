import type { Browser, Page } from "playwright-core";
import type { TestGateway } from "svc/sdk/testing";
import { expect } from "vitest";
import { desktop, openTab, type Tab, takeTab } from "./_browser.ts";

/** Signs a tab in that an earlier test may have used, and goes to a view. */
export async function visitView(
  browser: Browser,
  gateway: TestGateway,
  address: string,
  options: Parameters<typeof takeTab>[1] = desktop,
): Promise<Tab> {
  const tab = await takeTab(browser, options);
  await enter(tab.page, gateway, address);
  return tab;
}

/**
 * A tab of its own whose frames from the gateway are changed on their way.
 * @param change returns another text of a frame, or the same
 */
export async function visitChanged(
  browser: Browser,
  gateway: TestGateway,
  address: string,
  change: (text: string) => string,
): Promise<Tab> {
  const tab = await openTab(browser);
  await tab.page.routeWebSocket(/.*/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => socket.send(change(String(message))));
  });
  await enter(tab.page, gateway, address);
  return tab;
}

/** Change of frames that takes scopes away, such as `admin|write`. */
export function without(scopes: string): (text: string) => string {
  return (text) =>
    text.includes('"hello-ok"') ? text.replaceAll(new RegExp(`"operator\\.(${scopes})",?`, "g"), "").replaceAll(",]", "]") : text;
}

/** Change of frames that answers with an error in place of each payload that has a member of this name. */
export function failing(member: string, error: () => { code: string; message: string } | undefined): (text: string) => string {
  return (text) => {
    const frame = JSON.parse(text) as { type: string; id?: unknown; payload?: Record<string, unknown> };
    const refusal = error();
    if (frame.type !== "res" || !refusal || !Object.hasOwn(Object(frame.payload), member)) return text;
    return JSON.stringify({ type: "res", id: frame.id, ok: false, error: refusal });
  };
}

/** Signs a page in and goes to a view. */
export async function enter(page: Page, gateway: TestGateway, address: string): Promise<void> {
  await page.goto(`${gateway.url}/#token=${gateway.token}`);
  await page.getByRole("heading", { level: 1, name: /Running for/ }).waitFor();
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

/** True when neither the page nor its main region scrolls sideways. */
export function isOneColumn(page: Page): Promise<boolean> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll("main, main > div, .shown-view > div")].every(
      (element) => element.scrollWidth <= element.clientWidth + 1,
    ),
  );
}

/** Expects of a page that no text in it was taken for markup. */
export async function markupOf(page: Page): Promise<unknown[]> {
  return page.evaluate(() => {
    const found = [...document.querySelectorAll("main :is(img, script, iframe, object, embed, style, link, base, form[action])")].map(
      (e) => e.outerHTML,
    );
    const links = [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].filter(
      (a) => !["http:", "https:"].includes(a.protocol),
    );
    const { pwned } = window as unknown as { pwned?: unknown };
    return [...found, ...links.map((a) => a.outerHTML), ...(pwned === undefined ? [] : ["a script ran"])];
  });
}

/** Expects that no text has run a script or put markup of its own into the page. */
export async function expectUnharmed(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    pwned: (window as unknown as { pwned?: unknown }).pwned,
    markup: [
      ...document.querySelectorAll(
        "main :is(script, iframe, object, embed, form[action], base, meta, link, style, img, video, audio, math, template, marquee)",
      ),
    ].map((e) => e.outerHTML),
    handlers: [...document.querySelectorAll("main *")]
      .filter((e) => [...e.attributes].some((a) => a.name.startsWith("on") || a.name === "srcdoc"))
      .map((e) => e.outerHTML),
    links: [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].map((a) => a.protocol),
    blanks: [...document.querySelectorAll<HTMLAnchorElement>('main a[target="_blank"]')].filter((a) => !a.rel.includes("noopener")).length,
  }));
  expect(found.pwned).toBeUndefined();
  expect(found.markup).toEqual([]);
  expect(found.handlers).toEqual([]);
  expect(found.links.filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol))).toEqual([]);
  expect(found.blanks).toBe(0);
}

/** A few of `test/tools/hostile-texts.ts`, for tests of one view. */
export const hostileTexts = [
  "<img src=x onerror=pwned=1>",
  "<svg onload=pwned=1>",
  '"><script>pwned=1</script>',
  "[a](javascript:pwned=1)",
  "‮{{constructor.constructor('pwned=1')()}}",
  "javascript:pwned=1",
];
