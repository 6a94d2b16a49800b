import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { flagName } from "../../rollout/test/flag.ts";
import { openStore, stateOf, store as put, useDir } from "../test/snapshots.ts";
import { openSnapshot } from "./open-snapshot.ts";

const name = flagName("ns/a");
const other = 4_242;

function databaseIn(dir: string): string {
  return join(dir, "snapshot.db");
}

/**
 * Makes the file at a path belong to another user: root changes its owner, other users change the
 * reported user id.
 */
function giveAway(path: string): void {
  const own = process.geteuid?.() ?? 0;
  if (own === 0) {
    chownSync(path, other, other);
    return;
  }
  vi.spyOn(process, "geteuid").mockReturnValue(own + 1);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
}

/** A folder, and a file outside of it that must not change. */
function useVictim(): { readonly dir: string; readonly victim: string } {
  const victim = join(useDir(), "victim");
  writeFileSync(victim, "precious\n");
  return { dir: useDir(), victim };
}

describe("the files of a snapshot", () => {
  it.each(["snapshot.db", "snapshot.db-wal", "snapshot.db-shm", "lock.db", "lock.db-journal"])(
    "are not opened through a link, and what it leads to stays as it is: %s",
    (file) => {
      for (const isThere of [true, false]) {
        const { dir, victim } = useVictim();
        symlinkSync(isThere ? victim : `${victim}-missing`, join(dir, file));
        expect(() => openSnapshot({ dir })).toThrow(
          `${join(dir, file)} is a link, and a snapshot is kept in regular files only; remove it, or give another directory`,
        );
        expect([readFileSync(victim, "utf8"), existsSync(`${victim}-missing`)]).toEqual([
          "precious\n",
          false,
        ]);
      }
    },
  );

  it("are not written through a link that comes later: it is set aside, and all goes to a new file", async () => {
    const { dir, victim } = useVictim();
    const { store, events } = openStore(dir);
    put(store, name, "1");
    await store.flush();
    rmSync(databaseIn(dir));
    symlinkSync(victim, databaseIn(dir));
    put(store, name, "2");
    await store.flush();
    expect(events.map(({ kind }) => kind)).toEqual([
      "snapshot-opened",
      "snapshot-trouble",
      "snapshot-set-aside",
      "snapshot-well",
    ]);
    expect([
      readFileSync(victim, "utf8"),
      lstatSync(databaseIn(dir)).isFile(),
      store.status().waiting,
    ]).toEqual(["precious\n", true, 0]);
  });

  it.each(["snapshot.db", "lock.db"])(
    "are not FIFOs: a start does not wait for somebody who writes to one named %s",
    (file) => {
      const dir = useDir();
      execFileSync("mkfifo", [join(dir, file)]);
      expect(() => openSnapshot({ dir })).toThrow("is not a regular file");
    },
  );

  it("are closed to others when they are opened, also those from before", async () => {
    const dir = useDir();
    const first = openStore(dir).store;
    put(first, name, "1");
    await first.close();
    chmodSync(databaseIn(dir), 0o644);
    const { store } = openStore(dir);
    expect([statSync(databaseIn(dir)).mode & 0o777, stateOf(store)]).toEqual([
      0o600,
      [`${name}=1`],
    ]);
  });

  it("are of the user of this process, or of root", async () => {
    const dir = useDir();
    const first = openStore(dir).store;
    put(first, name, "1");
    await first.close();
    giveAway(databaseIn(dir));
    expect(() => openSnapshot({ dir })).toThrow(
      /belongs to user \d+, and this process runs as user \d+/,
    );
  });

  it("are set aside without replacing what has the name already", () => {
    const { dir, victim } = useVictim();
    const aside = `${databaseIn(dir)}.foreign-1970-01-01T00-16-40.000Z`;
    writeFileSync(databaseIn(dir), "something else");
    linkSync(victim, aside);
    openStore(dir);
    expect([victim, aside, `${aside}-2`].map((file) => readFileSync(file, "utf8"))).toEqual([
      "precious\n",
      "precious\n",
      "something else",
    ]);
  });
});

describe("the directory of a snapshot", () => {
  it("is of mode 0700 where the relay makes it", () => {
    const dir = join(useDir(), "made");
    openStore(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it("is not one that every user may write to, also behind a link", () => {
    const open = join(useDir(), "open");
    mkdirSync(open);
    chmodSync(open, 0o1777);
    const link = join(useDir(), "link");
    symlinkSync(open, link);
    for (const [dir, which] of [
      [open, open],
      [link, `${link} (a link to ${open})`],
    ] as const) {
      expect(() => openSnapshot({ dir })).toThrow(
        `the snapshot directory ${which} may be written to by every user (mode 1777), who could put files there that the relay would serve; give a directory inside of it, which the relay makes for itself, or one of mode 0700 of its own user`,
      );
    }
    openStore(join(open, "inside"));
  });

  it("is not one of another user", () => {
    const dir = useDir();
    giveAway(dir);
    expect(() => openSnapshot({ dir })).toThrow(
      /the snapshot directory .* belongs to user \d+, and this process runs as user \d+/,
    );
  });
});
