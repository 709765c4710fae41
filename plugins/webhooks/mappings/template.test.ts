import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RenderScope } from "./scope.ts";
import { parseTemplate, renderParts, renderText } from "./template.ts";

const scope: RenderScope = {
  path: "shop/orders",
  now: "2026-11-21T10:00:00.000Z",
  headers: {
    "x-event": "push",
    "x.dotted": "d",
    authorization: "Bearer secret",
    cookie: "secret",
    "x-svc-token": "secret",
    "proxy-authorization": "secret",
  },
  url: new URL("http://gateway.test/hooks/shop?a=1&a=2&b.c=3&empty="),
  payload: JSON.parse(`{
    "id": 7, "text": "t", "yes": true, "no": false, "zero": 0, "none": null, "empty": "",
    "list": [{"id": "first"}, ["x", "y"], null], "deep": {"a": {"b": [{"c": "found"}]}, "with-dash": 1, "with space": 2, "0": "zero"},
    "path": {"x": "path in payload"}, "now": {"x": "now in payload"}, "headers": "headers in payload", "payload": {"id": "inner"},
    "nested": "{{id}}", "__proto__": {"polluted": "yes"}, "constructor": {"name": "own"}, "prototype": "own"
  }`),
};
const render = (template: string, over: Partial<RenderScope> = {}) => renderText(parseTemplate(template), { ...scope, ...over });

describe("a placeholder", () => {
  test.each([
    ["{{id}}", "7"],
    ["{{ id }}", "7"],
    ["{{\n  id\t}}", "7"],
    ["a{{id}}b{{text}}c", "a7btc"],
    ["{{payload.id}}", "7"],
    ["{{payload.payload.id}}", "inner"],
    ["{{yes}} {{no}} {{zero}}", "true false 0"],
    ["[{{none}}{{empty}}{{missing}}{{missing.deeper[3]}}]", "[]"],
    ["{{list[0].id}}", "first"],
    ["{{list[1][1]}}", "y"],
    ["{{payload.deep.a.b[0].c}}", "found"],
    ["{{deep.with-dash}}{{deep.with space}}{{deep.0}}", "12zero"],
    ["{{list[9]}}{{list[0][0]}}{{deep[0]}}{{text[0]}}{{list.length}}{{text.length}}{{list.0}}", ""],
    ["{{list[1]}}", '["x","y"]'],
    ["{{deep.a}}", '{"b":[{"c":"found"}]}'],
    ["{{path}}", "shop/orders"],
    ["{{path.x}}", "path in payload"],
    ["{{now}}", "2026-11-21T10:00:00.000Z"],
    ["{{now.x}}", "now in payload"],
    ["{{headers.x-event}}{{headers.X-Event}}", "pushpush"],
    ["{{headers.x.dotted}}", "d"],
    ["{{headers}}", "headers in payload"],
    ["{{headers.missing}}{{headers.toString}}", ""],
    ["{{query.a}}", "2"],
    ["{{query.b.c}}{{query.empty}}{{query.missing}}", "3"],
  ])("%j is %j", (template, text) => expect(render(template)).toBe(text));

  test.each([
    "{{}}",
    "{{ }}",
    "{{a..b}}",
    "{{.a}}",
    "{{a.}}",
    "{{[0]}}",
    "{{a[x]}}",
    "{{a[-1]}}",
    "{{a]}}",
    "{id}",
    "{{id}",
    "{ {id} }",
    "}}{{",
    "{{a{b}}",
  ])("%j is none: it stays", (text) => expect(render(text)).toBe(text));

  test("has no logic: what looks like a helper names nothing", () =>
    expect(render("{{#if id}}x{{/if}}{{> partial}}{{id | upper}}")).toBe("x"));

  test("stands inside other braces", () => expect(render("{{{id}}} {{ {{id}} }}")).toBe("{7} {{ 7 }}"));

  test("a list is reached as payload[0], and bare paths find nothing in it", () => {
    const payload = [{ id: 1 }];
    expect(render("{{payload[0].id}}|{{id}}|{{payload.length}}", { payload })).toBe("1||");
  });

  test.each([
    [5, "5"],
    ["text", "text"],
    [null, ""],
    [false, "false"],
  ])("the payload may be %j", (payload, text) => {
    expect(render("{{payload}}{{payload.x}}{{x}}", { payload })).toBe(text);
  });
});

describe("tricks", () => {
  test.each([
    "__proto__",
    "constructor",
    "prototype",
    "__proto__.polluted",
    "constructor.name",
    "deep.__proto__",
    "deep.constructor.name",
    "headers.__proto__",
    "query.constructor",
    "toString",
    "list.map",
    "hasOwnProperty",
  ])("{{%s}} and {{payload.%s}} are empty", (path) => expect(render(`{{${path}}}{{payload.${path}}}`)).toBe(""));

  test.each(["authorization", "Authorization", "cookie", "x-svc-token", "proxy-authorization"])("{{headers.%s}} is empty", (name) => {
    expect(render(`{{headers.${name}}}`)).toBe("");
  });

  test("a value is never read as a template", () => expect(render("{{nested}}{{id}}")).toBe("{{id}}7"));

  test("a value that a getter would make is not asked for twice, and one of a prototype never", () => {
    const payload = Object.create({ inherited: "x" }, { own: { value: "y", enumerable: true } });
    expect(render("{{inherited}}{{own}}", { payload })).toBe("y");
  });

  test("replacement patterns of JavaScript mean nothing", () =>
    expect(render("<{{x}}>", { payload: { x: "$& $1 $$ $`" } })).toBe("<$& $1 $$ $`>"));
});

