import { createChannels } from "@xdstp/client";
import { StatusCode } from "@xdstp/core";
import type { ChannelLimits } from "@xdstp/grpc/client";
import { envoyTypes } from "@xdstp/resource-types";
import { replayClient, type ReplayClientEvent } from "@xdstp/recording";
import { asCliError, CliError, streamFailure } from "./cli-error.ts";
import { askedBootstrap } from "./asked-bootstrap.ts";
import type { CliIo } from "./cli-io.ts";
import type { ClientTlsFiles } from "./asked-server.ts";
import { counted, escapeText } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { jsonText } from "./json-text.ts";
import { loadRegistry } from "./load-registry.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { messageText, readRecording } from "./recording-file.ts";
import { type ViewOptions, viewResource } from "./resource-view.ts";
import { paintFor } from "./style.ts";
import { diffLines, lineTone } from "./watch-show.ts";
import { printable } from "./show-resources.ts";

/** The options of `xdstp replay --server`. */
export interface ReplayAskOptions {
  readonly file: string;
  readonly server: Endpoint;
  /** Limits on messages of the server. */
  readonly limits: Partial<ChannelLimits>;
  readonly tls?: ClientTlsFiles | undefined;
  readonly json: boolean;
  readonly showSecrets: boolean;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  /** Milliseconds to wait for each response. */
  readonly timeoutMs?: number | undefined;
}

/** Plays the client's side of a recording to a server and shows the differences. Returns the exit code: 1 if there is one. Throws a CliError if the server cannot be used. */
export async function replayAsk(options: ReplayAskOptions, io: CliIo): Promise<number> {
  const recording = readRecording(options.file);
  const { variant, path } = recording;
  const view = {
    registry: await loadRegistry(options.descriptors),
    showSecrets: options.showSecrets,
  };
  const {
    servers: [server],
  } = await askedBootstrap(
    {
      variant,
      server: { uri: formatEndpoint(options.server), from: "--server" },
      tls: options.tls,
    },
    {},
    [],
  );
  if (server === undefined) return 1;
  const stop = new AbortController();
  const unlisten = io.onSignal(() => {
    stop.abort();
  });
  const alive = setInterval(() => undefined, 0x7fff_ffff);
  const heard = { responses: 0, failure: undefined as string | undefined };
  try {
    const channel = createChannels({ clock: io.clock, limits: options.limits }).acquire(server);
    const differences = await replayClient({
      recording,
      clock: io.clock,
      signal: stop.signal,
      open: (handler) => channel.open({ path }, handler),
      isFullState: (typeUrl) =>
        envoyTypes.find((type) => type.typeUrl === typeUrl)?.fullStateInSotw === true,
      ...(options.timeoutMs !== undefined && { answerMs: options.timeoutMs }),
      onEvent(event) {
        if (event.kind === "response") heard.responses++;
        if (
          event.kind === "ended" &&
          event.now?.code === StatusCode.UNAVAILABLE &&
          heard.responses === 0
        )
          heard.failure = streamFailure(formatEndpoint(options.server), event.now, { variant });
        show(event, { options, view, io });
      },
    }).finally(() => {
      channel.release();
    });
    if (heard.failure !== undefined) throw new CliError(1, heard.failure);
    if (!options.json)
      io.stdout.write(
        `${differences === 0 ? "no difference" : counted(differences, "difference")}\n`,
      );
    return differences === 0 && !stop.signal.aborted ? 0 : 1;
  } catch (error) {
    throw asCliError(error);
  } finally {
    clearInterval(alive);
    unlisten();
  }
}

interface Showing {
  readonly options: ReplayAskOptions;
  readonly view: ViewOptions;
  readonly io: CliIo;
}

function show(event: ReplayClientEvent, { options, view, io }: Showing): void {
  const time = new Date(io.clock.wallTime()).toISOString();
  if (options.json) {
    io.stdout.write(`${jsonText({ time, ...jsonOf(event, view) })}\n`);
    return;
  }
  const paint = paintFor(io);
  const body =
    event.kind === "difference"
      ? bodyOf(event.difference, view).map((line) => paint(lineTone(line), printable(line, io)))
      : [];
  io.stdout.write(
    `${[`${paint("dim", time)} #${event.stream} ${textOf(event)}`, ...body].join("\n")}\n`,
  );
}

function textOf(event: ReplayClientEvent): string {
  switch (event.kind) {
    case "request":
    case "response":
      return messageText(event);
    case "difference":
      return `difference ${shortType(event.type)} ${escapeText(event.difference.name)}: ${problemOf(event.difference)}`;
    case "ended":
      return `difference: the server ${event.now === undefined ? "keeps the stream open" : `ended the stream with code ${event.now.code} ${escapeText(event.now.message)}`}, the recording ${event.recorded === undefined ? "goes on" : `ends with code ${event.recorded.code}`}`;
  }
}

type HeldDifference = Extract<ReplayClientEvent, { readonly kind: "difference" }>["difference"];

function problemOf({ recorded, now }: HeldDifference): string {
  if (now === undefined) return "the server does not give it";
  return recorded === undefined
    ? "the server gives it, and the recording does not"
    : "the content differs, recorded (-) and now (+)";
}

function bodyOf({ recorded, now }: HeldDifference, view: ViewOptions): readonly string[] {
  if (recorded === undefined || now === undefined) return [];
  const [before, after] = [recorded, now].map(({ version, type, payload }) => ({
    version,
    payload: { typeUrl: type, value: payload },
  }));
  return before === undefined || after === undefined ? [] : diffLines(before, after, view);
}

function jsonOf(event: ReplayClientEvent, view: ViewOptions): object {
  const { kind, ...rest } = event;
  if (!("difference" in rest)) return { event: kind, ...rest };
  const {
    difference: { name, recorded, now },
    ...more
  } = rest;
  const shown = (one: HeldDifference["now"]): object | null =>
    one === undefined
      ? null
      : {
          version: one.version,
          resource: viewResource({ typeUrl: one.type, value: one.payload }, view).json,
        };
  return { event: kind, ...more, name, recorded: shown(recorded), now: shown(now) };
}
