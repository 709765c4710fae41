#!/usr/bin/env node
/** Answers `--version` and root help without loading the product; everything else is `kernel/bin.ts`. */
import { loadKernel } from "./load-kernel.mjs";
import { quickAnswer } from "./root-help.mjs";

const argv = process.argv.slice(2);
const answer = await quickAnswer(argv);
if (answer === undefined) {
  const { main, finish } = await loadKernel();
  await finish(await main(argv));
} else {
  process.stdout.write(answer);
}
