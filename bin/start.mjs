#!/usr/bin/env node
/** `npm start`: sets up what is missing, then runs the gateway in this very process, so that signals reach it. */
import { loadKernel } from "./load-kernel.mjs";

const argv = process.argv.slice(2);
const { main, finish } = await loadKernel();
const code = await main(["setup", "--non-interactive", "--if-missing", "--then-start", ...profileFlags(argv)]);
await finish(code === 0 ? await main(["gateway", ...argv]) : code);

/** The flags that decide where everything lives; the rest is for the gateway. */
function profileFlags(args) {
  return args.flatMap((arg, i) => {
    if (arg === "--dev" || arg.startsWith("--profile=")) return [arg];
    return arg === "--profile" && args[i + 1] !== undefined ? [arg, args[i + 1]] : [];
  });
}
