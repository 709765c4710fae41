import { printableLine } from "../../sdk/text/printable.ts";

/**
 * Lines of a table with aligned columns, the head first; the last column is as long as it is. Cells may come from anywhere: text that would forge a row
 * or drive the terminal is shown as `\u001b`.
 */
export function tableLines(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const all = [head, ...rows.map((row) => row.map(printableLine))];
  const widths = head.map((_, i) => all.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), 0));
  return all.map((cells) =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}
