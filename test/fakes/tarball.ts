import { gzipSync } from "node:zlib";

/** One entry as the bytes of an archive say it, sane or not. */
export interface TarEntry {
  name: string;
  /** `0` file, `1` hard link, `2` symbolic link, `3` and `4` devices, `5` folder, `6` FIFO. */
  type?: string;
  content?: string | Buffer;
  link?: string;
  /** Size in the header when it is to differ from that of the content. */
  size?: number;
}

const BLOCK = 512;

/** A tar archive written byte by byte, so that it may hold what no packer would write. */
export function tarball(entries: readonly TarEntry[], options: { gzip?: boolean } = {}): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    return [header(entry, entry.size ?? content.length), content, padding];
  });
  const tar = Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
  return options.gzip === false ? tar : gzipSync(tar);
}

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(entry.name, 0, 100, "utf8");
  block.write("0000644\0", 100);
  block.write("0000000\0", 108);
  block.write("0000000\0", 116);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write("        ", 148);
  block.write(entry.type ?? "0", 156);
  block.write(entry.link ?? "", 157, 100, "utf8");
  block.write("ustar\u000000", 257, "latin1");
  const sum = block.reduce((a, b) => a + b, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
