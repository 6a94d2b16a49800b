import type { Registry } from "@bufbuild/protobuf";
import { envoyRegistry, withoutSecrets } from "@xdstp/protos/envoy";
import { createRecorder, formatEvent, formatHeader, payloadsOf, type RecordedEvent } from "@xdstp/testing";
import { aggregatedPath } from "./aggregated-path.ts";
import { openAskClient } from "./ask-client.ts";
import type { AskedName, AskFlags } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { escapeText } from "./escape-text.ts";
import { followName, following } from "./follow-name.ts";
import { createLineFile, type LineFile } from "./recording-file.ts";
import { createRecordingShow } from "./recording-show.ts";
import { counted } from "./short-text.ts";
import { untilEnough } from "./until-enough.ts";

/** What `xdstp record` was asked to do. */
export interface RecordOptions {
  readonly file: string;
  readonly asked: readonly AskedName[];
  readonly ask: AskFlags;
  /** Secrets are left out. */
  readonly redact: boolean;
  readonly json: boolean;
  /** Ends after so many responses. */
  readonly count?: number;
  /** Ends after so many milliseconds. */
  readonly timeoutMs?: number;
}

/** Records until it is told to stop or has enough; the answer is the exit code. Throws a CliError where it cannot begin, or no response came in time. */
export async function record(options: RecordOptions, io: CliIo): Promise<number> {
  const { ask, redact, json } = options;
  const registry = envoyRegistry();
  const until = untilEnough(io, options);
  const show = createRecordingShow(io, json);
  const held = { messages: 0, streams: 0, secret: undefined as string | undefined };
  const target: { file?: LineFile } = {};
  const write = (event: RecordedEvent): void => {
    if (target.file === undefined) return;
    target.file.line(formatEvent(event));
    show(event);
    if (event.kind === "open") held.streams++;
    if ("bytes" in event) held.messages++;
    if (event.kind !== "response") return;
    if (!redact) held.secret ??= warned(secretIn(event, ask.variant, registry), options, io);
    until.count();
  };
  const recorder = createRecorder({ variant: ask.variant, clock: io.clock, write, ...(redact && { hide: (payload) => withoutSecrets(payload, registry) }) });
  try {
    const asking = await openAskClient(ask, io, { observe: (server) => recorder.observe(server) });
    try {
      target.file = createLineFile(options.file);
      target.file.line(formatHeader({ variant: ask.variant, path: aggregatedPath(ask.variant), server: asking.servers[0] ?? "", node: asking.node, time: io.clock.now() }));
      const followed = options.asked.map((name) => followName(name, { asking, registry, tell: () => undefined, ...(ask.nack !== undefined && { nack: ask.nack }) }));
      const reason = await Promise.race([until.enough, following(followed)]);
      await answered();
      if (reason === "time" && until.counted < (options.count ?? 1)) throw new CliError(1, `only ${counted(until.counted, "response")} came within ${(options.timeoutMs ?? 0) / 1_000} s: ${asking.heard(true)}; ${options.file} holds what was said`);
      return reason === "broken-pipe" ? 1 : 0;
    } finally {
      await asking.close();
    }
  } finally {
    until.stop();
    target.file?.close();
    if (held.streams > 0 && !json) io.stdout.write(`recorded ${counted(held.messages, "message")} of ${counted(held.streams, "stream")} in ${escapeText(options.file)}\n`);
  }
}

/** The answer to the last response goes out behind it. */
async function answered(): Promise<void> {
  await new Promise(setImmediate);
}

function secretIn(event: Extract<RecordedEvent, { kind: "response" | "request" }>, variant: AskFlags["variant"], registry: Registry): string | undefined {
  return payloadsOf({ variant }, event).find(({ type, payload }) => {
    const any = { typeUrl: type, value: payload };
    return registry.getMessage(type.slice(type.lastIndexOf("/") + 1)) !== undefined && withoutSecrets(any, registry) !== any;
  })?.name;
}

function warned(name: string | undefined, { file }: RecordOptions, { stderr }: CliIo): string | undefined {
  if (name !== undefined) stderr.write(`xdstp record: warning: ${escapeText(file)} holds secrets (the first is in ${escapeText(name)}); --redact leaves them out\n`);
  return name;
}
