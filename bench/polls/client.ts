import { once } from "node:events";
import { serveParent } from "../run/serve-parent.ts";
import { createReadLog, type Reads } from "../client/read-log.ts";
import { openPoll } from "./open-poll.ts";

/** The commands of the parent to the clients. */
export type PollClientCommand =
  | { readonly op: "open"; readonly port: number; readonly clients: number }
  | { readonly op: "read"; readonly pushes: number };

/** The answers, by question. */
export interface PollClientAnswers {
  /** All clients are connected; each sends its next poll when it has an answer. */
  readonly open: undefined;
  /** The number of answers has been read since the last time. */
  readonly read: Reads;
}

/** Connections opened at a time: fewer than the queue of the server takes. */
const batch = 250;
const log = createReadLog();

async function open(port: number, clients: number): Promise<undefined> {
  for (let opened = 0; opened < clients; opened += batch)
    await Promise.all(
      Array.from({ length: Math.min(batch, clients - opened) }, () =>
        once(
          openPoll(port, {
            read: (bytes) => {
              log.add(bytes);
            },
            lost: (error) => {
              log.fail(error);
            },
          }),
          "connect",
        ),
      ),
    );
  return undefined;
}

serveParent(async (given) => {
  const command = given as PollClientCommand;
  return command.op === "open" ? open(command.port, command.clients) : log.take(command.pushes);
});
