import { XdsError } from "@xdstp/core";
import type { ServiceRow } from "@xdstp/protos/services";

/** A streaming method. A method without a type is one of ADS. */
export interface StreamMethod {
  readonly variant: "delta" | "sotw";
  readonly typeUrl?: string;
}

/** A unary Fetch method. */
export interface FetchMethod {
  readonly path: string;
  readonly service: string;
  readonly method: string;
  readonly typeUrl: string;
}

/** The methods of a server. */
export interface MethodTable {
  readonly streams: ReadonlyMap<string, StreamMethod>;
  readonly fetches: readonly FetchMethod[];
}

const NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

/**
 * Returns the methods of services. Throws an XdsError that names an invalid row: an invalid name,
 * no method, a path that occurs twice, or a Fetch without a type.
 */
export function methodTable(services: readonly ServiceRow[]): MethodTable {
  const streams = new Map<string, StreamMethod>();
  const fetches = new Map<string, FetchMethod>();
  for (const row of services) {
    const { service, typeUrl, sotw, delta, fetch } = row;
    const type = typeUrl === undefined ? {} : { typeUrl };
    if (sotw !== undefined) addOnce(streams, pathOf(row, sotw), { variant: "sotw", ...type });
    if (delta !== undefined) addOnce(streams, pathOf(row, delta), { variant: "delta", ...type });
    if (fetch !== undefined) {
      const path = pathOf(row, fetch);
      addOnce(fetches, path, { path, service, method: fetch, typeUrl: typeOf(row) });
    }
    if (sotw === undefined && delta === undefined && fetch === undefined)
      throw bad(service, "has no method: give sotw, delta or fetch");
  }
  for (const path of fetches.keys()) if (streams.has(path)) throw twice(path);
  return { streams, fetches: [...fetches.values()] };
}

function pathOf({ service }: ServiceRow, method: string): string {
  if (!NAME.test(service))
    throw bad(service, "is not a full service name such as example.v1.ThingDiscoveryService");
  if (!NAME.test(method) || method.includes("."))
    throw bad(service, `has the method "${method}": a method name has letters, digits and _ only`);
  return `/${service}/${method}`;
}

function typeOf({ service, typeUrl }: ServiceRow): string {
  if (typeUrl === undefined || typeUrl === "")
    throw bad(service, "has a Fetch method and no typeUrl: there is no Fetch for every type");
  return typeUrl;
}

function addOnce<T>(table: Map<string, T>, path: string, method: T): void {
  if (table.has(path)) throw twice(path);
  table.set(path, method);
}

function twice(path: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", `services: ${path} is there twice; leave one row out`);
}

function bad(service: string, problem: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", `services: "${service}" ${problem}`);
}
