import { expect, test } from "vitest";
import { tableLines } from "./table.ts";

test("columns are aligned, and the last one is as long as it is", () => {
  const rows = [
    ["long-id", "a"],
    ["b", ""],
  ];
  expect(tableLines(["ID", "NAME"], rows)).toEqual(["ID       NAME", "long-id  a", "b"]);
});

test("a cell forges neither a row nor a column, and the columns stay aligned", () => {
  const rows = [
    ["x\u001b[2J\ny", "1"],
    ["z", "2"],
  ];
  expect(tableLines(["A", "B"], rows)).toEqual(["A                  B", "x\\u001b[2J\\u000ay  1", "z                  2"]);
});

test("any number of rows is measured", () => {
  expect(
    tableLines(
      ["A"],
      Array.from({ length: 200_000 }, () => ["x"]),
    ),
  ).toHaveLength(200_001);
});
