import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Health } from "@xdstp/server";
import { CliError } from "./cli-error.ts";
import { escapeText } from "./short-text.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";

/** The content that {@link serveMetrics} serves. */
export interface MetricsPages {
  /** Returns the text for Prometheus. */
  readonly metrics: () => string | Promise<string>;
  /** Returns true if clients are served. */
  readonly ready: () => boolean;
  /** Returns the health of what is served; `/readyz` lists what is stale. Absent: unknown. */
  readonly health?: () => readonly Health[] | Promise<readonly Health[]>;
}

/** An open HTTP server for operators. */
export interface MetricsServer {
  readonly address: Endpoint;
  close(): void;
}

/**
 * Serves `/metrics` for Prometheus, `/healthz` and `/readyz` over HTTP, for GET and HEAD only.
 * Throws a CliError that names the address if it cannot listen there.
 */
export async function serveMetrics(
  { host, port }: Endpoint,
  pages: MetricsPages,
): Promise<MetricsServer> {
  const server = createServer(
    {
      requestTimeout: 10_000,
      headersTimeout: 10_000,
      keepAliveTimeout: 30_000,
      maxHeaderSize: 16 << 10,
    },
    (request, response) => {
      void answer(request, response, pages);
    },
  );
  server.maxConnections = 64;
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      1,
      `--metrics ${formatEndpoint({ host, port })}: ${code === "EADDRINUSE" ? "the port is in use by another program, or by an outgoing connection that has this local port; take another one" : message}`,
      { cause: error },
    );
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

async function answer(
  { method, url = "" }: IncomingMessage,
  response: ServerResponse,
  { metrics, ready, health }: MetricsPages,
): Promise<void> {
  const [path] = url.split("?", 1);
  if (method !== "GET" && method !== "HEAD")
    end(response, 405, "only GET\n", { allow: "GET, HEAD" });
  else if (path === "/metrics")
    end(response, 200, await metrics(), {
      "content-type": "text/plain; version=0.0.4; charset=utf-8",
    });
  else if (path === "/healthz") end(response, 200, "ok\n");
  else if (path === "/readyz")
    end(
      response,
      ready() ? 200 : 503,
      ready() ? readyText((await health?.()) ?? []) : "the first good state is not loaded yet\n",
    );
  else if (path === "/") end(response, 200, index, { "content-type": "text/html; charset=utf-8" });
  else end(response, 404, "there are /metrics, /healthz and /readyz\n");
}

const index = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>xdstp</title></head><body><h1>xdstp</h1><ul>
<li><a href="/metrics">/metrics</a>: for Prometheus</li>
<li><a href="/healthz">/healthz</a>: 200 while the process answers</li>
<li><a href="/readyz">/readyz</a>: 200 once clients are served, and what is stale</li>
</ul></body></html>
`;

/** Returns the text of `/readyz`. A stale server is ready, since it serves its last good state. The text has one line for each thing that is stale. */
function readyText(health: readonly Health[]): string {
  const lines = health.flatMap(({ name, stale }) =>
    stale === undefined
      ? []
      : [
          `ready, stale since ${new Date(stale.since).toISOString()}: ${escapeText(name)}: ${escapeText(stale.reason)}\n`,
        ],
  );
  return lines.length === 0 ? "ok\n" : lines.join("");
}

function end(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      ...headers,
    })
    .end(text);
}
