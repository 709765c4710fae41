import { basename } from "node:path";
import { lineDiff } from "../doctor/line-diff.ts";
import type { ServiceFile } from "./definition.ts";

/** Lines in which a file would change; none when it would not. Of variables only the names are shown. Pure. */
export function fileDiff({ path, content, encoding }: ServiceFile, present: Buffer | undefined): string[] {
  const before = present?.toString(encoding ?? "utf8") ?? "";
  if (before === content && (present !== undefined || content === "")) return [];
  const shown = basename(path).endsWith(".env") ? namesIn : (text: string) => text.replaceAll("\r", "");
  const lines = lineDiff(shown(before), shown(content));
  return [`--- ${path}`, ...(lines.some((line) => /^[-+]/.test(line)) ? lines : ["  (a value differs)"])];
}

function namesIn(text: string): string {
  return text
    .split("\n")
    .map((line) => line.split("=")[0])
    .join("\n");
}
