import { z } from "svc/sdk";
import { isForbiddenName } from "./environment.ts";

/** `plugins.entries.tools-exec.config`. */
export const execConfig = z.strictObject({
  mode: z
    .enum(["off", "allowlist", "ask", "full"])
    .default("off")
    .describe(
      "off: no agent runs commands; allowlist: those of `allow` and of the stored list alone; ask: a person is asked for every other one; full: all of them, unasked",
    ),
  allow: z
    .array(z.string().min(1).max(1_000))
    .max(500)
    .default([])
    .describe(
      "Commands that run unasked, word by word, as `git status` or `git log *`; a last `*` stands for any further words. Never text for a shell",
    ),
  env: z
    .array(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/)
        .refine((name) => !isForbiddenName(name), "a variable that commands never see"),
    )
    .max(100)
    .default([])
    .describe(
      "Variables of the gateway that commands see besides PATH, HOME, LANG and TZ; names that hold secrets of svc or change how programs load are refused",
    ),
  sandbox: z
    .enum(["auto", "require", "off"])
    .default("auto")
    .describe("bubblewrap: where it works, always (without it no command runs), or never"),
  network: z.boolean().default(false).describe("Commands in the sandbox reach the network, that of this machine included"),
  timeoutSeconds: z.int().min(1).max(1_700).default(120).describe("Time for a command unless its call names less"),
  memoryMb: z
    .int()
    .min(64)
    .max(1_048_576)
    .default(8_192)
    .describe("Address space of each process of a command, where prlimit is there; programs such as Node reserve far more than they use"),
  maxProcesses: z
    .int()
    .min(16)
    .max(1_048_576)
    .default(1_024)
    .describe(
      "Processes and threads of a command at one time, in the sandbox, where prlimit is there, on Linux 5.14 or newer; the system holds no limit for root",
    ),
  approvalSeconds: z.int().min(10).max(1_800).default(600).describe("Time a person has to answer; then the command is refused"),
});

export type ExecConfig = z.output<typeof execConfig>;
