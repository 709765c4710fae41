import type { ChatCommand, ContributionView, SvcConfig } from "svc/sdk";

/** A command of a chat as `/help` and `commands.list` tell of it. */
export interface ToldCommand {
  /** As it is typed, usually with a slash. */
  name: string;
  /** Text behind the name; absent: it stands alone. */
  arguments?: string;
  about: string;
  /** Scope that a client needs, whatever stands behind the name. */
  scope: ChatCommand["scope"];
}

const RESETS = "begin a new conversation";

const own: readonly ToldCommand[] = [
  { name: "/stop", about: "stop what the agent is doing", scope: "write" },
  {
    name: "/queue",
    arguments: "collect, followup, steer, interrupt or default",
    about: "what a message does while the agent works",
    scope: "write",
  },
  { name: "/status", about: "who answers, and whether it works", scope: "write" },
  { name: "/model", arguments: "<name> or default", about: "which model answers; alone: which one does", scope: "write" },
  {
    name: "/think",
    arguments: "off, minimal, low, medium, high or default",
    about: "how much it thinks before it answers",
    scope: "write",
  },
  { name: "/compact", arguments: "[what matters]", about: "replace older messages by a summary", scope: "admin" },
  { name: "/usage", about: "tokens and cost of this conversation", scope: "write" },
  { name: "/tools", about: "what the agent can use here", scope: "write" },
];

interface Sources {
  config: Pick<SvcConfig, "session">;
  chatCommands: ContributionView<ChatCommand>;
}

/** Commands that a message may be: those that begin a conversation first, then the others of this plugin, then those of other plugins. */
export function commandList({ config, chatCommands }: Sources): ToldCommand[] {
  const resets = config.session.resetTriggers.map((name): ToldCommand => ({ name, about: RESETS, scope: "admin" }));
  const help: ToldCommand = { name: "/help", about: "these lines", scope: "write" };
  return [...resets, ...own, help, ...[...chatCommands].map(({ value }) => ofPlugin(value))];
}

/** Its line has arguments, a colon, and what it does. */
function ofPlugin({ name, help, scope }: ChatCommand): ToldCommand {
  const colon = help.indexOf(": ");
  const before = help.slice(0, Math.max(0, colon)).trim();
  return { name: `/${name}`, ...(before === "" ? {} : { arguments: before }), about: help.slice(colon < 0 ? 0 : colon + 2).trim(), scope };
}

/** Answer to `/help`: a line for each command. */
export function helpText({ config, chatCommands }: Sources): string {
  const lines = own.map(({ name, arguments: behind, about }) => `${name}${behind === undefined ? "" : ` ${behind}`}: ${about}`);
  return [
    `${config.session.resetTriggers.join(" or ")}: ${RESETS}`,
    ...lines,
    ...[...chatCommands].map(({ value: { name, help } }) => `/${name} ${help}`),
  ].join("\n");
}
