import { StatusCode, XdsError } from "@xdstp/core";
import { createGrpcServer, type GrpcLimits } from "@xdstp/grpc/server";
import { createReplayServer, type ReplayServerEvent } from "@xdstp/recording";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { counted, escapeText, someNames } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { jsonText } from "./json-text.ts";
import { type Endpoint, exposureWarning, formatEndpoint } from "./endpoint.ts";
import { messageText, readRecording } from "./recording-file.ts";
import { untilEnough } from "./until-stopped.ts";
import { aggregatedPath } from "./record.ts";

/** The options of `xdstp replay --serve`. */
export interface ReplayServeOptions {
  readonly file: string;
  readonly listen: Endpoint;
  /** Limits on connections, calls and messages of clients. */
  readonly limits: Partial<GrpcLimits>;
  readonly json: boolean;
  /** Ends after this number of streams. */
  readonly count?: number | undefined;
  /** Ends after this number of milliseconds. */
  readonly timeoutMs?: number | undefined;
}

type Shown =
  | ReplayServerEvent
  | { readonly kind: "listening"; readonly address: Endpoint }
  | { readonly kind: "rejected"; readonly text: string };

/** Plays the server's side of a recording until it is stopped. Returns the exit code: 1 if a client behaved differently. Throws a CliError if it cannot start. */
export async function replayServe(options: ReplayServeOptions, io: CliIo): Promise<number> {
  const recording = readRecording(options.file);
  const other = aggregatedPath(recording.variant === "delta" ? "sotw" : "delta");
  const until = untilEnough(io, options);
  let differences = 0;
  const tell = (event: Shown): void => {
    show(event, options.json, io);
    if (isDifference(event)) differences++;
    if (event.kind === "closed") until.count();
  };
  const replay = createReplayServer(recording, tell);
  const server = createGrpcServer({
    clock: io.clock,
    limits: options.limits,
    isStreaming: (path) => path === recording.path || path === other,
    accept(call, out) {
      if (call.path === recording.path) return replay.accept(out);
      const text = `a client asks by ${call.path}, and the recording is of ${recording.path}`;
      tell({ kind: "rejected", text });
      return { code: StatusCode.UNIMPLEMENTED, message: text };
    },
  });
  try {
    const exposed = exposureWarning(options.listen.host, "none");
    if (exposed !== undefined) io.stderr.write(`xdstp replay: warning: ${exposed}\n`);
    const { address: host, port } = await server.listen(options.listen).catch((error: unknown) => {
      throw new CliError(1, XdsError.from(error).text, { cause: error });
    });
    tell({ kind: "listening", address: { host, port } });
    return (await until.enough) === "broken-pipe" || differences > 0 ? 1 : 0;
  } finally {
    until.stop();
    await server.close({ graceMs: 500 });
  }
}

function isDifference(event: Shown): boolean {
  return (
    event.kind === "unknown" ||
    event.kind === "verdict" ||
    event.kind === "rejected" ||
    (event.kind === "closed" && event.unplayed > 0)
  );
}

function show(event: Shown, json: boolean, { stdout, clock }: CliIo): void {
  const time = new Date(clock.wallTime()).toISOString();
  const { kind, ...rest } = event;
  if (json) stdout.write(`${jsonText({ time, event: kind, ...rest })}\n`);
  else stdout.write(`${time} ${"stream" in event ? `#${event.stream} ` : ""}${textOf(event)}\n`);
}

function textOf(event: Shown): string {
  switch (event.kind) {
    case "listening":
      return `listening on ${formatEndpoint(event.address)}`;
    case "rejected":
      return `rejected: ${escapeText(event.text)}`;
    case "opened":
      return `opened, plays stream ${event.plays}`;
    case "request":
    case "response":
      return messageText(event);
    case "unknown":
      return `unknown ${event.type === "" ? "?" : shortType(event.type)}: the recording has no answer to ${someNames(event.what)}`;
    case "verdict":
      return `verdict ${shortType(event.type)}: nonce ${escapeText(event.nonce)} got ${verdict(event.now)}, the recording has ${verdict(event.recorded)}`;
    case "closed":
      return `closed with code ${event.status.code}${event.unplayed === 0 ? "" : `, ${counted(event.unplayed, "response")} not sent`}${event.unsaid.length === 0 ? "" : `; the recording has also ${someNames(event.unsaid)}`}`;
  }
}

function verdict(reason: string | undefined): string {
  return reason === undefined ? "an ACK" : `a NACK (${escapeText(reason)})`;
}
