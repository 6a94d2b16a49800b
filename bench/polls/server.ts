import { now } from "../churn-plan.ts";
import type { Contender } from "../contender.ts";
import { serveParent } from "../run/serve-parent.ts";
import { memoryInUse, type MemoryUse } from "../server/memory-in-use.ts";
import { startFloor } from "./floor.ts";
import type { PollServer } from "./poll-server.ts";
import { startXdstp } from "./xdstp.ts";

/** The commands of the parent to a server of long polls. */
export type PollServerCommand =
  | { readonly op: "start"; readonly contender: Contender }
  | { readonly op: "change"; readonly stamp: number }
  | { readonly op: "waiting" }
  | { readonly op: "cpu" }
  | { readonly op: "memory" };

/** The answers, by question. */
export interface PollServerAnswers {
  readonly start: { readonly port: number };
  /** Milliseconds of the clock that all processes of a machine share. */
  readonly change: { readonly at: number };
  readonly waiting: number;
  /** User and system time of the process, in microseconds. */
  readonly cpu: number;
  readonly memory: MemoryUse;
}

let server: PollServer | undefined;

serveParent(async (given) => {
  const command = given as PollServerCommand;
  switch (command.op) {
    case "start":
      server = await (command.contender === "floor" ? startFloor() : startXdstp());
      return { port: server.port };
    case "change": {
      const at = now();
      running().change(command.stamp);
      return { at };
    }
    case "waiting":
      return running().waiting();
    case "cpu": {
      const { user, system } = process.cpuUsage();
      return user + system;
    }
    case "memory":
      return memoryInUse();
  }
});

function running(): PollServer {
  if (server === undefined) throw new Error("the first command must be start");
  return server;
}
