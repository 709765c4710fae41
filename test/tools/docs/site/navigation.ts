/** Parts of the site, in the order in which its menu shows them. */
export const groups = ["Start", "Operate", "Channels", "Programs and plugins", "Reference", "Parts"] as const;
export type Group = (typeof groups)[number];

const guides: Readonly<Record<string, Group>> = {
  install: "Start",
  "first-model": "Start",
  "run-as-a-service": "Operate",
  secrets: "Operate",
  "https-and-proxy": "Operate",
  "security-model": "Operate",
  "performance-and-sizing": "Operate",
  "backup-and-restore": "Operate",
  upgrade: "Operate",
  import: "Operate",
  monitoring: "Operate",
  "remote-access": "Operate",
  "several-gateways": "Operate",
  troubleshooting: "Operate",
  discord: "Channels",
  slack: "Channels",
  matrix: "Channels",
  signal: "Channels",
  telegram: "Channels",
  "irc-in-five-minutes": "Channels",
  "mail-in-five-minutes": "Channels",
  "mqtt-in-five-minutes": "Channels",
  "xmpp-in-five-minutes": "Channels",
};

/** The part of the site that a Markdown file belongs to. */
export function groupOf(source: string): Group {
  if (source === "README.md") return "Start";
  const guide = /^sdk\/docs\/guide\/(.+)\.md$/.exec(source)?.[1];
  if (guide !== undefined) return guides[guide] ?? "Programs and plugins";
  if (
    source === "SECURITY.md" ||
    source === "sdk/docs/faults.md" ||
    source.startsWith("examples/deploy/") ||
    source.startsWith("examples/monitoring/")
  )
    return "Operate";
  if (source === "sdk/docs/openai-clients.md" || source.startsWith("examples/")) return "Programs and plugins";
  return source.startsWith("sdk/docs/") || source === "CHANGELOG.md" ? "Reference" : "Parts";
}
