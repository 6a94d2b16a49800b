import { once } from "node:events";
import { serveParent } from "../run/serve-parent.ts";
import { createReadLog, type Reads } from "../client/read-log.ts";
import { openPoll, type PollClient } from "./open-poll.ts";
import type { PollScenario } from "./poll-scenario.ts";

/** The commands of the parent to the clients. */
export type PollClientCommand =
  | { readonly op: "open"; readonly port: number; readonly scenario: PollScenario }
  | { readonly op: "poll" }
  | { readonly op: "read"; readonly pushes: number };

/** The answers, by question. */
export interface PollClientAnswers {
  /** All clients are connected, and have sent their first poll. */
  readonly open: undefined;
  /** All clients have sent a poll. */
  readonly poll: undefined;
  /** The number of polls has ended since the last time. */
  readonly read: Reads;
}

/** Connections opened at a time: fewer than the queue of the server takes. */
const batch = 250;
const log = createReadLog();
const all: PollClient[] = [];

async function open(port: number, scenario: PollScenario): Promise<undefined> {
  while (all.length < scenario.clients) {
    const opened = Array.from({ length: Math.min(batch, scenario.clients - all.length) }, (_, at) =>
      openPoll({ port, client: all.length + at }, scenario, {
        read: (bytes) => {
          log.add(bytes);
        },
        lost: (error) => {
          log.fail(error);
        },
      }),
    );
    all.push(...opened);
    await Promise.all(opened.map(async ({ socket }) => once(socket, "connect")));
  }
  return undefined;
}

serveParent(async (given) => {
  const command = given as PollClientCommand;
  switch (command.op) {
    case "open":
      return open(command.port, command.scenario);
    case "poll":
      for (const { poll } of all) poll();
      return undefined;
    case "read":
      return log.take(command.pushes);
  }
});
