import type { ClientAnswers, ClientCommand } from "../client/main.ts";
import type { Scenario } from "../scenario.ts";
import type { ServerAnswers, ServerCommand } from "../server/main.ts";
import { startChild, type Child } from "./child.ts";
import { openFilesFor } from "./open-files.ts";

/** The process of the server. */
export type Server = Child<ServerCommand, ServerAnswers>;

/** The process of all clients. */
export type Client = Child<ClientCommand, ClientAnswers>;

/** Starts the process of a server, which then waits for `start`. */
export function startServer({ connections }: Scenario, signal: AbortSignal): Server {
  return startChild("server/main.ts", {
    flags: ["--expose-gc"],
    openFiles: openFilesFor(connections),
    signal,
  });
}

/** Starts the process of the clients, which then waits for `start`. */
export function startClient({ connections }: Scenario, signal: AbortSignal): Client {
  return startChild("client/main.ts", { openFiles: openFilesFor(connections), signal });
}

/** Waits until the server has read every request and ACK that was sent. */
export async function allArrived(server: Server, client: Client): Promise<void> {
  const sent = await client.ask({ op: "sent" });
  for (;;) {
    const { unit, count } = await server.ask({ op: "received" });
    if (count >= sent[unit]) return;
  }
}
