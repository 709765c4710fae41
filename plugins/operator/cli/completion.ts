import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CliCommand, commonErrors } from "svc/sdk";

const shells = ["bash", "zsh", "fish"] as const;

/** `svc completion`: a script for the shell, written when this release was made; nothing of an installation is read. `bin/svc.mjs` answers it before this module. */
export default {
  path: ["completion"],
  summary: "Print the completion script of a shell",
  details: "It knows the commands and flags that come with svc. Put it where the shell looks for completions, or source it.",
  examples: [
    ["bash", "source <(svc completion bash)"],
    ["zsh, in a folder of fpath", 'svc completion zsh > "$' + '{fpath[1]}/_svc"'],
    ["fish", "svc completion fish > ~/.config/fish/completions/svc.fish"],
  ],
  positionals: [{ name: "shell", required: true }],
  run: async (cli, _, [shell = ""]) => {
    if (!(shells as readonly string[]).includes(shell)) {
      throw commonErrors.usage({ message: `completion: expected one of ${shells.join(", ")}, got "${shell}"` });
    }
    cli.stdout.write(await readFile(join(cli.paths.packageRoot, "bin/completion", `svc.${shell}`), "utf8"));
    return 0;
  },
} satisfies CliCommand;
