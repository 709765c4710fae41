import { readFile, realpath } from "node:fs/promises";
import { type CliContext, resolveAgents, type SvcConfig } from "svc/sdk";
import { ownValue } from "svc/sdk/internal";
import { siblingProfiles } from "../sibling-profiles.ts";
import type { OwnFinding } from "./checks.ts";

/** Port and workspaces of one profile, which two gateways of one machine must not share. */
export interface ProfileUse {
  /** `""` = the default profile. */
  profile: string;
  port: number;
  /** Absolute, links resolved, by agent. */
  workspaces: Array<{ agentId: string; path: string }>;
  /** Its gateway runs now. */
  runs: boolean;
}

const DEFAULT_PORT = 18_789;
const DEV_PORT = 19_001;
const MAX_CONFIG_BYTES = 4_000_000;

/** Finds what this profile shares with others that may run beside it. A state directory and a config file need no check: their locks refuse a second gateway. Pure. */
export function siblingFindings(own: ProfileUse, others: readonly ProfileUse[]): OwnFinding[] {
  return others.flatMap((other) => [...portFindings(own, other), ...workspaceFindings(own, other)]);
}

function portFindings(own: ProfileUse, other: ProfileUse): OwnFinding[] {
  if (own.port !== other.port) return [];
  const isTaken = other.runs && !own.runs;
  return [
    {
      id: "siblings/port",
      severity: isTaken ? "error" : "warning",
      path: "gateway.port",
      message: isTaken
        ? `port ${own.port} is held by the running gateway of ${named(other.profile)}`
        : `port ${own.port} is that of ${named(other.profile)} too; only one of the two gateways can run`,
      fix: `svc ${flag(own.profile)}config set gateway.port <another port>`,
    },
  ];
}

function workspaceFindings(own: ProfileUse, other: ProfileUse): OwnFinding[] {
  return own.workspaces.flatMap(({ agentId, path }) => {
    const shared = other.workspaces.find((workspace) => workspace.path === path);
    if (!shared) return [];
    return {
      id: "siblings/workspace" as const,
      severity: "warning" as const,
      path: "agents.defaults.workspace",
      message: `${path} is the workspace of agent "${agentId}" and of agent "${shared.agentId}" of ${named(other.profile)}; two gateways write over each other's files there`,
      fix: `svc ${flag(own.profile)}config set agents.defaults.workspace <another folder>`,
    };
  });
}

const named = (profile: string) => (profile === "" ? "the default profile" : `profile "${profile}"`);
const flag = (profile: string) => (profile === "" ? "" : `--profile ${profile} `);

/** Looks at the configs and locks of this user's other profiles. One that holds no config, or is only a client, shares nothing. */
export async function findSiblings(cli: CliContext, config: SvcConfig | undefined): Promise<OwnFinding[]> {
  if (!config || config.gateway.mode === "remote") return [];
  const others = await siblingProfiles({ env: cli.env, stateDir: cli.paths.stateDir });
  if (others.length === 0) return [];
  const { parse } = await cli.configFile();
  const uses = await Promise.all(
    others.map(async ({ profile, stateDir, configPath, gateway }) => {
      const text = await readFile(configPath, "utf8").catch(() => "");
      if (text === "" || text.length > MAX_CONFIG_BYTES) return [];
      return useOf({ profile, stateDir, config: parsed(parse, text), gateway });
    }),
  );
  const [own] = await useOf({ ...cli.paths, config, gateway: await cli.lockOwner() });
  return own ? siblingFindings(own, uses.flat()) : [];
}

function parsed(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined; // its own doctor says what is wrong with it
  }
}

interface Profile {
  profile: string;
  stateDir: string;
  /** As written: nothing of it is checked. */
  config: unknown;
  gateway: { port?: number } | undefined;
}

async function useOf({ profile, stateDir, config, gateway }: Profile): Promise<ProfileUse[]> {
  const section = ownValue(config, "gateway");
  if (ownValue(section, "mode") === "remote") return [];
  const port = gateway?.port ?? ownValue(section, "port") ?? (profile === "dev" ? DEV_PORT : DEFAULT_PORT);
  if (typeof port !== "number") return [];
  return [{ profile, port, runs: gateway !== undefined, workspaces: await workspacesOf(config, stateDir) }];
}

async function workspacesOf(config: unknown, stateDir: string): Promise<ProfileUse["workspaces"]> {
  const agents = ownValue(config, "agents");
  try {
    const tree = { agents: { list: ownValue(agents, "list") ?? [], defaults: ownValue(agents, "defaults") ?? {} } };
    const found = resolveAgents(tree as unknown as SvcConfig, stateDir);
    return await Promise.all(
      found.map(async ({ id, workspace }) => ({ agentId: id, path: await realpath(workspace).catch(() => workspace) })),
    );
  } catch {
    return []; // not what a config looks like
  }
}
