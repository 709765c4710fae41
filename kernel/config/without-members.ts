import { ownValue } from "../../sdk/config/tree.ts";
import { parseConfigPath, resolveConfigPath, valueAt, withValueAt } from "../../sdk/internal/config-paths.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { MemberRemoval } from "../../sdk/types/config.ts";

/** A copy of a config tree without some members of its lists; a list that is not there stays away. @throws {SvcError} `config-path-invalid` */
export function withoutMembers(tree: unknown, removals: readonly MemberRemoval[]): unknown {
  return removals.reduce((at, { list, where }) => {
    const path = resolveConfigPath(at, parseConfigPath(list));
    const members = valueAt(at, path);
    if (!Array.isArray(members)) return at;
    const isMeant = (member: unknown) => isRecord(member) && Object.entries(where).every(([key, value]) => ownValue(member, key) === value);
    const kept = members.filter((member) => !isMeant(member));
    return kept.length === members.length ? at : withValueAt(at, path, kept);
  }, tree);
}
