import { parseBootstrap } from "@xdstp/bootstrap";
import { createCache, type Cache } from "@xdstp/cache";
import { createRelay } from "@xdstp/relay";
import { createServer } from "@xdstp/server";
import { now } from "../churn-plan.ts";
import { serveParent } from "../run/serve-parent.ts";
import { memoryInUse, type MemoryUse } from "../server/memory-in-use.ts";
import { memberMadeAt, memberType, nameOfMember } from "./members.ts";

/** The commands of the parent to an origin or a relay. */
export type RelayCommand =
  | { readonly op: "origin"; readonly members: number }
  | { readonly op: "relay"; readonly port: number; readonly snapshot?: string }
  /** So many changes a second by the clock, each of another member. */
  | {
      readonly op: "change";
      readonly members: number;
      readonly perSecond: number;
      readonly ms: number;
    }
  | { readonly op: "asked" }
  | { readonly op: "cpu" }
  | { readonly op: "memory" }
  | { readonly op: "close" };

/** The answers, by question. */
export interface RelayAnswers {
  readonly origin: { readonly port: number };
  /** `ms`: from nothing until it listens, the snapshot read. */
  readonly relay: { readonly port: number; readonly ms: number };
  /** The number of changes that were made. */
  readonly change: number;
  /** Subscriptions and answers that came, since the beginning. */
  readonly asked: number;
  readonly cpu: number;
  readonly memory: MemoryUse;
  readonly close: undefined;
}

let cache: Cache | undefined;
let close = async (): Promise<void> => Promise.resolve();
let asked = 0;

async function startOrigin(members: number): Promise<RelayAnswers["origin"]> {
  const origin = (cache = createCache());
  const made = now();
  origin.commit({
    put: Array.from({ length: members }, (_, id) => ({
      typeUrl: memberType,
      resource: {
        name: nameOfMember(id),
        version: "",
        payload: { typeUrl: memberType, value: memberMadeAt(made) },
      },
    })),
  });
  const server = createServer({
    source: origin,
    onEvent: ({ kind }) => {
      if (kind === "subscribe" || kind === "ack") asked++;
    },
  });
  close = async () => server.close({ graceMs: 0 });
  return server.listen({ port: 0 });
}

async function startRelay(port: number, dir: string | undefined): Promise<RelayAnswers["relay"]> {
  const from = now();
  const relay = createRelay({
    bootstrap: parseBootstrap({
      xds_servers: [{ server_uri: `127.0.0.1:${port}`, channel_creds: [{ type: "insecure" }] }],
      node: { id: "relay" },
    }),
    ...(dir !== undefined && { snapshot: { dir } }),
  });
  const server = createServer({ ...relay.serving });
  const listening = await server.listen({ port: 0 });
  close = async () => {
    await server.close({ graceMs: 0 });
    await relay.close();
  };
  return { port: listening.port, ms: now() - from };
}

async function change({
  members,
  perSecond,
  ms,
}: Extract<RelayCommand, { op: "change" }>): Promise<number> {
  const from = now();
  let made = 0;
  while (now() - from < ms) {
    for (const due = ((now() - from) * perSecond) / 1_000; made < due; made++)
      cache?.put({
        typeUrl: memberType,
        name: nameOfMember(made % members),
        value: memberMadeAt(now()),
      });
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
  return made;
}

serveParent(async (given) => {
  const command = given as RelayCommand;
  switch (command.op) {
    case "origin":
      return startOrigin(command.members);
    case "relay":
      return startRelay(command.port, command.snapshot);
    case "change":
      return change(command);
    case "asked":
      return asked;
    case "cpu": {
      const { user, system } = process.cpuUsage();
      return user + system;
    }
    case "memory":
      return memoryInUse();
    case "close":
      return close();
  }
});
