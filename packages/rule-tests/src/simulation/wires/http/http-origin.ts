import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import type { Clock, Put, ResourceType } from "@xdstp/core";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import type { SeededRandom } from "@xdstp/testing";
import { createHttpHandler, type HttpHandler } from "@xdstp/transport-http/server";
import { messageFromLocator, parseLocator } from "@xdstp/uri";

import { payloadOf } from "../../../harness/payload.ts";
import { Replica } from "../replica.ts";
import { type State, type Store, targetOf } from "../store.ts";
import type { Said } from "../watch-view.ts";

export const THING = "type.googleapis.com/test.Thing";
const HOST = "config.example";
const LOCATOR = "type.googleapis.com/xds.core.v3.ResourceLocator";

export const httpTypes: readonly ResourceType[] = [{ typeUrl: THING }];

/** Returns the xdstp name of an id. */
export function nameOf(id: string): string {
  return `xdstp://${HOST}/test.Thing/${id}`;
}

/** Returns the URL of an id. */
export function urlOf(id: string): string {
  return `${ORIGIN}/test.Thing/${id}`;
}

export const ORIGIN = `http://${HOST}`;

/** An answer of the origin, and the state that it says. */
export interface OriginAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly said: Said;
}

/** A request on its way to the origin. */
export interface OriginRequest {
  readonly id: string;
  /** The path with its query. */
  readonly target: string;
  readonly ifNoneMatch: string | undefined;
  readonly signal: AbortSignal;
}

/** The server of the resources: some replicas, each behind a handler of its own. */
export class HttpOrigin {
  readonly #clock: Clock;
  readonly #random: SeededRandom;
  readonly #replicas: readonly Replica[];
  readonly #handlers = new Map<Replica, Process>();

  constructor(clock: Clock, random: SeededRandom, store: Store, count: number) {
    this.#clock = clock;
    this.#random = random;
    this.#replicas = Array.from(
      { length: count },
      (_, index) =>
        new Replica({ name: `replica ${index}`, clock, store, types: httpTypes, putsOf }),
    );
    this.startAll();
  }

  startAll(): void {
    for (const index of this.#replicas.keys()) this.start(index);
  }

  start(index: number): void {
    const replica = this.#replicas[index];
    const cache = replica?.start();
    if (replica === undefined || cache === undefined) return;
    const handler = createHttpHandler({ source: cache, clock: this.#clock, authority: HOST });
    this.#handlers.set(replica, { handler, crashed: new AbortController() });
  }

  /** Ends a process. A crash resets its connections. */
  stop(index: number, crash: boolean): void {
    const replica = this.#replicas[index];
    const process = replica === undefined ? undefined : this.#handlers.get(replica);
    if (replica === undefined || process === undefined) return;
    this.#handlers.delete(replica);
    if (crash) process.crashed.abort();
    process.handler.close();
    replica.stop();
  }

  /** Each replica reads the names from the store after a time of its own. */
  changed(ids: readonly string[], lagMs: readonly number[]): void {
    for (const [index, replica] of this.#replicas.entries()) {
      const ms = lagMs[index] ?? 0;
      if (ms === 0) replica.readStore(ids);
      else
        this.#clock.after(ms, () => {
          replica.readStore(ids);
        });
    }
  }

  /** Each replica reads the whole store. */
  readAll(ids: readonly string[]): void {
    for (const replica of this.#replicas) replica.readStore(ids);
  }

  /** Sends a request to one of the replicas. Rejects if none can be reached, or it crashes meanwhile. */
  async answer(request: OriginRequest): Promise<OriginAnswer> {
    const replica = this.#random.pick(this.#replicas);
    const process = this.#handlers.get(replica);
    if (process === undefined) throw new TypeError("the connection was refused");
    const { life } = replica;
    const signal = AbortSignal.any([request.signal, process.crashed.signal]);
    const { status, headers, body } = await process.handler.handle({
      method: "GET",
      target: request.target,
      host: HOST,
      header: (name) => (name === "if-none-match" ? request.ifNoneMatch : undefined),
      peer: "10.0.0.1:5000",
      signal,
    });
    if (process.crashed.signal.aborted) throw new TypeError("the connection was reset");
    if (body !== undefined && !(body instanceof Uint8Array)) throw new Error("an event stream");
    return { status, headers, body, said: { ...replica.stateOf(request.id), life } };
  }

  close(): void {
    for (const index of this.#replicas.keys()) this.stop(index, true);
  }
}

interface Process {
  readonly handler: HttpHandler;
  readonly crashed: AbortController;
}

function putsOf(id: string, text: string): readonly Put[] {
  const target = targetOf({ text } as State);
  const payload =
    target === undefined
      ? { typeUrl: THING, value: payloadOf(id, text) }
      : { typeUrl: LOCATOR, value: locatorOf(nameOf(target)) };
  return [{ typeUrl: THING, resource: { name: nameOf(id), version: "", payload } }];
}

function locatorOf(name: string): Uint8Array {
  const locator = parseLocator(name);
  if (!locator.ok) throw new Error(locator.error.message);
  const json = messageFromLocator(locator.value) as JsonValue;
  return toBinary(ResourceLocatorSchema, fromJson(ResourceLocatorSchema, json));
}
