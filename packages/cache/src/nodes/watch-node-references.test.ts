import type { Reference, ResourceType } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { turn } from "../../test/scene.ts";
import type { DanglingEvent } from "../dangling/references.ts";
import { createNodeCaches, type NodeCaches } from "./create-node-caches.ts";

const route = "type.googleapis.com/acme.Route";
const cluster = "type.googleapis.com/acme.Cluster";

/** A route names one cluster. */
const types: readonly ResourceType[] = [
  {
    typeUrl: route,
    references: (payload): readonly Reference[] => [
      { typeUrl: cluster, name: new TextDecoder().decode(payload) },
    ],
  },
  { typeUrl: cluster },
];

interface Subject {
  readonly nodes: NodeCaches;
  /** Puts under a key; "": the shared content. */
  readonly put: (key: string, typeUrl: string, name: string, to?: string) => void;
  readonly remove: (key: string, typeUrl: string, name: string) => void;
  /** The events that `told()` has not returned yet. */
  readonly events: readonly string[];
  /** Resolves with the events since the last call as text, once promises have settled. */
  readonly told: () => Promise<readonly string[]>;
  /** Returns the dangling references as `KEY>NAME`. */
  readonly list: () => readonly string[];
  readonly close: () => void;
}

function useWatch({ isReady = true } = {}): Subject {
  const nodes = createNodeCaches({
    types,
    keyOf: ({ cluster: key }) => key,
    clock: createFakeClock(),
  });
  if (isReady) nodes.shared.commit({});
  const events: string[] = [];
  const keyed = ({ key = "", name }: { readonly key?: string; readonly name: string }): string =>
    `${key}>${name}`;
  const say = (event: DanglingEvent): void => {
    events.push(
      `${event.kind} ${keyed(event)}${event.kind === "dangling" ? ` by ${event.by.name}` : ""}`,
    );
  };
  const watch = nodes.watchDangling(say);
  const layer = (key: string): Pick<NodeCaches["shared"], "put" | "remove"> =>
    key === "" ? nodes.shared : nodes.of(key);
  return {
    nodes,
    events,
    put: (key, typeUrl, name, to = "") => {
      layer(key).put({ typeUrl, name, value: new TextEncoder().encode(to) });
    },
    remove: (key, typeUrl, name) => {
      layer(key).remove(typeUrl, name);
    },
    async told() {
      await turn();
      return events.splice(0);
    },
    list: () => watch.list().map(keyed),
    close: () => {
      watch.close();
    },
  };
}

