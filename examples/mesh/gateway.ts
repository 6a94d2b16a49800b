import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A page for a browser. */
export interface Gateway {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a page each load of which makes one call through the mesh. It listens on a free port of the loopback. */
export async function startGateway(call: () => Promise<string>): Promise<Gateway> {
  const server = createServer((request, response) => {
    request.resume();
    const send = (status: number, text: string): void => {
      response.writeHead(status, {
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "no-store",
      });
      response.end(`${text}\n`);
    };
    call().then(
      (answer) => {
        send(200, `${answer} answered a gRPC call to xds://mesh.example/greeter`);
      },
      (error: unknown) => {
        send(502, String(error));
      },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
