import { loadCommand, readCommands } from "./commands.ts";
import { createCliContext } from "./context.ts";
import { createColor } from "./output.ts";
import { parseCommand } from "./parse-command.ts";
import { createProgram, type ProgramParts } from "./program.ts";

/** Parts of the `svc` program. */
export const programParts: ProgramParts = {
  readCommands,
  loadCommand,
  parseCommand,
  createContext: createCliContext,
  createColor,
  maker: async () => (await import("./gateway-maker.ts")).gatewayMaker,
};

/** Runs one command line. Never rejects: every failure becomes a message and an exit code. */
export const runCommandLine = createProgram(programParts);
