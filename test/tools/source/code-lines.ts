import { blank } from "./blank.ts";

/** Lines that hold code: neither blank nor comment only. */
export function countCodeLines(source: string): number {
  return blank(source)
    .split("\n")
    .filter((line) => line.trim() !== "").length;
}
