import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Conflict } from "./conflict.ts";

/** Rules within `session`. */
export function sessionConflicts({ session }: SvcConfig): Conflict[] {
  const { highWaterBytes, maxDiskBytes } = session.maintenance;
  if (typeof highWaterBytes === "string" || highWaterBytes <= maxDiskBytes) return [];
  return [
    {
      path: ["session", "maintenance", "highWaterBytes"],
      message: `expected at most session.maintenance.maxDiskBytes (${maxDiskBytes})`,
      hint: 'a share such as "80%" follows maxDiskBytes',
    },
  ];
}

interface Access {
  dmPolicy?: string | undefined;
  allowFrom?: readonly string[] | undefined;
}

/** Rules within `channels`: who lets everybody in must say so twice. */
export function channelConflicts({ channels }: SvcConfig): Conflict[] {
  const { defaults, ...rest } = channels;
  return Object.entries(rest).flatMap(([id, body]) => {
    const channel = body as Access & { accounts?: Record<string, Access> };
    const inherited = { dmPolicy: channel.dmPolicy ?? defaults.dmPolicy, allowFrom: channel.allowFrom };
    const accounts = Object.entries(channel.accounts ?? {}).filter(([, account]) => account.dmPolicy || account.allowFrom);
    return [
      ...openConflicts(inherited, ["channels", id]),
      ...accounts.flatMap(([account, own]) =>
        openConflicts({ dmPolicy: own.dmPolicy ?? inherited.dmPolicy, allowFrom: own.allowFrom ?? inherited.allowFrom }, [
          "channels",
          id,
          "accounts",
          account,
        ]),
      ),
    ];
  });
}

function openConflicts({ dmPolicy, allowFrom }: Access, at: PropertyKey[]): Conflict[] {
  if (dmPolicy !== "open" || allowFrom?.includes("*")) return [];
  return [
    {
      path: [...at, "dmPolicy"],
      message: 'dmPolicy "open" needs allowFrom: ["*"]',
      hint: "everybody who finds the account may talk to the agent then",
    },
  ];
}
