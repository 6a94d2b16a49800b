import type { Registry } from "@bufbuild/protobuf";
import { envoyRegistry, withoutSecrets } from "@xdstp/protos/envoy";
import {
  createRecorder,
  formatEvent,
  formatRecording,
  payloadsOf,
  type RecordedEvent,
} from "@xdstp/recording";
import { type AskClient, openAskClient } from "./ask-client.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { envoyBootstrapText } from "./asked-bootstrap.ts";
import { following, followName } from "./follow-name.ts";
import { counted, escapeText } from "./short-text.ts";
import { untilEnough, type UntilEnough } from "./until-stopped.ts";
import type { AskFlags } from "./ask-flags.ts";
import type { AskedName } from "./asked-name.ts";
import { createLineFile, createRecordingShow, type LineFile } from "./recording-file.ts";

/** Records until a signal stops it or enough responses arrived. Returns the exit code. Throws a CliError if it cannot start, or if too few responses arrived in time. */
export async function record(options: RecordOptions, io: CliIo): Promise<number> {
  const { ask } = options;
  if (ask.bootstrap !== undefined && envoyBootstrapText(ask.bootstrap) !== undefined)
    throw new CliError(
      1,
      `${ask.bootstrap} is a bootstrap of Envoy, whose servers may be spoken to in both variants, and a recording is of one; give a bootstrap of gRPC, or --server HOST:PORT`,
    );
  const until = untilEnough(io, options);
  const log = createRecordLog(options, io, () => {
    until.count();
  });
  try {
    const asking = await openAskClient(ask, io, { observe: (server) => log.observe(server) });
    try {
      asking.requireStreams(options.asked, "a recording is of streams");
      log.begin(asking);
      const followed = options.asked.map((name) =>
        followName(name, {
          asking,
          tell: () => undefined,
          nack: ask.nack,
        }),
      );
      return await Promise.race([recorded(options, asking, until), following(followed)]);
    } finally {
      await asking.close();
    }
  } finally {
    until.stop();
    log.close();
  }
}

async function recorded(
  { count = 1, timeoutMs = 0, file }: RecordOptions,
  asking: AskClient,
  until: UntilEnough,
): Promise<number> {
  const reason = await until.enough;
  // The answer to the last response is sent in the next turn of the event loop, and is recorded too.
  await new Promise(setImmediate);
  if (reason !== "time" || until.counted >= count) return reason === "broken-pipe" ? 1 : 0;
  throw new CliError(
    1,
    `only ${counted(until.counted, "response")} came within ${timeoutMs / 1_000} s: ${asking.heard(true)}; ${file} has what was sent`,
  );
}

/** The options of `xdstp record`. */
interface RecordOptions {
  readonly file: string;
  readonly asked: readonly AskedName[];
  readonly ask: AskFlags;
  /** true: secrets are left out. */
  readonly redact: boolean;
  readonly json: boolean;
  /** Recording ends after this number of responses. */
  readonly count?: number | undefined;
  /** Recording ends after this number of milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** The file of `xdstp record`, and the output while it grows. */
interface RecordLog extends ReturnType<typeof createRecorder> {
  /** Creates the file. Throws a CliError if it cannot. */
  begin(asking: AskClient): void;
  /** Prints the number of messages and streams in the file, and closes it. */
  close(): void;
}

/** @param onResponse - Called for each response that is in the file */
function createRecordLog(options: RecordOptions, io: CliIo, onResponse: () => void): RecordLog {
  const {
    ask: { variant },
    redact,
    json,
  } = options;
  const registry = envoyRegistry();
  const time = io.clock.wallTime();
  const show = createRecordingShow(io, json);
  const count = { open: 0, request: 0, response: 0, end: 0 };
  let file: LineFile | undefined;
  let warned = redact;
  const write = (event: RecordedEvent): void => {
    if (file === undefined) return;
    file.line(formatEvent(event));
    show(event);
    count[event.kind]++;
    if (event.kind !== "response") return;
    if (!warned) warned = warn(secretIn(payloadsOf({ variant }, event), registry), options, io);
    onResponse();
  };
  return {
    ...createRecorder({
      variant,
      clock: io.clock,
      write,
      ...(redact && { hide: (payload) => withoutSecrets(payload, registry) }),
    }),
    begin(asking) {
      const [first] = options.asked;
      const server = first === undefined ? "" : asking.server(first).server;
      file = createLineFile(options.file);
      const { node } = asking;
      const path = aggregatedPath(variant);
      file.line(formatRecording({ variant, path, server, node, time, events: [] }).trimEnd());
    },
    close() {
      if (file !== undefined && !json)
        io.stdout.write(
          `recorded ${counted(count.request + count.response, "message")} of ${counted(count.open, "stream")} in ${escapeText(options.file)}\n`,
        );
      file?.close();
      file = undefined;
    },
  };
}

/** Returns the name of the first resource with a secret, or with a part that cannot be searched for secrets. Resources of unknown types are skipped. */
function secretIn(
  resources: ReturnType<typeof payloadsOf>,
  registry: Registry,
): string | undefined {
  return resources.find(({ type, payload }) => {
    const any = { typeUrl: type, value: payload };
    return (
      registry.getMessage(type.slice(type.lastIndexOf("/") + 1)) !== undefined &&
      withoutSecrets(any, registry) !== any
    );
  })?.name;
}

function warn(name: string | undefined, { file }: RecordOptions, { stderr }: CliIo): boolean {
  if (name !== undefined)
    stderr.write(
      `xdstp record: warning: ${escapeText(file)} holds what may be secret (the first in ${escapeText(name)}); --redact leaves it out\n`,
    );
  return name !== undefined;
}

/** Returns the path of the ADS method of a variant. */
export function aggregatedPath(variant: "delta" | "sotw"): string {
  return `/envoy.service.discovery.v3.AggregatedDiscoveryService/${variant === "delta" ? "Delta" : "Stream"}AggregatedResources`;
}
