import { cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWebClient, type StateStore, type StoredResource } from "@xdstp/web";
import { createWebSocketClient } from "@xdstp/web/websocket";

import { flagName, flagType } from "./flag.ts";
import { flagMessage } from "./flag-message.ts";
import { type FlagServer, flagFolder, startFlagServer } from "./flag-server.ts";

/** Where a page reads its flags: the one line in which the two pages differ. */
const connections = {
  http: ({ origin }: FlagServer, store: StateStore) => ({
    client: createWebClient({ origin, store }),
    type: flagType,
  }),
  websocket: ({ webSocketUrl: url }: FlagServer, store: StateStore) => ({
    client: createWebSocketClient({ url, store }),
    type: flagMessage,
  }),
};

/** Watches a flag as a page does: a change, an outage with a reload of the page in it, and the return of the server. */
export async function runTour(
  say: (line: string) => void,
  connection: keyof typeof connections = "http",
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-example-browser-"));
  const store = memoryStore();
  try {
    await cp(flagFolder, dir, { recursive: true });
    const edit = async (percent: number): Promise<void> => {
      say(`-- new-cart.yaml: percent: ${percent}`);
      const file = join(dir, "flags.example/flags.v1.Flag/checkout/new-cart.yaml");
      await writeFile(`${file}.tmp`, `"on": true\npercent: ${percent}\n`);
      await rename(`${file}.tmp`, file);
    };
    const open = connections[connection];
    let server = await startFlagServer(dir);
    let page = openPage(open(server, store), say);
    await page.until("current 10 %");
    await edit(25);
    await page.until("current 25 %");
    say("-- the server is stopped, and the page is opened again");
    await server[Symbol.asyncDispose]();
    page.close();
    page = openPage(open(server, store), say);
    await page.until("stored 25 %");
    await edit(50);
    say("-- the server starts again");
    server = await startFlagServer(dir, server);
    await page.until("current 50 %");
    page.close();
    await server[Symbol.asyncDispose]();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Watches the flag as a page that was just opened. */
function openPage(
  { client, type }: ReturnType<(typeof connections)[keyof typeof connections]>,
  say: (line: string) => void,
): { readonly until: (text: string) => Promise<void>; readonly close: () => void } {
  let shown = "";
  let wake = (): void => undefined;
  client.watch(type, flagName, ({ phase, value }) => {
    const text = `${phase} ${String(value?.percent ?? 0)} %`;
    if (text !== shown && phase !== "waiting") say(`page: ${text}`);
    shown = text;
    wake();
  });
  return {
    async until(text) {
      while (shown !== text)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    close: () => {
      client.close();
    },
  };
}

/** Stands for IndexedDB of a browser. */
function memoryStore(): StateStore {
  const held = new Map<string, StoredResource>();
  return {
    load: async (key) => Promise.resolve(held.get(key)),
    save: async (key, resource) => {
      held.set(key, resource);
      return Promise.resolve();
    },
    remove: async (key) => {
      held.delete(key);
      return Promise.resolve();
    },
  };
}
