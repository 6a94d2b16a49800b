import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { rolldown } from "rolldown";

/** A host of the page. */
export interface PageServer extends AsyncDisposable {
  /** The page, without the server of the flags; with `websocket` at its end, the page over a WebSocket. */
  readonly url: string;
}

/** Bundles the page, and serves it on loopback. Elsewhere this is any host of static files. */
export async function startPageServer(port = 0): Promise<PageServer> {
  const html = await readFile(join(import.meta.dirname, "page/index.html"), "utf8");
  const [javascript, markup] = ["text/javascript", "text/html"];
  const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
    "/": [markup, html],
    "/page.js": [javascript, await bundlePage("page/page.ts")],
    "/websocket": [markup, html.replace("page.js", "websocket.js")],
    "/websocket.js": [javascript, await bundlePage("page/websocket-page.ts")],
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    const [type, body] = files[pathname] ?? [];
    if (type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bundlePage(file: string): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, file),
    platform: "browser",
    resolve: { conditionNames: ["@xdstp/source", "browser", "import", "default"] },
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  return output[0].code;
}
