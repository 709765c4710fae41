import { kernelRooms, roomOf } from "../source/boundaries.ts";
import { table } from "./table.ts";

const START = "<!-- rooms -->";
const END = "<!-- /rooms -->";

/** Rooms as a reader meets them: the microkernel proper, then what stands around it. */
const order = ["port", "auth", "config", "hooks", "loader", "boot", "cli", "operations", "process", "sandbox", "secrets"];

/**
 * The page of the kernel with its table of rooms written anew.
 *
 * @param files by path, READMEs of the rooms and the page itself included
 */
export function kernelPage(files: ReadonlyMap<string, string>): string {
  const page = files.get("kernel/README.md") ?? "";
  const [before, after] = [page.split(START)[0], page.split(END)[1]];
  if (before === undefined || after === undefined) throw new Error(`kernel/README.md: expected ${START} and ${END} around the table`);
  return `${before}${START}\n${roomTable(files)}\n${END}${after}`;
}

function roomTable(files: ReadonlyMap<string, string>): string {
  const rows = order.map((room) => {
    const sources = [...files].filter(([path]) => roomOf(path) === room && path.endsWith(".ts") && !path.endsWith(".test.ts"));
    const lines = sources.reduce((sum, [, text]) => sum + text.split("\n").length - 1, 0);
    const owns = files.get(`kernel/${room}/README.md`)?.split("\n")[2] ?? "";
    const imports = (kernelRooms[room] ?? []).map((name) => `\`${name}\``).join(", ");
    return [`[\`${room}/\`](${room}/README.md)`, owns, rounded(lines), imports || "–"];
  });
  return table(["Room", "Owns", "Lines", "May import"], rows);
}

/** To the nearest hundred, so that not every change of a file is one of the page. */
function rounded(lines: number): string {
  return (Math.round(lines / 100) * 100).toLocaleString("en-US");
}
