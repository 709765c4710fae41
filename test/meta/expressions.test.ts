import { describe, expect, test, vi } from "vitest";
import { attacksOn } from "../tools/regex/attacks.ts";
import { recordExpressions } from "../tools/regex/recorder.ts";
import { superlinearOn } from "../tools/regex/superlinear.ts";
import { expressionsIn } from "../tools/source/expressions.ts";
import { readRepositoryFiles } from "../tools/source/tree.ts";

const isChecked = (path: string) =>
  /^(kernel|sdk|plugins|bin|examples)\/.*\.[cm]?[jt]s(\.tmpl)?$/.test(path) &&
  !/\.test\.ts(\.tmpl)?$|\.d\.[cm]?ts$|\/vendor\/|\/fixtures\//.test(path);

const files = [...readRepositoryFiles(isChecked)].map(([path, text]) => ({ path, ...expressionsIn(path, text) }));

const page = (path: string) => import(new URL(`../../plugins/control-ui/public/${path}`, import.meta.url).href);

/** Expressions that never meet a text from outside, with the reason. */
const ownTextOnly: Record<string, string> = {
  "plugins/control-ui/page.ts /(?:^|[;}\\n*/])\\s*(?:import|export)\\s*(?:[\\w$*{][^\"'();=]*?\\bfrom\\s*|\\{[^}]*\\}\\s*from\\s*)?[\"']([^\"'\\n]+)[\"']/g":
    "reads the page's own files, once, before they are served",
};

/**
 * Expressions that are put together when the code runs: how many of each file, and what makes them. One that is made of a text which only the
 * operator writes is bounded in another way.
 */
const constructed: Record<string, { count: number; made?: () => unknown; bounded?: string }> = {
  "bin/join.mjs": { count: 1, bounded: "reads the product's own code while it is built" },
  "plugins/control-ui/public/core/memory-facts.js": {
    count: 1,
    made: async () => (await page("core/memory-facts.js")).markWords("a note", "router wlan 路由 fritz_box"),
  },
  "plugins/control-ui/public/core/config-maps.js": {
    count: 1,
    bounded: "patterns of config schemas, on a key that the person at the page types",
  },
  "plugins/embed-gemini/batch.ts": { count: 1, bounded: "one class between fixed ends: /^files\\/[\\w.-]+$/" },
  "plugins/memory-core/engine/sessions/redact.ts": { count: 6, made: () => import("../../plugins/memory-core/engine/sessions/redact.ts") },
  "kernel/cli/terminal-text.ts": { count: 1, made: () => import("../../kernel/cli/terminal-text.ts") },
  "sdk/config/fields.ts": { count: 1, bounded: "compiled to see whether it is an expression, and never run" },
  "kernel/process/log-redact.ts": { count: 1, bounded: "runs under a limit of 8 ms" },
  "plugins/messaging/inbound/mention-patterns.ts": { count: 1, bounded: "all of them run under one limit of 8 ms, on 512 characters" },
  "kernel/config/section-document.ts": {
    count: 1,
    bounded: "from files beside bundled manifests: each is a literal in its plugin's sections.ts",
  },
  "kernel/loader/fault-text.ts": {
    count: 1,
    made: async () => (await import("../../kernel/loader/fault-text.ts")).faultText(new Error("x"), "/plugins/a"),
  },
  "sdk/text/external-content.ts": { count: 3, made: () => import("../../sdk/text/external-content.ts") },
  "sdk/text/external-markers.ts": { count: 3, made: () => import("../../sdk/text/external-markers.ts") },
  "plugins/agents/runs/frame-stripper.ts": { count: 5, made: () => import("../../plugins/agents/runs/frame-stripper.ts") },
  "plugins/tools-workspace/grep.ts": { count: 1, bounded: "compiled to see whether it is an expression, and never run" },
  "plugins/tools-workspace/grep.worker.ts": { count: 1, bounded: "runs in a thread that is ended after 10 s" },
  "plugins/webhooks/actions/suspicious.ts": { count: 1, made: () => import("../../plugins/webhooks/actions/suspicious.ts") },
};

const shown = (regex: RegExp, attack: object | undefined) => (attack ? [`${regex} on ${JSON.stringify(attack)}`] : []);

describe("a regular expression", () => {
  test("is found wherever the code has one", () => {
    expect(files.flatMap(({ literals }) => literals).length).toBeGreaterThan(400);
  });

  test("needs time in proportion to its text, whatever the text is", () => {
    const superlinear = files.flatMap(({ path, literals }) =>
      literals.flatMap(({ line, source, flags }) => {
        const regex = new RegExp(source, flags);
        if (Object.hasOwn(ownTextOnly, `${path} ${regex}`)) return [];
        return shown(regex, superlinearOn(regex)).map((text) => `${path}:${line}: ${text}`);
      }),
    );

    expect(superlinear).toEqual([]);
  });

  test("that is put together when the code runs is listed above", () => {
    const found = Object.fromEntries(files.filter((file) => file.constructed > 0).map((file) => [file.path, file.constructed]));
    const listed = Object.fromEntries(Object.entries(constructed).map(([path, { count }]) => [path, count]));

    expect(found).toEqual(listed);
    expect(
      Object.keys(ownTextOnly).filter(
        (one) => !files.some(({ path, literals }) => literals.some((l) => one === `${path} /${l.source}/${l.flags}`)),
      ),
    ).toEqual([]);
  });

  test.each(Object.entries(constructed).filter(([, { made }]) => made))(
    "of %s that is put together needs no more",
    async (path, { count, made }) => {
      vi.resetModules();
      const recorded = await recordExpressions(path, () => made?.());

      expect(recorded.length).toBeGreaterThanOrEqual(count);
      expect(recorded.flatMap((regex) => shown(regex, superlinearOn(regex)))).toEqual([]);
    },
  );
});

describe("the check", () => {
  test.each([
    ["blanks at the end", /\s+$/],
    ["slashes at both ends", /^\/+|\/+$/g],
    ["a Markdown heading", /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/],
    ["a source footer", /^\s*(?:>\s*)?(?:[-*]\s+)?(?:\*\*|_)?Sources?:(?:\*\*|_)?\s*(.+?)\s*$/i],
    ["a comment that may never be closed", /<!--[\s\S]*?-->/g],
    ["a repetition in a repetition", /^(?:a+)+$/],
    ["alternatives that mean the same", /^(?:a|aa|\w)+;$/],
    ["a string that may never be closed", /"(?:\\.|[^"\\])*"/g],
    ["two words with anything between them", /\bmodel\b.*\bnot found\b/],
  ])("finds out %s", (_name, regex) => {
    expect(superlinearOn(regex)).toBeDefined();
  });

  test.each([
    ["blanks behind something else", /(?<!\s)\s+$/],
    ["a bounded repetition", /model[^.]{0,200}too long/],
    ["a class up to its end", /\{\{([^{}]*)\}\}/g],
  ])("lets %s pass", (_name, regex) => {
    expect(superlinearOn(regex)).toBeUndefined();
  });

  test("derives its strings from the expression: head, repeated part, and an end that does not fit", () => {
    const attacks = attacksOn(/^## +x*$/).map(({ head, pump, tail }) => `${head}|${pump}|${tail}`);

    expect(attacks).toEqual(expect.arrayContaining(["##| |\u2028x", "## |x| ", "## |x|a"]));
  });
});