describe("the output", () => {
  const max = 256 * 1024;
  const failed = { code: "hook-mapping-failed", fields: { reason: "the output of a template is larger than 256 KiB" } };
  const failure = (template: string, payload: unknown) => {
    try {
      return render(template, { payload }).length;
    } catch (error) {
      return { code: (error as { code: string }).code, fields: (error as { fields: object }).fields };
    }
  };

  test("holds 256 KiB, and not a byte more", () => {
    expect(failure("{{a}}", { a: "x".repeat(max) })).toBe(max);
    expect(failure("{{a}}", { a: "x".repeat(max + 1) })).toEqual(failed);
    expect(failure("{{a}}y", { a: "x".repeat(max) })).toEqual(failed);
    expect(failure("{{a}}", { a: "é".repeat(max / 2 + 1) })).toEqual(failed);
    expect(failure("{{a}}", { a: ["x".repeat(max - 4)] })).toBe(max);
    expect(failure("{{a}}", { a: ["x".repeat(max - 3)] })).toEqual(failed);
    expect(failure("{{a}}{{a}}{{a}}", { a: "x".repeat(max / 2) })).toEqual(failed);
    expect(failure("x".repeat(max + 1), {})).toEqual(failed);
  });

  test("is given up as soon as it is too large, however much there is", () => {
    const list = Array.from({ length: 1_000_000 }, (_, i) => `item ${i} ${"x".repeat(20)}`);
    let written = 0;
    const get = (target: object, key: PropertyKey): unknown => {
      written += 1;
      return Reflect.get(target, key);
    };
    const payload = { list: new Proxy(list, { get }) };
    expect(failure("{{list}}", payload)).toEqual(failed);
    expect(written).toBeLessThan(50_000);
  });

  test("of a value that is too deep is a failure, not the end of the stack", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(failure("{{a}}", { a: deep })).toMatchObject({ code: "hook-mapping-failed" });
  });

  test("with a limit for values cuts each, never within a character", () => {
    const payload = { a: "x".repeat(9), b: `${"y".repeat(4)}😀`, c: ["z".repeat(20)] };
    const parts = renderParts(parseTemplate("1{{a}}2{{b}}3{{c}}"), { ...scope, payload }, 5);
    expect(parts.map((part) => part.text)).toEqual(["1", "xxxxx", "2", "yyyy", "3", '["zzz']);
    expect(parts.map((part) => part.isExternal)).toEqual([false, true, false, true, false, true]);
  });

  test("the time of the gateway is not from outside; path, headers and query are", () => {
    const parts = renderParts(parseTemplate("{{now}}{{path}}{{headers.x-event}}{{query.a}}"), scope);
    expect(parts.map((part) => part.isExternal)).toEqual([false, true, true, true]);
  });
});

describe("any template over any payload", () => {
  const names = ["a", "b", "list", "x-y", "__proto__", "constructor", "length", "toString"];
  const { payload } = fc.letrec((tie) => ({
    payload: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant("{{a}}")),
      fc.array(tie("payload"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie("payload"), { maxKeys: 4 }),
    ),
  }));
  const step = fc.oneof(
    fc.constantFrom(...names).map((name) => ({ name })),
    fc.nat(3).map((index) => ({ index })),
  );
  const path = fc.tuple(fc.constantFrom("payload", ...names), fc.array(step, { maxLength: 4 }));

  /** The rules of the reference once more, without any of the program. */
  function plain(value: unknown, steps: Array<string | number>): string {
    const found = steps.reduce<unknown>((at, one) => {
      if (typeof one === "number") return Array.isArray(at) ? at[one] : undefined;
      if (["__proto__", "prototype", "constructor"].includes(one)) return undefined;
      const isObject = typeof at === "object" && at !== null && !Array.isArray(at);
      return isObject ? Object.entries(at as object).find(([key]) => key === one)?.[1] : undefined;
    }, value);
    if (found === undefined || found === null) return "";
    return typeof found === "object" ? JSON.stringify(found) : String(found);
  }

  test("is what a plain reading of the rules gives", () => {
    const texts = fc.string({ unit: fc.constantFrom("a", " ", "{", "}", "é", "$&") });
    fc.assert(
      fc.property(fc.array(fc.tuple(texts, path), { maxLength: 4 }), texts, payload, (pieces, last, given) => {
        // A brace beside a placeholder would make another template of it.
        const own = (text: string) => text.replace(/[{}]+$|^[{}]+/g, "").replace(/\{\{|\}\}/g, "");
        let template = "";
        let expected = "";
        for (const [text, [root, rest]] of pieces) {
          const steps = rest.map((one) => ("name" in one ? one.name : one.index));
          template += `${own(text)}{{ ${root}${steps.map((one) => (typeof one === "number" ? `[${one}]` : `.${one}`)).join("")} }}`;
          expected += own(text) + plain(given, root === "payload" ? steps : [root, ...steps]);
        }
        expect(render(template + own(last), { payload: given })).toBe(expected + own(last));
      }),
      { numRuns: 1_000 },
    );
  });

  test("never ends in anything but text, whatever the template is", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "a", ".", "[", "]", "0", " ", "payload") }), payload, (template, given) => {
        expect(typeof render(template, { payload: given })).toBe("string");
      }),
    );
  });
});
