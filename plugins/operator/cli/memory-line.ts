/** Part `memoryIndex` of the `health` payload: figures per agent. */
export type MemoryFigures = Record<string, { files?: number; chunks?: number; dirty?: boolean }>;

/** `30 files, 85 chunks`, with the agent's name in front when there are several; undefined without a memory plugin. */
export function memoryLine(figures: MemoryFigures | undefined): string | undefined {
  const agents = Object.entries(figures ?? {});
  if (agents.length === 0) return undefined;
  return agents
    .map(([id, { files = 0, chunks = 0, dirty }]) => {
      const name = agents.length > 1 ? `${id}: ` : "";
      return `${name}${files} ${files === 1 ? "file" : "files"}, ${chunks} ${chunks === 1 ? "chunk" : "chunks"}${dirty ? ", not up to date" : ""}`;
    })
    .join("; ");
}
