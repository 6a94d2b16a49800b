import { isIP } from "node:net";
import type { HttpListener, HttpRequest, HttpResponse } from "@xdstp/server";

/** A listener, and the paths that it serves. */
export interface Door {
  readonly listener: HttpListener;
  readonly serves: (path: string) => boolean;
}

/**
 * Guards a listener of resources against pages that reach this server under a name of their own
 * (DNS rebinding): such a page may read all answers, since its name is that of the server. A request
 * needs a host that is an IP address, `localhost`, or one of `hosts`; others get status 421.
 */
export function guardHost({ listener, serves }: Door, hosts: ReadonlySet<string>): HttpListener {
  return (request, response, peer) => {
    if (!serves(pathOf(request))) return false;
    const host = hostOf(request);
    if (isKnown(host, hosts)) return listener(request, response, peer);
    reject(
      response,
      421,
      `the host ${JSON.stringify(host)} is not known here; add --http-host ${host === "" ? "NAME" : host}`,
    );
    return true;
  };
}

/**
 * Guards a listener of polls in the same way. Its clients send any host, Envoy the name of a
 * cluster, but no `origin`, which browsers send with each POST.
 */
export function guardOrigin({ listener, serves }: Door): HttpListener {
  return (request, response, peer) => {
    if (!serves(pathOf(request))) return false;
    if (request.headers.origin === undefined) return listener(request, response, peer);
    reject(response, 403, "pages may not poll; serve resources to them with --http");
    return true;
  };
}

function isKnown(host: string, hosts: ReadonlySet<string>): boolean {
  return isIP(host) !== 0 || host === "localhost" || host.endsWith(".localhost") || hosts.has(host);
}

function pathOf({ url = "" }: HttpRequest): string {
  return url.split("?", 1)[0] ?? "";
}

/** Returns the host of a request in lower case, without its port. */
function hostOf({ headers }: HttpRequest): string {
  const authority = headers[":authority"];
  const host = (typeof authority === "string" ? authority : headers.host) ?? "";
  return host
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1");
}

function reject(response: HttpResponse, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ code: "PERMISSION_DENIED", message }));
}
