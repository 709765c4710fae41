/**
 * The part of the gateway that needs the secret at a path: what is unavailable without it, and what is applied anew when it changes.
 * @returns a config path; agents by id where they have one: `agents.list[id=ops].memorySearch`
 */
export function secretOwner(path: ReadonlyArray<string | number>, tree: unknown): string {
  const [first, second, third, fourth, fifth] = path;
  if (first === "gateway" && second === "auth") return "gateway.auth";
  if (first === "hooks") return second === "token" ? "hooks.token" : "hooks";
  if (first === "models" && second === "providers") return `models.providers.${third}`;
  if (first === "channels")
    return third === "accounts" && fourth !== undefined ? `channels.${second}.accounts.${fourth}` : `channels.${second}`;
  if (first === "plugins" && second === "entries") return `plugins.entries.${third}`;
  if (first === "agents" && second === "list" && fourth !== undefined) return `agents.list[${agentName(tree, Number(third))}].${fourth}`;
  if (first === "agents" && third !== undefined) return `agents.${second}.${third}`;
  return path.slice(0, fifth === undefined ? 2 : 3).join(".");
}

/** False for the secrets of what is switched off or not in use: they are not asked for. */
export function isActiveSecret(path: ReadonlyArray<string | number>, tree: unknown): boolean {
  const at = (...parts: Array<string | number>) =>
    parts.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], tree);
  const [first, second, third, fourth] = path as [string, string, string, string];
  if (first === "plugins" && second === "entries") {
    const denied = at("plugins", "deny");
    const isDenied = Array.isArray(denied) && denied.includes(third);
    return at("plugins", "enabled") !== false && !isDenied && at("plugins", "entries", third, "enabled") !== false;
  }
  if (first === "channels") {
    const account = third === "accounts" ? at("channels", second, "accounts", fourth, "enabled") : undefined;
    return at("channels", second, "enabled") !== false && account !== false;
  }
  if (first === "hooks") return at("hooks", "enabled") === true;
  if (first === "gateway" && second === "remote") return at("gateway", "mode") === "remote";
  if (first === "gateway" && second === "auth") {
    const mode = at("gateway", "auth", "mode");
    return mode === undefined || (third !== "token" && third !== "password") || mode === third;
  }
  return true;
}

function agentName(tree: unknown, index: number): string {
  const id = (tree as { agents?: { list?: Array<{ id?: unknown } | undefined> } } | undefined)?.agents?.list?.[index]?.id;
  return typeof id === "string" ? `id=${id}` : String(index);
}
