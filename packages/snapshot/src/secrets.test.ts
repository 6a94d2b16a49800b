import { expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import { bytesIn, openStore, stateOf, store as put, useDir } from "../test/snapshots.ts";

const secretUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const [a, b, glob] = ["ns/a", "ns/b", "ns/*"].map(flagName) as [string, string, string];

it("a list of secrets is a secret, since it may have them inline", async () => {
  const dir = useDir();
  const { store } = openStore(dir);
  put(store, "certs", "PRIVATE KEY", {}, `${secretUrl}Collection`);
  await store.close();
  expect([bytesIn(dir).includes("PRIVATE KEY"), stateOf(openStore(dir).store)]).toEqual([
    false,
    ["certs?"],
  ]);
});

it.each([undefined, Buffer.alloc(32, 1)])(
  "what stood in the file before its type was said to be secret is in it no more, and pending (key: %s)",
  async (secretKey) => {
    const dir = useDir();
    const { store } = openStore(dir);
    put(store, a, "PRIVATE KEY");
    put(store, b, "other PRIVATE KEY");
    store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
    await store.close();
    const { store: again } = openStore(dir, {
      secretTypes: [flagUrl],
      ...(secretKey && { secretKey }),
    });
    await again.flush();
    expect([bytesIn(dir).includes("PRIVATE KEY"), stateOf(again)]).toEqual([false, []]);
  },
);

it("with another key what is said from then on is sealed with that one, and nothing of the first is left when it is gone", async () => {
  const dir = useDir();
  const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const old = openStore(dir, { secretKey: first }).store;
  for (const name of ["one", "two"]) put(old, name, "KEY", {}, secretUrl);
  await old.close();
  const { store, events } = openStore(dir, { secretKey: second });
  expect([stateOf(store), events.at(-1)?.kind]).toEqual([["one?", "two?"], "snapshot-locked"]);
  put(store, "one", "KEY", {}, secretUrl);
  await store.close();
  const after = openStore(dir, { secretKey: second }).store;
  expect(stateOf(after)).toEqual(["one=KEY", "two?"]);
  await after.close();
  expect(stateOf(openStore(dir, { secretKey: first }).store)).toEqual(["one?", "two=KEY"]);
});
