import { expect, test } from "vitest";
import { relocate, relocateLine } from "./relocate.ts";

const remembered = { startLine: 3, endLine: 3, snippet: "The door code is 4711" };
const at = (note: string, over: Partial<typeof remembered> = {}) => {
  const found = relocate(note, { ...remembered, ...over });
  return found && `${found.startLine}-${found.endLine} ${found.text}`;
};

test("a statement is found on its lines, and wherever it has moved to, the nearest first", () => {
  expect(at("a\n\n- The door code is 4711\n")).toBe("3-3 The door code is 4711");
  expect(at("- The door code is 4711\n\n\n\n\n\n- the door code is 4711.\n- x\n")).toBe("1-1 The door code is 4711");
});

test("a longer statement that holds it is taken as it stands now", () => {
  expect(at("\n\n- ~~The door code is 4711~~ no longer valid\n")).toBe("3-3 ~~The door code is 4711~~ no longer valid");
});

test("of a statement that lost lines the rest is taken, and not a small part of it", () => {
  const snippet = "Trip: passports are in the drawer tickets are in the mail";
  expect(at("## Trip\n\n- passports are in the drawer\n", { snippet })).toBe("3-3 Trip: passports are in the drawer");
  expect(at("## Trip\n\n- tickets\n", { snippet })).toBeUndefined();
});

test("a statement that was changed or taken out is gone", () => {
  expect(at("\n\n- The door code is 4712\n")).toBeUndefined();
  expect(at("")).toBeUndefined();
});

test("a statement over two lines is found when they are parted by others of its paragraph", () => {
  expect(at("intro\nThe door code\nis 4711\nand more\n")).toContain("The door code is 4711");
});

test("a message is found by its reference in the corpus", () => {
  const corpus = "[sessions/s1#L1] User: good morning to you all\n[sessions/s1#L3] User: I prefer green tea\n";
  const wanted = { startLine: 9, endLine: 9, snippet: "User: I prefer green tea", ref: "sessions/s1#L3" };
  expect(relocateLine(corpus, wanted)).toMatchObject({ startLine: 2, text: "User: I prefer green tea" });
  expect(relocateLine(corpus, { ...wanted, ref: "sessions/s2#L3" })).toBeUndefined();
});
