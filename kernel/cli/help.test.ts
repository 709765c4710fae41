import { expect, it } from "vitest";
import { commandHelp, groupHelp } from "./help.ts";

it("prints a command from its data, without hidden flags", () => {
  const help = commandHelp({
    path: ["memory", "search"],
    summary: "Find passages",
    details: "Words are joined by AND.",
    positionals: [{ name: "query", required: true, rest: true }],
    options: {
      "max-results": { kind: "integer", short: "n", description: "At most this many", min: 1, max: 200, placeholder: "n" },
      mode: { kind: "string", description: "How", choices: ["fast", "deep"] },
      deep: { kind: "flag", short: "d", description: "Search everything" },
      plain: { kind: "string", description: "" },
      secret: { kind: "flag", description: "", hidden: true },
    },
    examples: [["Look for the boiler", "svc memory search boiler"]],
    run: async () => 0,
  });
  expect(help).toBe(`svc memory search: Find passages

Words are joined by AND.

Usage: svc memory search <query...> [flags]

Flags:
  -n, --max-results <n>  At most this many (1 to 200)
  --mode <fast|deep>     How
  -d, --deep             Search everything
  --plain <string>       
  -h, --help             This text

Examples:
  Look for the boiler:
    svc memory search boiler
`);
});

it("lists the commands of a group", () => {
  const members = [{ words: ["memory", "status"], description: "State of the index", module: undefined }];
  expect(groupHelp(["memory"], members)).toBe("Usage: svc memory <command> [flags]\n\nCommands:\n  memory status  State of the index\n");
});
