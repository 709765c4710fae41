#!/usr/bin/env node
/** Answers `--version`, root help and `completion` without loading the product; everything else is `kernel/bin.ts`. */

const argv = process.argv.slice(2);
const namesCommand = /^[^-]/.test(argv[0] ?? "") && argv[0] !== "help";
const answer = argv[0] === "completion" || !namesCommand ? await (await import("./root-help.mjs")).quickAnswer(argv) : undefined;
if (answer === undefined) {
  const { loadKernel } = await import("./load-kernel.mjs");
  const { main, finish } = await loadKernel();
  await finish(await main(argv));
} else {
  process.stdout.on("error", () => undefined); // a reader that left (`svc --help | head -1`) is no fault
  process.stdout.write(answer);
}
