import { now } from "../churn-plan.ts";
import type { Contender } from "../contender.ts";
import { serveParent } from "../run/serve-parent.ts";
import { memoryInUse, type MemoryUse } from "../server/memory-in-use.ts";
import { startNativeFloor } from "./native-floor.ts";
import { startNativeXdstp } from "./native-xdstp.ts";
import type { PollScenario } from "./poll-scenario.ts";
import type { PollServer } from "./poll-server.ts";
import { startRestFloor } from "./rest-floor.ts";
import { startRestXdstp } from "./rest-xdstp.ts";

/** The commands of the parent to a server of polls. */
export type PollServerCommand =
  | { readonly op: "start"; readonly contender: Contender; readonly scenario: PollScenario }
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
      server = await start(command.contender, command.scenario);
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

async function start(
  contender: Contender,
  { protocol, resources }: PollScenario,
): Promise<PollServer> {
  if (protocol === "native") return contender === "floor" ? startNativeFloor() : startNativeXdstp();
  return contender === "floor" ? startRestFloor(protocol, resources) : startRestXdstp(resources);
}

function running(): PollServer {
  if (server === undefined) throw new Error("the first command must be start");
  return server;
}
