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

/** What `xdstp status` was asked to do. */
export interface StatusOptions {
  readonly server: Endpoint;
  readonly json: boolean;
  readonly watch: boolean;
  /** Exit with 1 where a client rejects something. */
  readonly failOnNack: boolean;
  /** Exit with 1 where no client is connected. */
  readonly failIfNone: boolean;
  /** Milliseconds for one answer. */
  readonly timeoutMs: number;
  /** Only clients whose id begins so; absent: all. */
  readonly node?: string | undefined;
  /** Limits of the answers that are accepted from the server. */
  readonly limits: Partial<StatusLimits>;
  /** Files, PEM; absent: no TLS. */
  readonly tls?: ClientTlsFiles | undefined;
}

/** Between two questions, in milliseconds. */
const pauseMs = 1_000;

/** Asks a server what its clients made of their configuration, once or until it is stopped. Returns the exit code. Throws a CliError where the first question has no answer. */
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

/** What was asked to be checked lies in part behind what the caller may not see. */
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

/** A server that goes away is asked until it is back. The answer is what it told last. */
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
  // Nothing else keeps the process while it waits: timers do not.
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

/** Reads the files of a client's TLS. Throws a CliError for one that cannot be used. */
export async function readClientTls({ ca, cert, key }: ClientTlsFiles): Promise<ClientTls> {
  return {
    ...(ca !== undefined && { ca: await readPem("--tls-ca", ca) }),
    ...(cert !== undefined && { cert: await readPem("--tls-cert", cert) }),
    ...(key !== undefined && { key: await readPem("--tls-key", key) }),
  };
}
