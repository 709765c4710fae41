/** Watches of folders, as commands get them with their context. */
export { createFolderWatches } from "../../kernel/process/folder-watches.ts";
