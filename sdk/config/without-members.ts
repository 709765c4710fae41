import { isRecord } from "../is-record.ts";
import { parseConfigPath, resolveConfigPath, valueAt, withValueAt } from "./paths.ts";
import { ownValue } from "./tree.ts";

/** Members of a list that shall go: those in which every field of `where` has this value. */
export interface MemberRemoval {
  /** Path of the list, as `agents.list`. */
  list: string;
  where: Readonly<Record<string, string | number | boolean>>;
}

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
