/** Every expression that is put together while `work` runs, by the text of the file that does it. */
export async function recordExpressions(file: string, work: () => unknown): Promise<RegExp[]> {
  const recorded: RegExp[] = [];
  const Real = globalThis.RegExp;
  const note = (made: RegExp) => {
    if (
      new Error("who").stack
        ?.split("\n")
        .slice(2, 5)
        .some((line) => line.includes(file))
    )
      recorded.push(made);
    return made;
  };
  globalThis.RegExp = new Proxy(Real, {
    construct: (target, args) => note(Reflect.construct(target, args)),
    apply: (target, self, args) => note(Reflect.apply(target, self, args)),
  });
  try {
    await work();
  } finally {
    globalThis.RegExp = Real;
  }
  return recorded;
}
