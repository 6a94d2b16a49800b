import { now } from "../churn-plan.ts";
import type { Contender } from "../contender.ts";
import { serveParent } from "../run/serve-parent.ts";
import type { Scenario } from "../scenario.ts";
import type { BenchServer, Received } from "./bench-server.ts";
import { startConnect } from "./connect.ts";
import { startFloor } from "./floor.ts";
import { memoryInUse, type MemoryUse } from "./memory-in-use.ts";
import { startXdstp } from "./xdstp.ts";

/** The commands of the parent to a server. */
export type ServerCommand =
  | { readonly op: "start"; readonly contender: Contender; readonly scenario: Scenario }
  | { readonly op: "change"; readonly indexes: readonly number[]; readonly stamp: number }
  | { readonly op: "received" }
  | { readonly op: "cpu" }
  | { readonly op: "peak" }
  | { readonly op: "memory" };

/** The answers, by question. */
export interface ServerAnswers {
  readonly start: { readonly port: number };
  /** Milliseconds of the clock that all processes of a machine share. */
  readonly change: { readonly at: number };
  readonly received: Received;
  /** User and system time of the process, in microseconds. */
  readonly cpu: number;
  /** The most bytes of memory that the process ever had. */
  readonly peak: number;
  readonly memory: MemoryUse;
}

const starters = { floor: startFloor, connect: startConnect, xdstp: startXdstp };
let server: BenchServer | undefined;

serveParent(async (given) => {
  const command = given as ServerCommand;
  switch (command.op) {
    case "start":
      server = await starters[command.contender](command.scenario);
      return { port: server.port };
    case "change": {
      const at = now();
      running().change(command.indexes, command.stamp);
      return { at };
    }
    case "received":
      return running().received();
    case "cpu": {
      const { user, system } = process.cpuUsage();
      return user + system;
    }
    case "peak":
      return process.resourceUsage().maxRSS * 1024;
    case "memory":
      return memoryInUse();
  }
});

function running(): BenchServer {
  if (server === undefined) throw new Error("the first command must be start");
  return server;
}
