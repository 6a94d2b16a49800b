import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CliError } from "./cli-error.ts";
import { type Endpoint, formatEndpoint } from "./parse-endpoint.ts";

/** What a {@link serveMetrics} shows. */
export interface MetricsPages {
  /** The text for Prometheus. */
  readonly metrics: () => string | Promise<string>;
  /** Clients are served. */
  readonly ready: () => boolean;
}

/** An open port for operators. */
export interface MetricsServer {
  readonly address: Endpoint;
  close(): void;
}

/**
 * Serves `/metrics` for Prometheus, `/healthz` and `/readyz` over HTTP, to read only.
 * Throws a CliError that names the address where it cannot be listened on.
 */
export async function serveMetrics({ host, port }: Endpoint, pages: MetricsPages): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, keepAliveTimeout: 30_000, maxHeaderSize: 16 << 10 }, (request, response) => { void answer(request, response, pages); });
  server.maxConnections = 64;
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(1, `--metrics ${formatEndpoint({ host, port })}: ${code === "EADDRINUSE" ? "the port is in use by another program; take another one" : message}`, { cause: error });
  }
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    address: { host: address, port: bound },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer({ method, url = "" }: IncomingMessage, response: ServerResponse, { metrics, ready }: MetricsPages): Promise<void> {
  const [path] = url.split("?", 1);
  if (method !== "GET" && method !== "HEAD") end(response, 405, "only GET\n", { allow: "GET, HEAD" });
  else if (path === "/metrics") end(response, 200, await metrics(), { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  else if (path === "/healthz") end(response, 200, "ok\n");
  else if (path === "/readyz") end(response, ready() ? 200 : 503, ready() ? "ok\n" : "the first good state is not loaded yet\n");
  else end(response, 404, "there are /metrics, /healthz and /readyz\n");
}

function end(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", ...headers }).end(text);
}
