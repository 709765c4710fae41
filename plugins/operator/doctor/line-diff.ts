/** Two texts as lines with `-`, `+` or a blank before them; what is common at both ends is left out but for two lines. */
export function lineDiff(before: string, after: string): string[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const context = 2;
  return [
    ...a.slice(Math.max(0, head - context), head).map((line) => `  ${line}`),
    ...a.slice(head, a.length - tail).map((line) => `- ${line}`),
    ...b.slice(head, b.length - tail).map((line) => `+ ${line}`),
    ...a.slice(a.length - tail, a.length - tail + context).map((line) => `  ${line}`),
  ];
}
