import type { OutgoingHttpHeaders } from "node:http2";
import { XdsError } from "@xdstp/core";
import { readFileSync } from "node:fs";

/** The headers that all calls of a channel have. No compression is offered. */
export function sharedHeaders(
  authority: string,
  secure: boolean,
  userAgent?: string,
): OutgoingHttpHeaders {
  return {
    ":authority": authority,
    ":scheme": secure ? "https" : "http",
    "content-type": "application/grpc+proto",
    te: "trailers",
    "user-agent": userAgentOf(userAgent),
  };
}

const reserved =
  /^(?:grpc-.*|content-type|te|user-agent|connection|host|transfer-encoding|upgrade|keep-alive|proxy-connection|http2-settings)$/;

/** The metadata of a call, if it can be sent with its path. Throws an XdsError, INVALID_ARGUMENT, that names what cannot, but never a value: it may be secret. */
export function checkedMetadata(
  path: string,
  metadata: Readonly<Record<string, string>> = {},
): OutgoingHttpHeaders {
  if (!/^\/[\w.]+\/\w+$/.test(path))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `the path ${JSON.stringify(path)} is not /package.Service/Method`,
    );
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[0-9a-z_.-]+$/.test(name))
      throw new XdsError(
        "INVALID_ARGUMENT",
        `metadata has the name ${JSON.stringify(name)}; use lower case letters, digits and -_.`,
      );
    if (reserved.test(name))
      throw new XdsError(
        "INVALID_ARGUMENT",
        `metadata has the name ${name}, which belongs to gRPC`,
      );
    if (!/^[ -~]*$/.test(value))
      throw new XdsError("INVALID_ARGUMENT", `metadata ${name} holds more than printable ASCII`);
  }
  return { ...metadata };
}

/** Returns the user agent of a client in the format of gRPC, after the user agent of its program. */
function userAgentOf(program?: string): string {
  return `${program === undefined ? "" : `${program} `}grpc-node-xdstp${version()}`;
}

/** Returns `/VERSION` of this package. Empty if a bundler has not included the manifest. */
function version(): string {
  try {
    return `/${(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string }).version}`;
  } catch {
    return "";
  }
}
