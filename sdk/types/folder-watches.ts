/** A folder to watch. Another `key` means that another folder has taken its place: its watch is opened anew. */
export interface WatchedFolder {
  path: string;
  key?: string;
}

/** Watches of many folders, one handle each; what lies below a folder is not its concern. */
export interface FolderWatches {
  readonly size: number;
  /** Watches this one, too. Returns false when it is watched already, or cannot be. */
  add(folder: WatchedFolder): boolean;
  /** Watches exactly these from now on. Returns true when one was added: files may have come before its watch began. */
  follow(folders: Iterable<WatchedFolder>): boolean;
  has(path: string): boolean;
  close(): void;
}

/** Receivers of what happens in watched folders. */
export interface FolderWatchesOptions {
  /** An entry of a folder came, went or changed. `name` is null where the system does not tell it. */
  onEvent(folder: string, event: "rename" | "change", name: string | null): void;
  /** A watch has ended, or could not be opened; the folder is tried again when it is followed again. */
  onLost(folder: string, error: unknown, isOpen: boolean): void;
  /** Keep the process alive. Default false. */
  isPersistent?: boolean;
}
