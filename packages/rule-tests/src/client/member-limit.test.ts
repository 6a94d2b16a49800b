import { expect, it } from "vitest";
import { PART } from "../harness/made-up-types.ts";
import { createClientWorld } from "./harness/client-world.ts";

const ns = (id: string): string => `xdstp://a/test.Part/ns/${id}`;
const members = (...ids: readonly string[]): { readonly name: string; readonly text: string }[] =>
  ids.map((id) => ({ name: ns(id), text: id }));

it("members of a glob beyond the limit are rejected by name, and those that are held go on being updated [C-LIM-7]", async () => {
  const { ask, server } = createClientWorld("delta", { client: { limits: { members: 3 } } });
  const [glob] = await ask(PART, ns("*"));
  server.rest();
  server.reply(PART, { resources: members("a", "b", "c", "d", "e") });
  expect(server.rest().map(({ error }) => error?.message)).toEqual([
    expect.stringContaining(`${ns("*")} has more than 3 members, the limit of this client`),
  ]);
  expect(glob?.topic.members().map(({ name }) => name)).toEqual(["a", "b", "c"].map(ns));
  const before = glob?.topic.get(ns("b"))?.resource?.version;
  server.reply(PART, { resources: [{ name: ns("b"), text: "2" }] });
  expect([
    server.rest().map(({ error }) => error),
    glob?.topic.get(ns("b"))?.resource?.version === before,
  ]).toEqual([[undefined], false]);
});

it("changes do not count as members, and what is removed makes room [C-LIM-7]", async () => {
  const { ask, server, clock } = createClientWorld("delta", { client: { limits: { members: 3 } } });
  const [all] = await ask(PART, "*");
  for (let n = 0; n < 10; n++) server.reply(PART, { resources: members("a", "b") });
  server.rest();
  server.reply(PART, { resources: members("c") });
  server.reply(PART, { resources: members("d") });
  expect(server.rest().map(({ error }) => error === undefined)).toEqual([true, false]);
  server.reply(PART, { removed: [ns("a")] });
  clock.advance(10_000);
  server.reply(PART, { resources: members("d") });
  expect([
    server.rest().map(({ error }) => error === undefined),
    all?.topic.members().length,
  ]).toEqual([[true, true], 3]);
});

it("a name that is subscribed itself is not counted: the client has asked for it [C-LIM-7]", async () => {
  const { ask, server } = createClientWorld("delta", { client: { limits: { members: 1 } } });
  const [, b] = await ask(PART, ns("*"), ns("b"));
  server.rest();
  server.reply(PART, { resources: members("a", "b") });
  expect([server.rest().map(({ error }) => error), b?.now]).toEqual([[undefined], `${ns("b")}=b`]);
});
