import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { flagName } from "../../test/flag.ts";
import { journalOf, openStore, stateOf, store as put, useDir } from "../../test/snapshots.ts";
import { openSnapshot } from "./open-snapshot.ts";

const name = flagName("ns/a");
const other = 4_242;

/** What is found at a path is of another user now: root gives it away, others become somebody else. */
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

/** A folder and a file outside of it that is worth something. */
function useVictim(): { readonly dir: string; readonly victim: string } {
  const victim = join(useDir(), "victim");
  writeFileSync(victim, "precious\n");
  return { dir: useDir(), victim };
}

describe("the files of a snapshot", () => {
  it("are not opened through a link, and what it leads to stays as it is", () => {
    for (const isThere of [true, false]) {
      const { dir, victim } = useVictim();
      const target = isThere ? victim : `${victim}-missing`;
      symlinkSync(target, journalOf(dir));
      expect(() => openSnapshot({ dir })).toThrow(
        `${journalOf(dir)} is a link, and a snapshot is kept in regular files only; remove it, or give another directory`,
      );
      expect([readFileSync(victim, "utf8"), existsSync(`${victim}-missing`)]).toEqual([
        "precious\n",
        false,
      ]);
    }
  });

  it("are not written through a link that comes later: what was not written waits", async () => {
    const { dir, victim } = useVictim();
    const { store, events } = openStore(dir);
    symlinkSync(victim, journalOf(dir));
    put(store, name, "1");
    await store.flush();
    expect(events.at(-1)).toMatchObject({
      kind: "snapshot-trouble",
      message: expect.stringContaining(`${journalOf(dir)} is a link`) as string,
    });
    expect([readFileSync(victim, "utf8"), store.status().waiting]).toEqual(["precious\n", 1]);
  });

  it("are not FIFOs: a start does not wait for somebody who writes to one", () => {
    const dir = useDir();
    execFileSync("mkfifo", [journalOf(dir)]);
    expect(() => openSnapshot({ dir })).toThrow("is not a regular file");
    expect(readdirSync(dir)).toEqual(["snapshot.journal"]);
  });

  it.each([
    [
      "a FIFO",
      (lock: string): void => {
        execFileSync("mkfifo", [lock]);
      },
    ],
    [
      "a link",
      (lock: string): void => {
        symlinkSync("nowhere", lock);
      },
    ],
  ])("replace %s that is named lock", (_, make) => {
    const dir = useDir();
    make(join(dir, "lock"));
    openStore(dir);
    expect([statSync(join(dir, "lock")).isFile(), readFileSync(join(dir, "lock"), "utf8")]).toEqual(
      [true, expect.stringContaining(`${process.pid} `) as string],
    );
  });

  it("are closed to others when they are opened, also those from before", async () => {
    const dir = useDir();
    const first = openStore(dir).store;
    put(first, name, "1");
    await first.close();
    chmodSync(journalOf(dir), 0o644);
    const { store } = openStore(dir);
    expect([statSync(journalOf(dir)).mode & 0o777, stateOf(store)]).toEqual([0o600, [`${name}=1`]]);
  });

  it("are of the user of this process, or of root", async () => {
    const dir = useDir();
    const first = openStore(dir).store;
    put(first, name, "1");
    await first.close();
    giveAway(journalOf(dir));
    expect(() => openSnapshot({ dir })).toThrow(
      /belongs to user \d+, and this process runs as user \d+/,
    );
  });

  it("are set aside without writing to what the name of the copy leads to", () => {
    const { dir, victim } = useVictim();
    const aside = `${journalOf(dir)}.corrupt-1970-01-01T00-16-40.000Z`;
    writeFileSync(journalOf(dir), "XSNP and then something else");
    linkSync(victim, aside);
    openStore(dir);
    expect(readFileSync(victim, "utf8")).toBe("precious\n");
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

it("a journal that is not a snapshot is set aside without being read to its end, and the relay starts without it [B-RELAY-9]", async () => {
  const dir = useDir();
  writeFileSync(journalOf(dir), "");
  truncateSync(journalOf(dir), 3 * 2 ** 30); // zeros that take no room
  const { store, events } = openStore(dir);
  expect(events.map(({ kind }) => kind)).toEqual(["snapshot-corrupt", "snapshot-opened"]);
  expect(events[0]).toMatchObject({
    offset: 0,
    bytes: 3 * 2 ** 30,
    message: expect.stringMatching(
      /is not a snapshot: none of its \d+ bytes can be read, so nothing is served from it before upstream answers; it is kept as .*corrupt-/,
    ) as string,
  });
  put(store, name, "1");
  await store.flush();
  expect(statSync(journalOf(dir)).size).toBeLessThan(1_000);
});
