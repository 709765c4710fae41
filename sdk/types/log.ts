/** Request for one reading. */
export interface LogTailQuestion {
  /** Byte offset of an earlier answer; without it the newest lines are read. */
  cursor?: number | undefined;
  /** Lines, default 500. */
  limit?: number | undefined;
  /** Bytes read, default 250,000. */
  maxBytes?: number | undefined;
}

/** Lines of a log file, and where to go on. */
export interface LogTail {
  /** Absolute path; another one than last time means that the cursor belongs to a file of its own. */
  file: string;
  /** Offset of the next read: after the last whole line that was returned. */
  cursor: number;
  /** Bytes of the file. */
  size: number;
  /** Whole lines as they stand in the file, oldest first. */
  lines: string[];
  /** There is more than was answered: older lines without a cursor, newer ones with it. */
  truncated: boolean;
  /** The cursor was beyond the end, because the file was put aside: the lines are the newest ones. */
  reset: boolean;
}
