import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { now, type ChurnPlan } from "../churn-plan.ts";
import { isMuted, readersOf, resourcesDue, type Scenario } from "../scenario.ts";
import { readCopies } from "../template.ts";
import { createChurnLog, type ChurnLog, type ChurnResult } from "./churn-log.ts";
import { connectTo } from "./connect-to.ts";
import { openLoadStream } from "./load-stream.ts";
import { createReadLog, type Reads } from "./read-log.ts";
import type { LoadHost } from "./start.ts";

/** All clients of a scenario. */
export interface Fleet {
  /** Bytes of the first answers, over all clients. */
  readonly bytesOfStart: number;
  /** Waits for so many more pushes. */
  read(pushes: number): Promise<Reads>;
  /** Waits until all who read have the newest of everything in the plan. */
  churn(plan: ChurnPlan): Promise<ChurnResult>;
}

/** Requests sent, first ones and ACKs, with their five bytes. */
export interface Sent {
  messages: number;
  bytes: number;
}

/** The settings of a fleet. */
export interface FleetOptions {
  readonly port: number;
  readonly scenario: Scenario;
  /** Counted up here. */
  readonly sent: Sent;
  /** The versions that each client lists at first, encoded. */
  readonly held?: Uint8Array | undefined;
}

/** Connections opened at a time: fewer than the queue of the server takes. */
const batch = 250;
const mutedWindow = 1024;
const connectionWindow = 4 * 1024 * 1024;

/** Connects all clients; resolves when each has everything it asked for. */
export async function startFleet({ port, scenario, sent, held }: FleetOptions): Promise<Fleet> {
  const log = createReadLog();
  const synced = Promise.withResolvers<undefined>();
  let churn: ChurnLog | undefined;
  let missing = readersOf(scenario);
  let started = 0;
  const host: LoadHost = {
    resources: resourcesDue(scenario),
    held,
    synced(bytes) {
      started += bytes;
      if (--missing === 0) synced.resolve(undefined);
    },
    pushed(message, client) {
      if (scenario.churn === undefined) {
        log.add(message.length);
        return;
      }
      const at = now();
      readCopies(message, (index, stamp) => churn?.read(client, index, stamp, at));
    },
    sent(bytes) {
      sent.messages++;
      sent.bytes += bytes;
    },
    lost: (error) => {
      synced.reject(error);
      log.fail(error);
      churn?.fail(error);
    },
  };
  // A client may be lost before the last one is connected, and so before anybody waits for it.
  synced.promise.catch(() => undefined);
  const open = (session: ClientHttp2Session, client: number): void => {
    openLoadStream(session, client, scenario, host);
  };
  const atOnce = scenario.storm !== undefined;
  const sessions = await connectAll(port, scenario, host, atOnce ? open : undefined);
  for (let client = 0; client < scenario.clients && !atOnce; client++) {
    const session = sessions[client % sessions.length];
    if (session !== undefined) open(session, client);
  }
  await synced.promise;
  return {
    bytesOfStart: started,
    read: (pushes) => log.take(pushes),
    async churn(plan) {
      churn = createChurnLog(plan, readersOf(scenario));
      return churn.done;
    },
  };
}

async function connectAll(
  port: number,
  scenario: Scenario,
  host: LoadHost,
  onConnect?: (session: ClientHttp2Session, index: number) => void,
): Promise<readonly ClientHttp2Session[]> {
  const sessions: ClientHttp2Session[] = [];
  while (sessions.length < scenario.connections) {
    const first = sessions.length;
    const next = Array.from({ length: Math.min(batch, scenario.connections - first) }, (_, at) =>
      connectTo(port, scenario.tls, isMuted(scenario, first + at) ? mutedWindow : undefined),
    );
    await Promise.all(
      next.map(async (session, at) => {
        session.on("error", (error: Error) => {
          host.lost(error);
        });
        await once(session, "connect");
        session.setLocalWindowSize(connectionWindow);
        onConnect?.(session, first + at);
      }),
    );
    sessions.push(...next);
  }
  return sessions;
}
