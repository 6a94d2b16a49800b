import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatProblem } from "@xdstp/folder";
import type { Caller } from "./caller.ts";
import { visible } from "./event-text.ts";
import type { Mesh, MeshEvent } from "./mesh.ts";
import { sharesOf } from "./shares.ts";
import { waitUntil } from "./wait-until.ts";

/** The parts that the steps of a tour use. */
export interface TourContext {
  readonly mesh: Mesh;
  /** All that has happened so far; it grows. */
  readonly events: readonly MeshEvent[];
  readonly signal: AbortSignal;
}

/** One step: it resolves with what was seen, or rejects with what was not. */
export interface TourStep {
  readonly name: string;
  readonly run: (context: TourContext) => Promise<string>;
}

const route = "mesh.example/routes/greeter.yaml";
const cluster = "mesh.example/clusters/blue.yaml";
const settled = 20;

/** The tour, in order; each step leaves the mesh as the next one needs it. */
export const tourSteps: readonly TourStep[] = [
  { name: "serve a folder", run: serve },
  { name: "call through the mesh", run: call },
  { name: "edit the weights, see traffic move", run: edit },
  { name: "break a file, see it rejected", run: breakFile },
  { name: "mend it", run: mend },
  { name: "serve a cluster that gRPC rejects, see its NACK", run: nack },
  { name: "take it back, see the ACK", run: takeBack },
  { name: "no call has failed", run: countFailures },
];

async function serve({ mesh, events, signal }: TourContext): Promise<string> {
  const loaded = await nextEvent(
    events,
    0,
    "the folder is not loaded",
    (event) => (event.kind === "loaded" ? event : undefined),
    signal,
  );
  return `${loaded.resources} resources from ${mesh.dir}, on 127.0.0.1:${mesh.controlPlane.port}`;
}

async function call({ mesh, signal }: TourContext): Promise<string> {
  const seen = await Promise.all(
    mesh.callers.map(async (caller) => {
      const calls = await answered(caller, 0, "nobody answers", () => true, signal);
      return `${caller.name}: ${sharesOf(calls)}`;
    }),
  );
  return [...seen, ...(mesh.envoy === undefined ? ["no Envoy found"] : [])].join("; ");
}

async function edit({ mesh, signal }: TourContext): Promise<string> {
  const began = Date.now();
  await change(mesh, route, (text) =>
    text.replace("weight: 90", "weight: 0").replace("weight: 10", "weight: 100"),
  );
  const seen = await Promise.all(
    mesh.callers.map(async (caller) => {
      const [first] = await answered(
        caller,
        began,
        "traffic does not move to green",
        ({ answer }) => answer === "green",
        signal,
      );
      return `${caller.name}: only green after ${(first?.began ?? began) - began} ms`;
    }),
  );
  return seen.join("; ");
}

async function breakFile({ mesh, events, signal }: TourContext): Promise<string> {
  const from = events.length;
  await change(mesh, route, (text) => text.replace("weighted_clusters:", "wieghted_clusters:"));
  const problem = await nextEvent(
    events,
    from,
    "the broken file is not rejected",
    (event) => ("problems" in event ? event.problems[0] : undefined),
    signal,
  );
  if (problem.line === undefined) throw new Error(`no line is named: ${formatProblem(problem)}`);
  await stillGreen(mesh, Date.now(), signal);
  return `${formatProblem(problem)}; the calls go on`;
}

async function mend({ mesh, events, signal }: TourContext): Promise<string> {
  const from = events.length;
  await change(mesh, route, (text) => text.replace("wieghted_clusters:", "weighted_clusters:"));
  await nextEvent(
    events,
    from,
    "the mended file is not loaded",
    (event) => (event.kind === "loaded" ? event : undefined),
    signal,
  );
  await stillGreen(mesh, Date.now(), signal);
  return "loaded; the calls go on";
}

async function nack({ mesh, events, signal }: TourContext): Promise<string> {
  const from = events.length;
  await change(mesh, cluster, (text) => text.replace("ROUND_ROBIN", "MAGLEV"));
  const rejected = await nextEvent(
    events,
    from,
    "nobody rejects the cluster",
    (event) => (event.kind === "nack" ? event : undefined),
    signal,
  );
  const shown = mesh.controlPlane
    .status()
    .flatMap(({ types }) => types)
    .some(
      (type) =>
        type.typeUrl === rejected.typeUrl &&
        type.state === "NACKED" &&
        type.lastError !== undefined,
    );
  if (!shown) throw new Error("the status of the server does not show it");
  return visible(`${rejected.stream.node?.id ?? "?"} says: ${rejected.error.message}`);
}

async function takeBack({ mesh, events, signal }: TourContext): Promise<string> {
  const from = events.length;
  await change(mesh, cluster, (text) => text.replace("MAGLEV", "ROUND_ROBIN"));
  await nextEvent(
    events,
    from,
    "the cluster is not accepted",
    (event) =>
      event.kind === "ack" && event.typeUrl.endsWith(".Cluster") && event.stream.variant === "sotw"
        ? event
        : undefined,
    signal,
  );
  await waitUntil(
    "the status of the server still shows a NACK",
    () => {
      const types = mesh.controlPlane.status().flatMap((stream) => stream.types);
      return types.every(({ state }) => state === "SYNCED") || undefined;
    },
    signal,
  );
  return "every client is SYNCED";
}

function countFailures({ mesh }: TourContext): Promise<string> {
  const bad = mesh.callers.filter(({ failed }) => failed > 0);
  if (bad.length === 0) return Promise.resolve("in the whole tour");
  const reasons = bad.map(
    (caller) =>
      `${caller.name}: ${caller.failed}, the last one: ${caller.since(0).findLast(({ error }) => error !== undefined)?.error ?? "?"}`,
  );
  return Promise.reject(new Error(`calls failed: ${reasons.join("; ")}`));
}

async function change(
  { dir }: Mesh,
  file: string,
  edited: (text: string) => string,
): Promise<void> {
  const path = join(dir, file);
  const before = await readFile(path, "utf8");
  const after = edited(before);
  if (after === before) throw new Error(`${path} is not as the tour expects it`);
  await writeFile(path, after);
}

async function stillGreen(mesh: Mesh, began: number, signal: AbortSignal): Promise<void> {
  await Promise.all(
    mesh.callers.map((caller) =>
      answered(caller, began, "green does not answer", ({ answer }) => answer === "green", signal),
    ),
  );
}

/** The last calls that were answered as wanted, once there are enough in a row that began after `began`. */
function answered(
  caller: Caller,
  began: number,
  what: string,
  wanted: (call: ReturnType<Caller["since"]>[number]) => boolean,
  signal: AbortSignal,
): Promise<ReturnType<Caller["since"]>> {
  return waitUntil(
    `${caller.name}: ${what}`,
    () => {
      const calls = caller.since(began);
      const row = calls.slice(
        calls.findLastIndex((call) => call.answer === undefined || !wanted(call)) + 1,
      );
      return row.length >= settled ? row : undefined;
    },
    signal,
  );
}

function nextEvent<T>(
  events: readonly MeshEvent[],
  from: number,
  what: string,
  pick: (event: MeshEvent) => T | undefined,
  signal: AbortSignal,
): Promise<T> {
  return waitUntil(
    what,
    () =>
      events
        .slice(from)
        .map(pick)
        .find((found) => found !== undefined),
    signal,
  );
}
