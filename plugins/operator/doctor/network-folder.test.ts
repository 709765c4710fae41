import { expect, test } from "vitest";
import { networkKind } from "./network-folder.ts";

const mount = (place: string, type: string) => `36 35 98:0 / ${place} rw,noatime shared:1 - ${type} server:/x rw`;
const mounts = [mount("/", "ext4"), mount("/srv", "nfs4"), mount("/srv/local", "xfs"), mount("/mnt/with\\040blank", "fuse.sshfs")].join(
  "\n",
);

test.each([
  ["/home/a/.svc", undefined],
  ["/srv/svc", "nfs4"],
  ["/srv", "nfs4"],
  ["/srvother", undefined],
  ["/srv/local/svc", undefined],
  ["/mnt/with blank/svc", "fuse.sshfs"],
])("%s is on %s", (path, kind) => {
  expect(networkKind({ path, type: 0x6969, mounts })).toBe(kind);
});

test("without a list of mounts the number of the file system decides", () => {
  expect(networkKind({ path: "/x", type: 0x6969, mounts: "" })).toBe("nfs");
  // As Node gives it on machines where the number is signed.
  expect(networkKind({ path: "/x", type: 0xff534d42 | 0, mounts: "" })).toBe("cifs");
  expect(networkKind({ path: "/x", type: 0xef53, mounts: "" })).toBeUndefined();
  expect(networkKind({ path: "/x", type: undefined, mounts: "" })).toBeUndefined();
});
