import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "public");
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** Rule, what breaks it, where it does not apply. */
const rules: Array<{ rule: string; broken: RegExp; samples: string[]; in: RegExp; except?: string[] }> = [
  {
    rule: "no way from text to HTML",
    broken:
      /\b(?:inner|outer)HTML\b|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTMLUnsafe/,
    samples: ["element.innerHTML = text", "<div dangerouslySetInnerHTML={x}>", 'el.insertAdjacentHTML("beforeend", x)'],
    in: /\.(js|html)$/,
  },
  {
    rule: "no inline style attribute (the policy forbids it)",
    broken: /\sstyle=/,
    samples: ['<p style="color: red">'],
    in: /\.(js|html)$/,
  },
  {
    rule: "no colour outside of tokens.css",
    broken: /#[0-9a-f]{3,8}\b(?=[;,)\s"'])|\b(?:rgba?|hsla?|oklch|oklab)\(/i,
    samples: ["color: #fff;", 'fill="#0b6e5f"', "rgb(0 0 0 / 10%)"],
    in: /\.(css|js)$/,
    except: ["css/tokens.css"],
  },
  {
    rule: "no left or right in looks, where lines may run the other way: inline-start, inline-end, start, end",
    broken:
      /(?<![\w-])(?:(?:margin|padding|border|scroll-margin|scroll-padding)-)?(?:left|right)(?:-\w+)?:|(?:text-align|float|clear): (?:left|right)/,
    samples: ["left: 4px;", "border-right-color: red;", "text-align: right;", "margin-left: auto;"],
    in: /\.css$/,
  },
  {
    rule: "no dates and numbers written by hand: core/format.js knows the locale",
    broken: /\bIntl\.(?!DateTimeFormat\(\)\.resolvedOptions)|\.toLocale(?:Date|Time)?String\(|\.toFixed\(/,
    samples: ['new Intl.NumberFormat("en")', "at.toLocaleDateString([])", "score.toFixed(2)"],
    in: /\.js$/,
    except: ["core/format.js"],
  },
  { rule: "no eval and no strings as code", broken: /\beval\(|new Function\(/, samples: ["eval(x)", "new Function(x)"], in: /\.js$/ },
  { rule: "no console", broken: /\bconsole\./, samples: ["console.log(1)"], in: /\.js$/ },
  {
    rule: "no address of another server",
    broken: /["'`(](?:https?:)?\/\/(?!www\.w3\.org\/)[\w$]/,
    samples: ['fetch("https://example.org/x")', 'import "//cdn.example.org/a.js"', "url(http://example.org/a.png)"],
    in: /\.(js|css|html)$/,
    except: ["core/refusal.js", "core/mcp.js"],
  },
  {
    rule: "no script or handler in the page but the import map and the entry",
    broken: /\son\w+=|<script(?! type="(?:importmap|module)")/,
    samples: ['<body onload="x()">', "<script>x()</script>"],
    in: /\.html$/,
  },
];

test.each(rules)("$rule", ({ broken, in: scope, except }) => {
  const bad = files.filter((f) => scope.test(f.path) && !except?.includes(f.path) && broken.test(f.text)).map((f) => f.path);

  expect(bad).toEqual([]);
});

test.each(rules)("the check for “$rule” sees a violation", ({ broken, samples }) => {
  for (const sample of samples) expect(broken.test(sample), sample).toBe(true);
});

test("every file is of a kind that is served, and stays small", () => {
  expect(files.map((f) => f.path).filter((path) => !/\.(js|css|svg|html)$/.test(path))).toEqual([]);
  const long = files.filter((f) => f.path.endsWith(".js") && f.text.split("\n").length > 330).map((f) => f.path);
  expect(long).toEqual([]);
});
