import { serveParent } from "../run/serve-parent.ts";
import type { Scenario } from "../scenario.ts";
import type { ChurnPlan } from "../churn-plan.ts";
import type { ChurnResult } from "./churn-log.ts";
import { heldVersions } from "./first-request.ts";
import { startFleet, type Fleet, type Sent } from "./fleet.ts";
import { learnVersions } from "./learn-versions.ts";
import type { Reads } from "./read-log.ts";

/** The commands of the parent to the load client. */
export type ClientCommand =
  | { readonly op: "learn"; readonly port: number; readonly scenario: Scenario }
  | { readonly op: "start"; readonly port: number; readonly scenario: Scenario }
  | { readonly op: "churn"; readonly plan: ChurnPlan }
  | { readonly op: "read"; readonly pushes: number }
  | { readonly op: "sent" };

/** The answers, by question. */
export interface ClientAnswers {
  /** One client has asked and gone; what it saw is what those of a storm list. */
  readonly learn: undefined;
  /** All clients have everything they asked for, so many milliseconds after the first connection. */
  readonly start: { readonly bytes: number; readonly ms: number };
  /** All clients that read have the newest of everything. */
  readonly churn: ChurnResult;
  /** So many pushes have been read since the last time, and acknowledged. */
  readonly read: Reads;
  readonly sent: Readonly<Sent>;
}

const sent: Sent = { messages: 0, bytes: 0 };
let held: Uint8Array | undefined;
let fleet: Fleet | undefined;

serveParent(async (given) => {
  const command = given as ClientCommand;
  switch (command.op) {
    case "learn": {
      const versions = await learnVersions(command.port, command.scenario, sent);
      if (command.scenario.storm?.versions === true) held = heldVersions(versions);
      return undefined;
    }
    case "start": {
      const began = performance.now();
      fleet = await startFleet({ port: command.port, scenario: command.scenario, sent, held });
      return { bytes: fleet.bytesOfStart, ms: performance.now() - began };
    }
    case "churn":
      return running().churn(command.plan);
    case "read":
      return running().read(command.pushes);
    case "sent":
      return { ...sent };
  }
});

function running(): Fleet {
  if (fleet === undefined) throw new Error("the first command must be start");
  return fleet;
}
