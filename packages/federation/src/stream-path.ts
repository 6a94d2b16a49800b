import { XdsError } from "@xdstp/core";
import type { ServiceRow } from "@xdstp/protos/services";

/**
 * The path of the streaming method of a type, or, without one, of all types (B-STREAM-2).
 * Throws an XdsError, UNIMPLEMENTED, where there is none.
 */
export function streamPath(
  services: readonly ServiceRow[],
  variant: "delta" | "sotw",
  typeUrl?: string,
): string {
  const row = services.find((service) => service.typeUrl === typeUrl);
  const method = row?.[variant];
  if (row !== undefined && method !== undefined) return `/${row.service}/${method}`;
  const what = typeUrl === undefined ? "all types" : JSON.stringify(typeUrl);
  if (row === undefined)
    throw new XdsError(
      "UNIMPLEMENTED",
      `${what} has no discovery service of its own (B-STREAM-2); ask an aggregated source`,
    );
  throw new XdsError(
    "UNIMPLEMENTED",
    `${what} has no method in ${variant === "sotw" ? "SotW" : "delta"} (B-STREAM-2); ask in ${variant === "sotw" ? "delta" : "SotW"}, or an aggregated source`,
  );
}
