import {
  createFakeClock,
  createNetwork,
  createSeededRandom,
  createStepper,
  type Connection,
  type Network,
  type NetworkObserver,
  type SeededRandom,
  type Stepper,
} from "@xdstp/testing";

import type { Action, Deed } from "./action.ts";
import { NO_DEFECT, type Defect } from "./defects/defect.ts";
import { differencesOf } from "./invariants/clients-hold-what-servers-have.ts";
import type { Invariant } from "./invariants/invariant.ts";
import { memoryFollowsInterest } from "./invariants/memory-follows-interest.ts";
import { noNameIsLost } from "./invariants/no-name-is-lost.ts";
import { noncesAreNew } from "./invariants/nonces-are-new.ts";
import { rejectedIsNotRepeated, type IsPending } from "./invariants/rejected-is-not-repeated.ts";
import type { Fault } from "./invariants/standing.ts";
import { goneStaysGone } from "./relay/gone-stays-gone.ts";
import { publishedByOrigin } from "./relay/published-by-origin.ts";
import { relaysFollowInterest } from "./relay/relays-follow-interest.ts";
import { versionsOfOrigin } from "./relay/versions-of-origin.ts";
import { createSimRelay, type SimRelay } from "./relay/sim-relay.ts";
import { createSimClient, type SimClient } from "./sim-client.ts";
import { createSimServer, type SimServer } from "./sim-server.ts";
import type { World } from "./simulated-world.ts";
import type { Report, Violation } from "./violation.ts";
import { variantOf, viewRequest, viewResponse } from "./wire-view.ts";
import { createShape, toldIn, type HopShape, type WorldShape } from "./world-shape.ts";

export interface WorldOptions {
  readonly seed: number;
  /** Default: none. */
  readonly defect?: Defect;
  /** A chain of relays behind the first server. Default: false. */
  readonly relays?: boolean;
  /** Sees what travels, next to the invariants. */
  readonly observer?: NetworkObserver;
}

/** The time between two checks of the clients, in milliseconds: about 100 steps. The checks have times of their own, so that an action that is left out of a history moves none of them. */
const LOOK = 10_000;
/** The duration of a rest in milliseconds: the least, the most, and the time between two checks. */
const REST = { least: 25_000, most: 400_000, look: 5_000 };
/** The number of checks for each step of the wall clock, forward or back by up to a day. */
const LOOKS_PER_STEP_OF_WALL_TIME = 10;
const DAY = 86_400_000;
/** Further time, in milliseconds, until each relay of a chain has noticed, lingered, and dropped the resources without subscribers. */
const LETTING_GO = 60_000;

/** A world in which nothing has happened yet. */
export function createWorld(options: WorldOptions): World {
  return new SimWorld(options);
}

class SimWorld implements World {
  readonly clock = createFakeClock({ start: 1_000_000 });
  readonly network: Network;
  readonly shape: WorldShape;
  readonly servers: readonly SimServer[];
  readonly relays: SimRelay[];
  readonly clients: (SimClient | undefined)[];
  readonly #stepper: Stepper;
  readonly #invariants: readonly Invariant[];
  readonly #wallSteps: SeededRandom;
  readonly #seed: number;
  #comings = 0;
  #looks = 0;
  violation: Violation | undefined;

  constructor({ seed, defect = NO_DEFECT, observer, relays = false }: WorldOptions) {
    const random = createSeededRandom(seed);
    this.#seed = seed;
    this.#wallSteps = random.fork(3);
    this.shape = createShape(random.fork(1), relays);
    this.network = createNetwork({
      clock: this.clock,
      random: random.fork(2),
      observer: this.#observer(observer),
    });
    const { origins, hops = [] } = this.shape;
    const stores = Array.from({ length: origins - hops.length }, (_, index) =>
      this.#newServer(index, defect),
    );
    this.relays = [];
    this.servers = hops.reduce<readonly SimServer[]>(
      (servers, shape, index) => [...servers, this.#newRelay(servers, shape, index, defect)],
      stores,
    );
    this.clients = this.shape.clients.map((_, index) => this.#newClient(index));
    const looks = relays
      ? [publishedByOrigin, versionsOfOrigin, relaysFollowInterest, goneStaysGone]
      : [memoryFollowsInterest, noNameIsLost];
    this.#invariants = [
      noncesAreNew(this.#report),
      rejectedIsNotRepeated(this.#report, this.#isPending),
      ...looks.map((look) => look(this, this.#report)),
    ];
    this.#stepper = createStepper({
      clock: this.clock,
      turn: relays ? longTurn : turn,
      onStep: () => {
        this.#onStep();
      },
    });
  }

  get steps(): number {
    return this.#stepper.steps;
  }

  async run(actions: readonly Action[]): Promise<void> {
    try {
      for (const { waitMs, deed } of actions) {
        await this.#stepper.run(waitMs);
        if (deed.kind === "rest") await this.#rest();
        else
          await this.#stepper.act(() => {
            this.#do(deed);
          });
      }
    } catch (error) {
      if (this.violation === undefined)
        this.#report(
          "nothing throws",
          error instanceof Error ? (error.stack ?? error.message) : String(error),
        );
    }
  }

