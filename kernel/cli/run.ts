import { loadCommand, readCommands } from "./commands.ts";
import { createCliContext } from "./context.ts";
import { createColor } from "./output.ts";
import { parseCommand } from "./parse-command.ts";
import { createProgram } from "./program.ts";

/** Runs one command line. Never rejects: every failure becomes a message and an exit code. */
export const runCommandLine = createProgram({
  readCommands,
  loadCommand,
  parseCommand,
  createContext: createCliContext,
  createColor,
  maker: async () => (await import("./gateway-maker.ts")).gatewayMaker,
});
