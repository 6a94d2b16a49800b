import type { ClientStatusResponse } from "@xdstp/protos/status";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { clientRows, type StatusClientRow } from "./client-types.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { readPem } from "./tls-files.ts";
import {
  type ClientTls,
  openStatusClient,
  type StatusClient,
  type StatusLimits,
} from "./status-client.ts";
import { counted } from "./short-text.ts";
import {
  jsonShow,
  lineShow,
  screenShow,
  type StatusPicture,
  type StatusShow,
  tableShow,
} from "./status-shows.ts";
import { toldFacts } from "./server-facts.ts";
import { toldRejections } from "./rejected-versions.ts";
import type { ClientTlsFiles } from "./asked-server.ts";

/** The options of `xdstp status`. */
export interface StatusOptions {
  readonly server: Endpoint;
  readonly json: boolean;
  readonly watch: boolean;
  /** true: the exit code is 1 if a client rejects a resource. */
  readonly failOnNack: boolean;
  /** true: the exit code is 1 if no client is connected. */
  readonly failIfNone: boolean;
  /** Milliseconds to wait for one answer. */
  readonly timeoutMs: number;
  /** The beginning of the ids of the shown clients. Absent: all clients. */
  readonly node?: string | undefined;
  /** Limits on the answers of the server. */
  readonly limits: Partial<StatusLimits>;
  /** The certificate files of the client, PEM. Absent: no TLS. */
  readonly tls?: ClientTlsFiles | undefined;
}

/** Milliseconds between two requests. */
const pauseMs = 1_000;

/** Shows what the clients of a server have accepted or rejected, once or until a signal stops it. Returns the exit code. Throws a CliError if the first request is not answered. */
export async function status(options: StatusOptions, io: CliIo): Promise<number> {
  const { server, tls, timeoutMs, watch, json, node, limits } = options;
  const client = openStatusClient({
    server,
    clock: io.clock,
    timeoutMs,
    byType: !json,
    limits,
    node,
    tls: tls && (await readClientTls(tls)),
  });
  try {
    const first = pictureOf(await client.ask());
    const show = showOf(options, io);
    try {
      show.show(first, io.clock.wallTime());
      const last = watch ? await follow(client, first, show, io) : first;
      return verdict(last, options, io);
    } finally {
      show.close();
    }
  } finally {
    client.close();
  }
}

/** The exit code if the caller may not see some of the streams that a check is about. */
const UNSEEN = 3;

function verdict(
  { clients, hiddenStreams = 0 }: StatusPicture,
  { failOnNack, failIfNone }: StatusOptions,
  io: CliIo,
): number {
  if (failOnNack && clients.some(isRejecting)) return 1;
  const isNone = failIfNone && clients.length === 0;
  if (hiddenStreams > 0 && (failOnNack || isNone)) {
    io.stderr.write(
      `xdstp status: ${counted(hiddenStreams, "stream")} that you may not see ${hiddenStreams === 1 ? "is" : "are"} not checked; a policy rule with "status: all" shows every stream\n`,
    );
    return UNSEEN;
  }
  if (isNone) io.stderr.write("xdstp status: no client is connected\n");
  return isNone ? 1 : 0;
}

function showOf({ json, watch, server }: StatusOptions, io: CliIo): StatusShow {
  const address = formatEndpoint(server);
  if (json) return jsonShow(io, address);
  if (!watch) return tableShow(io);
  return io.terminal() === undefined ? lineShow(io) : screenShow(io, address);
}

function pictureOf(response: ClientStatusResponse): StatusPicture {
  return {
    clients: clientRows(response),
    rejections: toldRejections(response),
    ...toldFacts(response),
  };
}

function isRejecting({ types }: StatusClientRow): boolean {
  return types.some(({ state }) => state === "NACKED");
}

/** Requests client status until a signal stops it. A server that does not answer is requested again. Returns the last status. */
async function follow(
  client: StatusClient,
  first: StatusPicture,
  show: StatusShow,
  io: CliIo,
): Promise<StatusPicture> {
  let last = first;
  let isOver = false;
  let wake: () => void = () => undefined;
  const stop = io.onSignal(() => {
    isOver = true;
    client.close();
    wake();
  });
  // The timer of the pause does not keep the process alive, so this one does.
  const alive = setInterval(() => undefined, 0x7fff_ffff);
  const pause = async (): Promise<void> =>
    new Promise((resolve) => {
      const timer = io.clock.after(pauseMs, resolve);
      wake = () => {
        timer.cancel();
        resolve();
      };
      if (isOver) wake();
    });
  const over = (): boolean => isOver;
  try {
    for (;;) {
      await pause();
      const next = over()
        ? undefined
        : await client
            .ask()
            .catch((error: unknown) =>
              error instanceof CliError ? error : Promise.reject(error as Error),
            );
      if (next === undefined || over()) return last;
      if (next instanceof CliError) show.trouble(next.message, io.clock.wallTime());
      else {
        last = pictureOf(next);
        show.show(last, io.clock.wallTime());
      }
    }
  } finally {
    clearInterval(alive);
    stop();
  }
}

/** Reads the certificate files of a client. Throws a CliError for one that cannot be read. */
export async function readClientTls({ ca, cert, key }: ClientTlsFiles): Promise<ClientTls> {
  return {
    ...(ca !== undefined && { ca: await readPem("--tls-ca", ca) }),
    ...(cert !== undefined && { cert: await readPem("--tls-cert", cert) }),
    ...(key !== undefined && { key: await readPem("--tls-key", key) }),
  };
}
