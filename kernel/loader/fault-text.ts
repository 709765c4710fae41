import { messageOf } from "../../sdk/errors.ts";

/**
 * Describes an error in a plugin's code in one line that begins with the place in its own files: `src/index.ts:4:10: Unexpected token`. Without
 * a place when none of its files is named.
 * @param root absolute folder of the plugin
 */
export function faultText(error: unknown, root: string): string {
  const message = (messageOf(error).split("\n", 1)[0] as string).replace(/^\w*Error: /, "").trim();
  const place = placeOf(error, root);
  return place === undefined ? message : `${place}: ${message}`;
}

/** The first of its own files that the error names, with line and column where there are some. */
function placeOf(error: unknown, root: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const escaped = root.replaceAll("\\", "/").replace(/[.*+?^${}()|[\]]/g, "\\$&");
  // A generation of native modules runs from a copy in the state folder.
  const file = new RegExp(`(?:${escaped}|/cache/gen/[^/\\s]+/\\d+)/([^\\s():]+)((?::\\d+){1,2})?`, "g");
  const named = [...`${error.message}\n${error.stack ?? ""}`.replaceAll("\\", "/").matchAll(file)].filter(
    (m) => !m[1]?.includes("node_modules/"),
  );
  const found = named.find((m) => m[2]) ?? named[0];
  return found && `${found[1]}${found[2] ?? ""}`;
}
