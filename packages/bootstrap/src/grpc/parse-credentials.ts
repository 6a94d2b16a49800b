import type { JsonObject } from "@bufbuild/protobuf";
import type { BootstrapCredentials } from "./bootstrap.ts";
import {
  asObject,
  field,
  itemsIn,
  objectIn,
  type Placed,
  required,
  stringIn,
  wrongAt,
} from "./place.ts";

const refreshMs = 600_000;

/**
 * Returns the first known credentials of a server (C-GRPC-1). Later ones, and the configuration of
 * unknown ones, are not read.
 * @param transports - The types of `channel_creds` that transports of the program know
 */
export function parseCredentials(
  server: Placed<JsonObject>,
  transports: ReadonlySet<string>,
): BootstrapCredentials {
  const unknown: string[] = [];
  for (const item of itemsIn(server, "channel_creds")) {
    const one = asObject(item);
    const type = required(stringIn(one, "type"), one, "type", '"insecure" or "tls"');
    if (type === "insecure") return { type };
    if (type === "tls") return tlsOf(one);
    if (transports.has(type))
      return { type: "transport", name: type, config: objectIn(one, "config")?.value ?? {} };
    unknown.push(type);
  }
  if (unknown.length === 0)
    throw wrongAt(
      server.place,
      'has no channel_creds; give [{"type": "insecure"}] or [{"type": "tls"}]',
    );
  const google = unknown.includes("google_default")
    ? " (google_default needs Google's client)"
    : "";
  throw wrongAt(
    { ...server.place, path: `${server.place.path}.channel_creds` },
    `has only ${unknown
      .map((type) => JSON.stringify(type.slice(0, 40)))
      .join(", ")
      .slice(0, 200)}, unknown here${google}; add "insecure" or "tls"`,
  );
}

/** Reads TLS credentials (A65). */
function tlsOf(one: Placed<JsonObject>): BootstrapCredentials {
  const config = objectIn(one, "config") ?? { value: {}, place: one.place };
  const [caCertificateFile, certificateFile, privateKeyFile] = [
    stringIn(config, "ca_certificate_file"),
    stringIn(config, "certificate_file"),
    stringIn(config, "private_key_file"),
  ];
  if ((certificateFile === undefined) !== (privateKeyFile === undefined)) {
    throw wrongAt(
      config.place,
      `has ${certificateFile === undefined ? "private_key_file" : "certificate_file"} alone; give certificate_file and private_key_file, or neither`,
    );
  }
  return {
    type: "tls",
    refreshIntervalMs: refreshOf(config),
    ...(caCertificateFile !== undefined && { caCertificateFile }),
    ...(certificateFile !== undefined && { certificateFile }),
    ...(privateKeyFile !== undefined && { privateKeyFile }),
  };
}

function refreshOf(config: Placed<JsonObject>): number {
  const text = stringIn(config, "refresh_interval");
  if (text === undefined) return refreshMs;
  const ms = parseDuration(text);
  const place = field(config, "refresh_interval")?.place ?? config.place;
  if (ms === undefined)
    throw wrongAt(
      place,
      `is ${JSON.stringify(text.slice(0, 40))}; give a duration above zero in seconds, like "600s"`,
    );
  return ms;
}

/**
 * Returns the milliseconds of a duration in protobuf's JSON form, such as `600s` or `1.5s`. Returns
 * `undefined` if the text is not a duration, or not above zero.
 */
function parseDuration(text: string): number | undefined {
  const seconds = /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(text)?.[1];
  const ms = Math.round(Number(seconds) * 1000);
  return ms > 0 ? ms : undefined;
}
