/** A row with the values of its columns: text, numbers, null. */
export type Row = Record<string, string | number | null>;
export type Param = string | number | null;

/** One connection, or a pool of them for reads. */
export interface Link {
  /** One statement is one transaction, with an answer within a limit. @throws the driver's error; its `code` is the SQLSTATE, or a name for what the network did (`NO_ANSWER`) */
  query(text: string, params?: readonly Param[]): Promise<Row[]>;
  /** Several statements without parameters in one transaction. */
  script(text: string): Promise<void>;
  /** Ends the connection at once; what is under way rejects. */
  close(): Promise<void>;
}

/** Role of a connection: its settings depend on it. */
export type LinkRole = "writer" | "readers" | "notifier";

/** A database as the store uses it; `postgres-driver.ts` is the one of the product. */
export interface Database {
  link(role: LinkRole): Link;
  /**
   * Listens to a channel, and connects again by itself.
   * @param options.onListen called after each (re)connect: notices before it may have been missed
   */
  listen(channel: string, options: { onNotice(payload: string): void; onListen(): void }): Promise<{ close(): Promise<void> }>;
}
