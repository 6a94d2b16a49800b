import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { RawResource } from "@xdstp/cache";
import type { XdsError } from "@xdstp/core";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import { openSnapshot } from "@xdstp/snapshot";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { cluster, endpoints, listener, routes } from "../test/envoy-resources.ts";
import { inline, list, listUrl, located } from "../test/lists.ts";
import { give, listen, useDir, useLives, type Life } from "../test/use-lives.ts";
import { flag, flagUrl, turn, useDeltaScript } from "../test/use-script.ts";

/** Ends a life. Its server is unreachable in the next one, until the test connects it. */
async function end({ client }: Life): Promise<void> {
  await client.close();
}

/** Breaks the connection, as a server that is down. */
async function down({ server }: Life): Promise<void> {
  server.close();
  await turn();
}

/** Lives once with a server that sends these flags to watches of "a" and "b". */
async function liveWith(
  live: ReturnType<typeof useLives>,
  put: Readonly<Record<string, string>>,
): Promise<void> {
  const life = live();
  const said = Object.keys(put).map((name) => listen(life.client.watch(flag, name)));
  await turn();
  await give(life.server, flagUrl, { put });
  expect(said).toEqual(Object.values(put).map((text) => [text]));
  await end(life);
}

describe("createClient({ snapshot })", () => {
  it("delivers the last state at once after a restart without a server, as restored and with its time [B-RELAY-9]", async () => {
    const live = useLives();
    await liveWith(live, { a: "on" });

    const { client } = live();
    const said = listen(client.watch(flag, "a"));
    await turn();
    expect(said).toEqual(["on restored"]);
  });

  it("delivers the current state when the server answers, and what was removed meanwhile as removed [B-RELAY-9]", async () => {
    const live = useLives();
    await liveWith(live, { a: "on", b: "on" });

    const options = { serverFeatures: ["fail_on_data_errors"] };
    const second = live(options);
    const said = ["a", "b"].map((name) => listen(second.client.watch(flag, name)));
    await turn();
    await give(second.server, flagUrl, { put: { a: "off" }, remove: ["b"] });
    expect(said).toEqual([
      ["on restored", "off"],
      ["on restored", "- missing"],
    ]);
    await end(second);

    // The removal is in the snapshot too.
    const third = live(options);
    const left = ["a", "b"].map((name) => listen(third.client.watch(flag, name)));
    await turn();
    expect(left).toEqual([["off restored"], []]);
  });

  it("keeps the last accepted value when a program rejects the newer one [B-RELAY-9, C-ACK-5]", async () => {
    const live = useLives();
    const first = live();
    const validate = (text: string): string | undefined =>
      text === "bad" ? "not that" : undefined;
    const said = listen(first.client.watch(flag, "a", { validate }));
    await turn();
    await give(first.server, flagUrl, { put: { a: "on" } });
    await give(first.server, flagUrl, { put: { a: "bad" } });
    await give(first.server, flagUrl, { put: { a: "broken" } });
    expect(said.map((text) => text.split(" ")[0])).toEqual(["on", "on", "on"]);
    await end(first);

    const second = live();
    const restored = listen(second.client.watch(flag, "a", { validate }));
    await turn();
    expect(restored).toEqual(["on restored"]);
  });

  it("waits for the server when the stored value no longer decodes, and then delivers the new one", async () => {
    const live = useLives();
    await liveWith(live, { a: "on" });

    const second = live();
    const newer = { typeUrl: flagUrl, decode: (bytes: Uint8Array) => parseNumber(bytes) };
    const said = listen(second.client.watch(newer, "a"));
    await turn();
    await turn();
    expect(said).toEqual([]);
    await give(second.server, flagUrl, { put: { a: "7" } });
    expect(said).toEqual(["7"]);
    await end(second);

    const third = live();
    const restored = listen(third.client.watch(newer, "a"));
    await turn();
    expect(restored).toEqual(["7 restored"]);
  });

  it("delivers nothing that another node or another server was sent", async () => {
    const live = useLives();
    await liveWith(live, { a: "on" });
    const others = [
      { node: { id: "you" } },
      { xds_servers: [{ server_uri: "s1", channel_creds: [{ type: "insecure" }] }] },
    ];
    for (const bootstrapMore of others) {
      const life = live({ bootstrapMore });
      const said = listen(life.client.watch(flag, "a"));
      await turn();
      expect(said).toEqual([]);
      await end(life);
    }
    const same = live();
    const said = listen(same.client.watch(flag, "a"));
    await turn();
    expect(said).toEqual(["on restored"]);
  });

  it("works without stored state when the file is of another program, and keeps that file aside", async () => {
    const dir = useDir();
    writeFileSync(
      join(dir, "snapshot.db"),
      "shopping list: milk, eggs, a longer text than a header",
      { mode: 0o600 },
    );
    const live = useLives(dir);
    const first = live();
    expect(first.snapshotEvents.map(({ kind }) => kind)).toEqual([
      "snapshot-set-aside",
      "snapshot-opened",
    ]);
    const said = listen(first.client.watch(flag, "a"));
    await turn();
    await give(first.server, flagUrl, { put: { a: "on" } });
    expect(said).toEqual(["on"]);
    await end(first);
    const second = live();
    const restored = listen(second.client.watch(flag, "a"));
    await turn();
    expect(restored).toEqual(["on restored"]);
  });

  it("works without what a torn file has lost", async () => {
    const dir = useDir();
    const live = useLives(dir);
    await liveWith(live, { a: "on" });
    truncateSync(join(dir, "snapshot.db"), 5_000);
    const { client, server, snapshotEvents } = live();
    expect(snapshotEvents.map(({ kind }) => kind)).toContain("snapshot-set-aside");
    const said = listen(client.watch(flag, "a"));
    await turn();
    await give(server, flagUrl, { put: { a: "off" } });
    expect(said.at(-1)).toBe("off");
  });

  it("continues while nothing can be written, says so, and writes all of it as soon as it can", async () => {
    const dir = useDir();
    const live = useLives(dir);
    const first = live();
    const said = listen(first.client.watch(flag, "a"));
    await turn();
    await first.flush();
    rmSync(dir, { recursive: true });
    writeFileSync(dir, "a file where the directory was");
    await give(first.server, flagUrl, { put: { a: "on" } });
    await first.flush();
    expect([said, first.snapshotEvents.at(-1)?.kind]).toEqual([["on"], "snapshot-trouble"]);

    rmSync(dir);
    await first.flush();
    expect(first.snapshotEvents.at(-1)?.kind).toBe("snapshot-well");
    await end(first);
    const second = live();
    const restored = listen(second.client.watch(flag, "a"));
    await turn();
    expect(restored).toEqual(["on restored"]);
  });

  it("does not accept a snapshot that another client has closed", async () => {
    const snapshot = openSnapshot({ dir: useDir() });
    const { client } = useDeltaScript({ snapshot });
    await client.close();
    expect(() => useDeltaScript({ snapshot })).toThrow(/is closed, as the client or relay/);
  });

  it("does not open a directory that another client has, and says who has it", async () => {
    const live = useLives();
    const first = live();
    expect(() => live()).toThrow(/in use by process \d+; give each process a directory of its own/);
    await end(first);
    await end(live());
  });

  it("says how old a restored value is, also while a server cannot be reached, and no longer once a server has sent it [B-RELAY-9]", async () => {
    const live = useLives();
    const clock = createFakeClock();
    const first = live({}, { clock });
    const once = listen(first.client.watch(flag, "a"));
    await turn();
    await give(first.server, flagUrl, { put: { a: "on" } });
    expect(once).toEqual(["on"]);
    const sentAt = clock.wallTime();
    await end(first);

    clock.advance(90_000);
    const second = live({}, { clock });
    const said: unknown[] = [];
    void (async () => {
      for await (const { value, error, restoredAt } of second.client.watch(flag, "a"))
        said.push([value, error?.context.reason, restoredAt, error?.text]);
    })();
    await turn();
    expect(said).toEqual([
      [
        "on",
        "restored",
        sentAt,
        expect.stringContaining("90 s old; upstream has not answered yet"),
      ],
    ]);
    await down(second);
    expect(said.slice(1)).toEqual([
      ["on", undefined, sentAt, expect.stringContaining("the server is down")],
    ]);
    second.clock.advance(1_000);
    await turn();
    await give(second.server, flagUrl, { put: { a: "on" } });
    expect(said.slice(2)).toEqual([["on", undefined, undefined, undefined]]);
  });

  it("reads the answer of the server if there is one, else the last known value", async () => {
    const live = useLives();
    await liveWith(live, { a: "on", b: "on", c: "on" });
    const second = live({ serverFeatures: ["fail_on_data_errors"] });
    const read = ({ client }: Life, name: string): Promise<unknown> =>
      client.read(flag, name, { timeoutMs: 5_000 }).then(
        ({ value, restoredAt }) => [value, restoredAt !== undefined],
        (error: unknown) => (error as XdsError).code,
      );
    const [a, b, c] = ["a", "b", "c"].map((name) => read(second, name));
    await turn();
    await give(second.server, flagUrl, { put: { a: "off" }, remove: ["b"] });
    expect(await Promise.all([a, b])).toEqual([["off", false], "NOT_FOUND"]);
    second.clock.advance(5_000);
    expect(await c).toEqual(["on", true]);
    await end(second);

    const third = live();
    const early = read(third, "c");
    await turn();
    await down(third);
    expect(await early).toEqual(["on", true]);
  });

  it("has a whole collection again, and removes the members that are missing in the answer [B-RELAY-9]", async () => {
    const live = useLives();
    const glob = "xdstp://acme/acme.v1.Flag/shop/*";
    const member = (id: string): string => `xdstp://acme/acme.v1.Flag/shop/${id}`;
    const bootstrapMore = { authorities: { acme: {} } };
    const membersOf = async (life: Life): Promise<() => string> => {
      const watch = life.client.watchAll(flag, glob);
      const errors: string[] = [];
      void (async () => {
        for await (const { error, restoredAt } of watch)
          errors.push(`${error?.context.reason ?? "-"}${restoredAt === undefined ? "" : " old"}`);
      })();
      await turn();
      return () =>
        `${[...watch.members.values()].map(({ value }) => value).join(" ")} ${errors.at(-1) ?? "none"}`;
    };
    const first = live({ bootstrapMore });
    const seen = await membersOf(first);
    await give(first.server, flagUrl, { put: { [member("x")]: "1", [member("y")]: "2" } });
    first.clock.advance(1_000);
    await turn();
    expect(seen()).toBe("1 2 -");
    await end(first);

    const second = live({ bootstrapMore });
    const again = await membersOf(second);
    expect(again()).toBe("1 2 restored old");
    await give(second.server, flagUrl, { put: { [member("x")]: "3" } });
    second.clock.advance(1_000);
    await turn();
    await turn();
    expect(again()).toBe("3 -");
  });

  it("has a list and its located members again, each with its time, until the server sends it [B-RELAY-9]", async () => {
    const live = useLives();
    const clock = createFakeClock();
    const bootstrapMore = { authorities: { acme: {} } };
    const listName = "xdstp://acme/acme.v1.FlagCollection/l";
    const member = "xdstp://acme/acme.v1.Flag/x";
    const sentList = list(listName, "1", located(member), inline("y", "2"));
    const timesOf = (life: Life): string[] => {
      const times: string[] = [];
      void (async () => {
        for await (const { members, restoredAt, error } of life.client.watchList(flag, listName))
          times.push(
            [
              `list ${restoredAt ?? "-"} ${error?.context.reason ?? "-"}`,
              ...members.map(
                (one) =>
                  `${String(one.value)} ${one.restoredAt ?? "-"} ${one.error?.context.reason ?? "-"}`,
              ),
            ].join(", "),
          );
      })();
      return times;
    };
    const giveList = async ({ server }: Life): Promise<void> => {
      server.send({ typeUrl: listUrl, nonce: "l", resources: [sentList] });
      await turn();
      await turn();
    };
    const first = live({ bootstrapMore }, { clock });
    const seen = timesOf(first);
    await turn();
    const listAt = clock.wallTime();
    await giveList(first);
    clock.advance(1_000);
    await give(first.server, flagUrl, { put: { [member]: "1" } });
    expect(seen.at(-1)).toBe("list - -, 1 - -, 2 - -");
    await end(first);

    const second = live({ bootstrapMore }, { clock });
    const again = timesOf(second);
    await turn();
    await turn();
    const memberAt = listAt + 1_000;
    expect(again.at(-1)).toBe(`list ${listAt} restored, 1 ${memberAt} restored, 2 - -`);
    await give(second.server, flagUrl, { put: { [member]: "1" } });
    expect(again.at(-1)).toBe(`list ${listAt} restored, 1 - -, 2 - -`);
    await giveList(second);
    expect(again.at(-1)).toBe("list - -, 1 - -, 2 - -");
  });

  it("has a walk again, with the time of its newest restored resource, until the server has sent all [B-RELAY-9]", async () => {
    const live = useLives();
    const clock = createFakeClock();
    const parts = [listener("l", "r"), routes("r", "a"), cluster("a"), endpoints("a")];
    const send = async ({ server }: Life, sent: readonly RawResource[]): Promise<void> => {
      for (const { typeUrl, name, value } of sent) {
        server.send({
          typeUrl,
          nonce: `${typeUrl} ${name}`,
          resources: [{ name, version: "1", resource: { typeUrl, value } }],
        });
        await turn();
        clock.advance(1_000);
      }
      await turn();
    };
    const timesOf = (life: Life): string[] => {
      const times: string[] = [];
      void (async () => {
        for await (const { resources, restoredAt, error } of life.client.walk(ListenerSchema, "l"))
          times.push(`${resources.size} ${restoredAt ?? "-"} ${error?.context.reason ?? "-"}`);
      })();
      return times;
    };
    const first = live({}, { clock });
    const seen = timesOf(first);
    await turn();
    const began = clock.wallTime();
    await send(first, parts);
    expect(seen).toEqual(["4 - -"]);
    await end(first);

    const second = live({}, { clock });
    const again = timesOf(second);
    while (again.length === 0) await turn();
    expect(again.at(-1)).toBe(`4 ${began + 3_000} restored`);
    // The server sends the newest first.
    await send(second, parts.slice(3));
    expect(again.at(-1)).toBe(`4 ${began + 2_000} restored`);
    // A newer root waits for its routes, so the restored one stays in force.
    await send(second, [listener("l", "r2"), ...parts.slice(2, 3)]);
    expect(again.at(-1)?.split(" ").slice(0, 2)).toEqual(["4", String(began + 2_000)]);
    await send(second, [routes("r2", "a")]);
    expect(again.at(-1)).toBe("4 - -");
  });
});

function parseNumber(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  if (!/^\d+$/.test(text)) throw new Error(`${text} is not a number`);
  return text;
}
