import fc from "fast-check";
import JSON5 from "json5";
import { expect, test } from "vitest";
import { editText } from "../../kernel/config/edit-text.ts";
import { json5Spans, type Span } from "../../kernel/config/json5-spans.ts";
import { ownValue, sameValue } from "../../sdk/config/tree.ts";
import { withValueAt } from "../../sdk/internal/config-paths.ts";
import { isRecord } from "../../sdk/is-record.ts";

const parse = (text: string): unknown => JSON5.parse(text);

/** A stream of small numbers that decides how a tree is written. */
type Dice = (sides: number) => number;

const scalar = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.double({ noNaN: true, min: -10, max: 10 }),
  fc.boolean(),
  fc.constant(null),
  fc.string({ maxLength: 8, unit: "grapheme" }),
  fc.constantFrom("${HOME}", "it's", 'say "so"', "// no comment", "/* nor */ this", "a\u2028b", "back\\slash"),
);
const key = fc
  .oneof(fc.constantFrom("a", "b", "c", "null", "two words", "$x", "ü"), fc.string({ minLength: 1, maxLength: 4 }))
  .filter((k) => k !== "__proto__");
const { tree } = fc.letrec<{ tree: Record<string, unknown>; value: unknown }>((tie) => ({
  tree: fc.dictionary(key, tie("value"), { maxKeys: 4 }) as fc.Arbitrary<Record<string, unknown>>,
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    tie("tree"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.uniqueArray(fc.constantFrom("x", "y", "z"), { maxLength: 3 }).map((ids) => ids.map((id, i) => ({ id, n: i }))),
  ),
}));

/** Writes a tree as somebody might have typed it, with a numbered comment in some of the places where one may stand. */
function written(value: unknown, dice: Dice): string {
  let comments = 0;
  const blank = (indent: string): string => {
    const comment = `#${comments}#`;
    const pick = dice(9);
    if (pick < 5) return pick % 2 ? "" : " ";
    if (pick === 5) return `\n${indent}`;
    comments += 1;
    if (pick === 6) return ` // ${comment}\n${indent}`;
    return pick === 7 ? ` /* ${comment} */ ` : `\n${indent}// ${comment}\n${indent}`;
  };
  const text = (s: string) => {
    const json = JSON.stringify(s).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
    return dice(2) ? json : `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  };
  const list = (items: string[], indent: string, [open, close]: readonly [string, string]) => {
    const body = items.map((item, i) => `${blank(indent)}${item}${blank(indent)}${i < items.length - 1 || dice(2) ? "," : ""}`).join("");
    return `${open}${body}${blank(indent)}${close}`;
  };
  const at = (v: unknown, indent: string): string => {
    if (typeof v === "string") return text(v);
    if (typeof v === "number" && Number.isInteger(v) && v > 0 && dice(4) === 0) return dice(2) ? `0x${v.toString(16)}` : `+${v}`;
    if (Array.isArray(v))
      return list(
        v.map((i) => at(i, `${indent}  `)),
        `${indent}  `,
        ["[", "]"],
      );
    if (!isRecord(v)) return Object.is(v, -0) ? "-0" : String(v);
    const member = ([k, inner]: [string, unknown]) =>
      `${/^[A-Za-z_$][\w$]*$/.test(k) && dice(2) ? k : text(k)}${blank(indent)}:${blank(indent)}${at(inner, `${indent}  `)}`;
    return list(Object.entries(v).map(member), `${indent}  `, ["{", "}"]);
  };
  return `${blank("")}${at(value, "")}${blank("")}`;
}

const source = fc
  .tuple(tree, fc.infiniteStream(fc.nat({ max: 1_000 })))
  .map(([value, numbers]) => written(value, (sides) => (numbers.next().value as number) % sides));

/** Every path of a tree, deepest first, and one new key for each object. */
function pathsOf(value: unknown, path: Array<string | number> = []): Array<Array<string | number>> {
  if (Array.isArray(value)) return [...value.flatMap((v, i) => pathsOf(v, [...path, i])), [...path, value.length], path];
  if (!isRecord(value)) return [path];
  return [...Object.entries(value).flatMap(([k, v]) => pathsOf(v, [...path, k])), [...path, "brand-new"], path];
}

/** Part of the text that an edit of a path may touch: the member or list entry there; everything for the root. */
function touched(text: string, path: ReadonlyArray<string | number>): string {
  let span: Span = json5Spans(text);
  let piece = text;
  for (const step of path) {
    if (span.kind === "object") {
      const member = span.members.findLast((m) => m.name === step);
      if (!member) return "";
      piece = text.slice(member.start, member.value.end);
      span = member.value;
    } else {
      const element = span.kind === "array" ? span.elements[Number(step)] : undefined;
      if (!element) return "";
      piece = text.slice(element.start, element.end);
      span = element;
    }
  }
  return piece;
}

/** Of two equal members of a list nobody can tell which one is taken out. */
function hasTwin(current: unknown, path: ReadonlyArray<string | number>): boolean {
  const list = path.slice(0, -1).reduce<unknown>((at, step) => ownValue(at, step), current);
  const index = path.at(-1);
  return Array.isArray(list) && list.some((member, i) => i !== index && sameValue(member, list[Number(index)]));
}

const commentsOf = (text: string) => text.match(/#\d+#/g) ?? [];
const edit = fc.record({ text: source, pick: fc.nat(), value: fc.oneof(scalar, tree, fc.constant(undefined)) });

test("an edited file reads as the edited tree, and no comment outside the edit is lost", () => {
  fc.assert(
    fc.property(edit, ({ text, pick, value }) => {
      const current = parse(text);
      const paths = pathsOf(current);
      const path = paths[pick % paths.length] as Array<string | number>;
      fc.pre(value !== undefined || !hasTwin(current, path));
      const next = path.length === 0 && value === undefined ? {} : withValueAt(current, path, value);

      const result = editText(text, { current, next });
      expect(sameValue(parse(result.text), next)).toBe(true);
      if (path.length > 0) expect(result.lost, "written anew").not.toContain("");

      const gone = commentsOf(text).filter((comment) => !result.text.includes(comment));
      expect(gone.filter((comment) => !touched(text, path).includes(comment))).toEqual([]);
      if (sameValue(current, next)) expect(result.text).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test("many edits at once read as the tree that was wanted", () => {
  fc.assert(
    fc.property(source, tree, (text, next) => {
      const result = editText(text, { current: parse(text), next });
      expect(sameValue(parse(result.text), next)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("a scalar that is changed and changed back leaves the bytes as they were", () => {
  fc.assert(
    fc.property(source, fc.nat(), (text, pick) => {
      const current = parse(text);
      const paths = pathsOf(current).filter((p) => typeof p.reduce<unknown>((at, step) => ownValue(at, step), current) === "boolean");
      const path = paths[pick % Math.max(1, paths.length)];
      if (!path) return;
      const next = withValueAt(current, path, "something else");
      const there = editText(text, { current, next }).text;
      expect(editText(there, { current: next, next: current }).text).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});
