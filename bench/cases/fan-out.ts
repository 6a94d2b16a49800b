import type { BenchCase } from "../bench-case.ts";
import { atMostTimes, rowsOf, type Wanted } from "../measures.ts";
import { compare } from "../run/compare.ts";
import { measure } from "../run/measure.ts";
import type { Scenario } from "../scenario.ts";

/** One resource changes and everyone must have it. */
export interface FanOut {
  readonly name: string;
  readonly text: string;
  readonly scenario: Scenario;
  readonly wanted: Wanted;
  /** Connect is run with at most so many clients. Absent: all. */
  readonly connectClients?: number;
  /** `--quick` is run with so many clients. Absent: all. */
  readonly quickClients?: number;
  readonly fullOnly?: boolean;
}

const resources = 100;

/** Delta and SotW, with a connection for each client and without. */
export const fanOuts: readonly FanOut[] = [
  {
    name: "fan-out-1000",
    text: "delta, 1,000 clients, a connection each",
    scenario: {
      variant: "delta",
      clients: 1000,
      connections: 1000,
      resources,
      warmUpRounds: 30,
      rounds: 60,
    },
    wanted: {
      cpuPerPush: atMostTimes(1.25),
      p50: undefined,
      p99: undefined,
      rssPerClient: undefined,
      heapPerClient: undefined,
      pushBytes: undefined,
    },
  },
  {
    name: "fan-out-10000",
    text: "delta, 10,000 clients, a connection each",
    scenario: {
      variant: "delta",
      clients: 10_000,
      connections: 10_000,
      resources,
      warmUpRounds: 6,
      rounds: 15,
    },
    wanted: {
      cpuPerPush: atMostTimes(1.25),
      p50: undefined,
      p99: atMostTimes(1.3),
      rssPerClient: atMostTimes(1.2),
      heapPerClient: undefined,
      pushBytes: undefined,
    },
    connectClients: 2000,
  },
  {
    name: "fan-out-multiplexed",
    text: "delta, 1,000 streams on 50 connections",
    scenario: {
      variant: "delta",
      clients: 1000,
      connections: 50,
      resources,
      warmUpRounds: 100,
      rounds: 200,
    },
    wanted: {
      cpuPerPush: atMostTimes(1.5),
      p50: undefined,
      p99: undefined,
      rssPerClient: undefined,
      heapPerClient: undefined,
      pushBytes: undefined,
    },
  },
  {
    name: "fan-out-tls",
    text: "delta over TLS, a connection each",
    scenario: {
      variant: "delta",
      clients: 1000,
      connections: 1000,
      resources,
      tls: true,
      warmUpRounds: 30,
      rounds: 60,
    },
    wanted: {
      cpuPerPush: atMostTimes(1.25),
      p50: undefined,
      p99: undefined,
      rssPerClient: undefined,
      heapPerClient: undefined,
      pushBytes: undefined,
    },
    quickClients: 200,
  },
  {
    name: "sotw-100",
    text: "SotW, 1,000 clients, 100 clusters",
    scenario: {
      variant: "sotw",
      clients: 1000,
      connections: 1000,
      resources,
      warmUpRounds: 15,
      rounds: 40,
    },
    wanted: {
      cpuPerPush: atMostTimes(1.25),
      p50: undefined,
      p99: undefined,
      rssPerClient: undefined,
      heapPerClient: undefined,
      pushBytes: undefined,
    },
  },
  {
    name: "sotw-1000",
    text: "SotW, 1,000 clients, 1,000 clusters",
    scenario: {
      variant: "sotw",
      clients: 1000,
      connections: 1000,
      resources: 1000,
      warmUpRounds: 3,
      rounds: 8,
    },
    wanted: { cpuPerPush: atMostTimes(1.25), p50: undefined, p99: undefined, pushBytes: undefined },
    connectClients: 300,
    fullOnly: true,
  },
];

/** A fan-out as a case of the bench. */
export function fanOutCase({
  name,
  text,
  scenario,
  wanted,
  connectClients,
  quickClients,
  fullOnly = false,
}: FanOut): BenchCase {
  return {
    name,
    fullOnly,
    deadlineSeconds: 300,
    connections: scenario.connections,
    async run({ quick, signal, say }) {
      const connect = {
        ...scenario,
        ...smaller(scenario, quick ? Math.min(300, quickClients ?? 300) : connectClients),
        warmUpRounds: 3,
        rounds: 6,
      };
      const of = quick
        ? {
            ...scenario,
            ...smaller(scenario, quickClients),
            rounds: Math.ceil(scenario.rounds / 2),
            warmUpRounds: Math.ceil(scenario.warmUpRounds / 2),
          }
        : scenario;
      const comparison = await compare(measure, of, { runs: quick ? 1 : 3, connect, signal, say });
      const fewer =
        of.clients === scenario.clients ? [] : [`with ${of.clients} clients, as it is quick`];
      const connectFewer =
        connect.clients === of.clients
          ? []
          : [`Connect with ${connect.clients} clients: more would take too long`];
      const notes = [...fewer, ...connectFewer];
      return rowsOf(text, comparison, wanted, notes.length === 0 ? undefined : notes.join("; "));
    },
  };
}

function smaller(
  { clients, connections }: Scenario,
  most = clients,
): Pick<Scenario, "clients" | "connections"> {
  return { clients: Math.min(clients, most), connections: Math.min(connections, most) };
}