describe("NodeCaches.watchDangling()", () => {
  it("names the key whose content refers to what is neither there nor in the shared content", async () => {
    const { put, told, list } = useWatch();
    put("", cluster, "api");
    put("gold", route, "web", "api");
    put("gold", route, "shop", "checkout");
    expect(await told()).toEqual(["dangling gold>checkout by shop"]);
    expect(list()).toEqual(["gold>checkout"]);
    put("basic", cluster, "checkout");
    expect(await told()).toEqual([]);
    put("gold", cluster, "checkout");
    expect(await told()).toEqual(["resolved gold>checkout"]);
    expect(list()).toEqual([]);
  });

  it("looks again when the shared content changes", async () => {
    const { put, remove, told } = useWatch();
    put("gold", route, "web", "api");
    put("basic", route, "web", "api");
    expect(await told()).toEqual(["dangling gold>api by web", "dangling basic>api by web"]);
    put("", cluster, "api");
    expect(await told()).toEqual(["resolved gold>api", "resolved basic>api"]);
    remove("", cluster, "api");
    expect(await told()).toEqual(["dangling gold>api by web", "dangling basic>api by web"]);
  });

  it("waits for the shared content to be complete", async () => {
    const { put, told } = useWatch({ isReady: false });
    put("gold", route, "web", "api");
    put("basic", route, "web", "none");
    expect(await told()).toEqual([]);
    put("", cluster, "api");
    expect(await told()).toEqual(["dangling basic>none by web"]);
  });

  it("says what the shared content refers to once, and not for each key", async () => {
    const { put, remove, told } = useWatch();
    put("gold", cluster, "other");
    put("", route, "web", "api");
    expect(await told()).toEqual(["dangling >api by web"]);
    put("gold", route, "web", "other");
    expect(await told()).toEqual([]);
    remove("gold", route, "web");
    expect(await told()).toEqual([]);
  });

  it("ends with the last resource of the key, and begins anew with the next one", async () => {
    const { put, nodes, told, list } = useWatch();
    put("gold", route, "web", "api");
    await told();
    nodes.of("gold").clear();
    expect(await told()).toEqual(["resolved gold>api"]);
    expect(list()).toEqual([]);
    put("gold", route, "web", "api");
    expect(await told()).toEqual(["dangling gold>api by web"]);
  });

  it("ends with the content of the key where the shared content says the same", async () => {
    const { put, remove, nodes, told } = useWatch();
    put("gold", route, "web", "api");
    put("gold", route, "shop", "api");
    put("", route, "web", "api");
    expect(await told()).toEqual(["dangling gold>api by web", "dangling >api by web"]);
    remove("gold", route, "web");
    remove("gold", route, "shop");
    expect(await told()).toEqual(["resolved gold>api"]);
    put("gold", route, "web", "api");
    expect(await told()).toEqual(["dangling gold>api by web"]);
    nodes.of("gold").clear();
    expect(await told()).toEqual(["resolved gold>api"]);
  });

  it("checks in the next turn, and never within a transaction", async () => {
    const { put, remove, list, told, events } = useWatch();
    put("gold", route, "web", "api");
    await told();
    remove("gold", route, "web");
    put("gold", route, "web", "api");
    expect(events).toEqual([]);
    expect(await told()).toEqual([]);
    remove("gold", route, "web");
    expect(events).toEqual([]);
    expect(list()).toEqual([]);
    expect(await told()).toEqual(["resolved gold>api"]);
  });

  it("is not misled by a reader that asks within a transaction", async () => {
    const { nodes, put, remove, list, told } = useWatch();
    nodes
      .of("gold")
      .topic(route, { name: "*" })
      .watch({
        wake() {
          list();
        },
      });
    put("gold", route, "web", "api");
    put("", route, "web", "other");
    expect(await told()).toEqual(["dangling gold>api by web", "dangling >other by web"]);
    remove("gold", route, "web");
    expect(await told()).toEqual(["resolved gold>api"]);
    put("gold", route, "web", "api");
    expect(await told()).toEqual(["dangling gold>api by web"]);
    expect(list()).toEqual([">other", "gold>api"]);
  });

  it("knows what was there before it began, and tells nothing once it is closed", async () => {
    const { nodes, put, told, list, close } = useWatch();
    put("gold", route, "web", "api");
    await told();
    expect(nodes.watchDangling().list()).toMatchObject([
      { key: "gold", name: "api", by: { name: "web" }, others: 0 },
    ]);
    close();
    put("gold", route, "shop", "none");
    put("", route, "web", "none");
    expect(list()).toEqual(["gold>api"]);
    expect(await told()).toEqual([]);
  });

  it("goes on after a listener that threw", async () => {
    const { nodes, put, told } = useWatch();
    let isBroken = true;
    const watch = nodes.watchDangling(() => {
      if (isBroken) throw new Error("broken");
    });
    put("gold", route, "web", "api");
    put("gold", route, "shop", "other");
    expect(() => watch.list()).toThrow("broken");
    isBroken = false;
    expect(watch.list()).toMatchObject([
      { key: "gold", name: "api" },
      { key: "gold", name: "other" },
    ]);
    expect(await told()).toEqual(["dangling gold>api by web", "dangling gold>other by shop"]);
    watch.close();
  });
});
