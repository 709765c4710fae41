import { relative, sep } from "node:path";

/** True when a path is strictly below a folder. Both absolute and resolved (`realpath`): this compares names only. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !/^([/\\]|[a-zA-Z]:)/.test(way);
}
