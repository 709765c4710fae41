import { commonErrors, type Permission } from "svc/sdk";

/** Permissions a plugin can ask for, with their meaning for the operator who grants them. */
export const permissionMeanings: Record<Permission, string> = {
  "hooks.conversation": "reads the text of conversations",
  "hooks.prompt": "changes what the model is told",
  "hooks.gate": "may refuse that an agent runs",
  "auth.provider": "decides who a caller is",
  "http.public": "answers HTTP requests without the gateway's secret",
  "rpc.admin": "calls methods of administrators, config writes included",
  "fs.workspace": "reads and writes the agents' workspaces",
  exec: "starts programs",
  net: "opens connections",
};

export interface Consent {
  permission: Permission;
  granted: boolean;
}

/**
 * Decides about the permissions a plugin asks for. Only what is named is granted; what was granted before stays so while it is asked for.
 * @param options.grant comma-separated list, as typed
 * @throws {SvcError} `usage` for one that the plugin does not ask for
 */
export function decideConsent(
  asked: readonly Permission[],
  options: { grant?: string | undefined; all: boolean; before: readonly string[] },
): Consent[] {
  const named = (options.grant ?? "").split(",").flatMap((p) => p.trim() || []);
  const strange = named.find((p) => !asked.some((a) => a === p));
  if (strange !== undefined) {
    const what = asked.length > 0 ? `expected one of ${asked.join(", ")}` : "it asks for no permission";
    throw commonErrors.usage({ message: `--grant ${strange}: the plugin does not ask for that; ${what}` });
  }
  return asked.map((permission) => ({
    permission,
    granted: options.all || named.includes(permission) || options.before.includes(permission),
  }));
}
