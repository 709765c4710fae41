import type { JsonObject } from "svc/sdk";
import { matchesTool, toolGroups, toolProfiles } from "./policy.ts";
import type { RegisteredTool } from "./toolbox.ts";

const groupLabels: Record<string, string> = {
  "group:fs": "Files",
  "group:runtime": "Commands",
  "group:sessions": "Sessions",
  "group:memory": "Memory",
  "group:web": "Web",
  "group:messaging": "Messages",
  "group:automation": "Automation",
  "group:mcp": "MCP servers",
};

const profileLabels: Record<keyof typeof toolProfiles, string> = {
  minimal: "Status only",
  coding: "Files, commands, sessions and memory",
  messaging: "Messages and sessions",
  full: "Everything",
};

/** The profiles there are, narrowest first. */
export const catalogProfiles = Object.entries(profileLabels).map(([id, label]) => ({ id, label }));

/** Tools by groups: those of svc by what they are for, those of other plugins by their plugin. Groups without tools are left out. */
export function groupTools(
  tools: readonly RegisteredTool[],
  { includePlugins = true }: { includePlugins?: boolean | undefined } = {},
): JsonObject[] {
  const core = Object.entries(groupLabels).map(([id, label]) => {
    const members = tools.filter((tool) => groupOf(tool) === id).map((tool) => ({ ...describe(tool), source: toolSource(tool) }));
    return { id: id.slice("group:".length), label, source: "core", tools: members };
  });
  const owners = includePlugins ? [...new Set(tools.filter((tool) => groupOf(tool) === undefined).map(({ owner }) => owner))] : [];
  const plugins = owners.map((pluginId) => {
    const members = tools
      .filter((tool) => tool.owner === pluginId && groupOf(tool) === undefined)
      .map((tool) => ({ ...describe(tool), source: "plugin", pluginId }));
    return { id: `plugin:${pluginId}`, label: pluginId, source: "plugin", pluginId, tools: members };
  });
  return [...core, ...plugins].filter(({ tools: members }) => members.length > 0);
}

/** A tool of svc in one of its groups is `core`; everything else belongs to a plugin. */
export function toolSource(tool: RegisteredTool): "core" | "plugin" {
  return groupOf(tool) === undefined ? "plugin" : "core";
}

function groupOf({ name, isOutside }: RegisteredTool): string | undefined {
  return isOutside ? undefined : Object.keys(groupLabels).find((group) => matchesTool(name, toolGroups[group] ?? []));
}

function describe({ name, description }: RegisteredTool): JsonObject {
  const words = name.replaceAll("_", " ");
  const defaultProfiles = Object.entries(toolProfiles).flatMap(([id, patterns]) => (matchesTool(name, patterns) ? [id] : []));
  return { id: name, label: words.charAt(0).toUpperCase() + words.slice(1), description, defaultProfiles };
}
