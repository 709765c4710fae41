import { agentIdPattern, DEFAULT_AGENT_ID } from "svc/sdk";
import { agentErrors } from "../errors.ts";

/** `main` is there without being made, `default` means the default agent where a model is named `svc/default`. */
const reserved: ReadonlySet<string> = new Set([DEFAULT_AGENT_ID, "default"]);
const MAX_CHARS = 64;

/**
 * The id of an agent of this name: `Helper Two` → `helper-two`, `Größe` → `grosse`.
 * @throws {SvcError} `agent-name-empty`, `agent-name-reserved`
 */
export function agentIdOf(name: string): string {
  const plain = name.replaceAll("ß", "ss").normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const id = plain
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, MAX_CHARS)
    .replace(/(?<![-_])[-_]+$/, "");
  if (!agentIdPattern.test(id)) throw agentErrors.agentNameEmpty({ name });
  if (reserved.has(id)) throw agentErrors.agentNameReserved({ agentId: id });
  return id;
}