  close(): void {
    for (const client of this.clients) client?.leave();
    for (const server of this.servers) server.stop(true);
    for (const relay of this.relays) relay.close();
  }

  readonly #report: Report = (invariant, text) => {
    this.violation ??= { invariant, text };
  };

  /** Returns true for a relay that has not received a name. Each other server can answer every name at once. */
  readonly #isPending: IsPending = ({ address }, typeUrl, name) => {
    const relay = this.servers.find(
      (server) => server.root !== server && address.startsWith(`${server.name}/`),
    );
    return relay?.cache.topic(typeUrl, { name }).settled === false;
  };

  #observer(other: NetworkObserver = {}): NetworkObserver {
    return {
      onSent: (connection, from, bytes) => {
        if (from === "server") this.#tell(connection, bytes);
        other.onSent?.(connection, from, bytes);
      },
      onArrived: (connection, from, bytes) => {
        if (from === "client") this.#observe(connection, bytes);
        other.onArrived?.(connection, from, bytes);
      },
    };
  }

  #tell(connection: Connection, bytes: Uint8Array): void {
    const response = viewResponse(bytes, variantOf(connection));
    for (const invariant of this.#invariants) invariant.onResponse?.(connection, response);
  }

  #observe(connection: Connection, bytes: Uint8Array): void {
    const request = viewRequest(bytes, variantOf(connection));
    for (const invariant of this.#invariants) invariant.onRequest?.(connection, request);
  }

  #onStep(): void {
    for (const invariant of this.#invariants) invariant.onStep?.();
    const looks = Math.floor(this.clock.now() / LOOK);
    if (looks !== this.#looks) this.#onLook();
    this.#looks = looks;
    if (this.violation !== undefined) throw new Error(this.violation.text);
  }

  #newServer(index: number, defect: Defect, relay?: SimRelay): SimServer {
    return createSimServer(`server ${index}`, {
      clock: this.clock,
      network: this.network,
      shape: this.shape,
      defect,
      onCommit: (server, values) => {
        for (const invariant of this.#invariants) invariant.onCommit?.(server, values);
      },
      onOpen: (connection) => {
        for (const invariant of this.#invariants) invariant.onOpen?.(connection);
      },
      ...(relay !== undefined && { relay }),
    });
  }

  #newRelay(
    before: readonly SimServer[],
    shape: HopShape,
    index: number,
    defect: Defect,
  ): SimServer {
    const upstream = before.at(-1);
    if (upstream === undefined) throw new Error("a relay is one of a server");
    const relay = createSimRelay({
      name: `relay ${index}`,
      upstream,
      shape,
      clock: this.clock,
      random: createSeededRandom(this.#seed).fork(10 + index),
      network: this.network,
      defect,
    });
    this.relays.push(relay);
    return this.#newServer(before.length, defect, relay);
  }

  /** Two of a name are never there at once, yet their numbers are their own. */
  #newClient(index: number): SimClient | undefined {
    const shape = this.shape.clients[index];
    const random = createSeededRandom(this.#seed).fork(1_000 + 8 * this.#comings++ + index);
    return shape === undefined
      ? undefined
      : createSimClient({
          name: `client ${index}`,
          shape,
          clock: this.clock,
          random,
          network: this.network,
        });
  }

  #do(deed: Exclude<Deed, { kind: "rest" }>): void {
    switch (deed.kind) {
      case "commit":
        this.servers[deed.origin]?.commit(deed.changes);
        break;
      case "start":
        this.servers[deed.origin]?.start();
        break;
      case "stop":
        this.servers[deed.origin]?.stop(deed.crash);
        break;
      default:
        this.#doTo(deed);
    }
  }

  #doTo(deed: Extract<Deed, { client: number }>): void {
    const client = this.clients[deed.client];
    if (deed.client >= this.clients.length) {
      if (isFault(deed))
        this.#befall(this.relays[deed.client - this.clients.length]?.connection, deed);
      return;
    }
    if (deed.kind === "come") {
      this.clients[deed.client] ??= this.#newClient(deed.client);
      return;
    }
    if (client === undefined) return;
    switch (deed.kind) {
      case "watch":
        client.watch(deed.typeUrl, deed.name);
        break;
      case "unwatch":
        client.unwatch(deed.typeUrl, deed.name);
        break;
      case "leave":
        client.leave();
        this.clients[deed.client] = undefined;
        break;
      default:
        if (isFault(deed)) this.#befall(client.connection, deed);
    }
  }

  #befall(connection: Connection | undefined, deed: FaultDeed): void {
    if (deed.kind !== "duplicate") this.#disturb(connection, deed);
    switch (deed.kind) {
      case "cut":
        connection?.cut(deed.told);
        break;
      case "stall":
        connection?.stall(deed.ms);
        break;
      case "slow":
        connection?.slow(deed.side, deed.ms);
        break;
      default:
        this.network.duplicateNext();
        connection?.cut("both");
    }
  }

  #disturb(connection: Connection | undefined, fault: Fault): void {
    if (connection !== undefined)
      for (const invariant of this.#invariants) invariant.onFault?.(connection, fault);
  }

  /** The wall clock is set as NTP or an operator does; whatever has a time goes on. */
  #onLook(): void {
    if (this.#wallSteps.once(LOOKS_PER_STEP_OF_WALL_TIME))
      this.clock.stepWallTime(this.#wallSteps.between(-DAY, DAY));
    for (const invariant of this.#invariants) invariant.onLook?.();
  }

  async #rest(): Promise<void> {
    await this.#stepper.act(() => {
      this.#heal();
    });
    const end = this.clock.now() + REST.most;
    await this.#stepper.run(REST.least + (this.relays.length > 0 ? LETTING_GO : 0));
    for (;;) {
      const differences = this.clients.flatMap((client) =>
        client === undefined ? [] : this.#differencesOf(client),
      );
      if (differences.length === 0) break;
      if (this.clock.now() >= end) {
        this.#report(
          "when the faults end every client holds exactly what the server has",
          differences.join("\n"),
        );
        break;
      }
      await this.#stepper.run(REST.look);
    }
    await this.#stepper.act(() => {
      for (const invariant of this.#invariants) invariant.onRest?.();
    });
  }

  #heal(): void {
    for (const connection of this.network.connections) {
      this.#disturb(connection, { kind: "stall", ms: 0 });
      connection.stall(0);
      for (const side of ["client", "server"] as const) {
        this.#disturb(connection, { kind: "slow", side, ms: 0 });
        connection.slow(side, 0);
      }
    }
    for (const server of this.servers) {
      server.start();
      server.mend();
    }
  }

  #differencesOf(client: SimClient): readonly string[] {
    const server = this.servers[client.shape.origin];
    return server === undefined
      ? []
      : differencesOf(client, server.root, toldIn(this.shape, client.shape));
  }
}

type FaultDeed = Extract<Deed, { kind: "cut" | "stall" | "slow" | "duplicate" }>;

function isFault(deed: Deed): deed is FaultDeed {
  return (
    deed.kind === "cut" ||
    deed.kind === "stall" ||
    deed.kind === "slow" ||
    deed.kind === "duplicate"
  );
}

/** As many as the longest chain of promises in it is long. */
async function turn(): Promise<void> {
  for (let n = 0; n < 4; n++) await Promise.resolve();
}

/** A snapshot is written, or let go of, in it. */
async function longTurn(): Promise<void> {
  for (let n = 0; n < 40; n++) await Promise.resolve();
}
