import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** The properties of a link between a client and a server. */
export interface LinkKind {
  readonly title: string;
  /** Milliseconds that each byte takes, in each direction. */
  readonly delayMs: number;
  /** Bytes that may be on their way at one time, in each direction. */
  readonly windowBytes: number;
  /** One chunk in a hundred, and everything behind it, stops for this time in milliseconds. */
  readonly stallMs: number;
}

/** A TCP proxy on the loopback that is such a link. */
export interface SlowLink {
  readonly port: number;
  /** Bytes that have come to clients so far. */
  readonly toClients: number;
  /** Ends every connection. New ones may come at once. */
  cut(): void;
}

const chunkBytes = 16 * 1024;

/** Opens a link to a port of the loopback for the time of the test. */
export async function useSlowLink(port: number, kind: LinkKind): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  let toClients = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        for (const other of [client, upstream]) other.destroy();
      });
    }
    carry(client, upstream, kind, () => undefined);
    carry(upstream, client, kind, (bytes) => {
      toClients += bytes;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    port: (server.address() as { readonly port: number }).port,
    get toClients() {
      return toClients;
    },
    cut,
  };
}

/** Bytes leave in their order, each chunk at its time, and no more are read than may be on their way. */
function carry(
  from: Socket,
  to: Socket,
  { delayMs, windowBytes, stallMs }: LinkKind,
  carried: (bytes: number) => void,
): void {
  const onTheWay: { readonly due: number; readonly chunk: Buffer | undefined }[] = [];
  let bytes = 0;
  let chunks = 0;
  let newest = 0;
  let timer: NodeJS.Timeout | undefined;
  const arrive = (): void => {
    timer = undefined;
    const now = performance.now();
    for (let first = onTheWay[0]; first !== undefined && first.due <= now; first = onTheWay[0]) {
      onTheWay.shift();
      if (first.chunk === undefined) to.end();
      else {
        bytes -= first.chunk.length;
        carried(first.chunk.length);
        to.write(first.chunk);
      }
    }
    if (bytes < windowBytes) from.resume();
    wait();
  };
  const wait = (): void => {
    const [first] = onTheWay;
    if (first !== undefined)
      timer ??= setTimeout(arrive, Math.max(0, first.due - performance.now()));
  };
  const leave = (chunk: Buffer | undefined): void => {
    chunks += 1;
    newest = Math.max(newest, performance.now() + delayMs) + (chunks % 100 === 0 ? stallMs : 0);
    onTheWay.push({ due: newest, chunk });
    wait();
  };
  from.on("data", (data: Buffer) => {
    for (let at = 0; at < data.length; at += chunkBytes) leave(data.subarray(at, at + chunkBytes));
    bytes += data.length;
    if (bytes >= windowBytes) from.pause();
  });
  from.on("end", () => {
    leave(undefined);
  });
}
