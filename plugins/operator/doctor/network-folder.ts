/** Numbers by which Linux tells a file system: statfs(2). */
const magicNumbers: Readonly<Record<number, string>> = {
  26985: "nfs",
  20859: "smb",
  4283649346: "cifs",
  4266872130: "smb2",
  16914839: "9p",
  1397113167: "afs",
  12805120: "ceph",
  1937076805: "coda",
  198183888: "lustre",
  1196443219: "gpfs",
};

/** Names in the list of mounts, those that only say "by way of a program" included. */
const networkTypes =
  /^(nfs4?|cifs|smb3?|smbfs|9p|afs|ceph|coda|lustre|gpfs|glusterfs|webdav|davfs|afpfs|beegfs|fuse\.(sshfs|s3fs|rclone|glusterfs|davfs2?|gcsfuse|cephfs|smbnetfs|juicefs))$/;

interface FolderFacts {
  /** Absolute, links resolved. */
  path: string;
  /** `type` of statfs; it is the file system's own number on Linux only. */
  type: number | undefined;
  /** Text of `/proc/self/mountinfo`; empty where there is none. */
  mounts: string;
}

/** Name of the network file system that a folder is on; undefined for a local one. Pure. */
export function networkKind({ path, type, mounts }: FolderFacts): string | undefined {
  const mounted = mountOf(path, mounts);
  if (mounted !== undefined) return networkTypes.test(mounted) ? mounted : undefined;
  return type === undefined ? undefined : magicNumbers[type >>> 0];
}

/** The file system type of the deepest mount that the path is in; of two at one place the later one counts. */
function mountOf(path: string, mounts: string): string | undefined {
  let found: { depth: number; type: string } | undefined;
  for (const line of mounts.split("\n")) {
    const [before, after] = line.split(" - ", 2);
    const place = before?.split(" ")[4]?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const type = after?.split(" ", 1)[0];
    if (place === undefined || !type) continue;
    const isIn = place === "/" || path === place || path.startsWith(`${place}/`);
    if (isIn && place.length >= (found?.depth ?? 0)) found = { depth: place.length, type };
  }
  return found?.type;
}
