import { askEnvoy, type EnvoyAnswer, type FolderOptions } from "@xdstp/folder";
import { CliError } from "./cli-error.ts";
import type { CliIo, StopSignal } from "./cli-io.ts";
import { escapeText } from "./short-text.ts";

/** The paths to check, and the program of an Envoy. */
interface AskedEnvoy {
  readonly paths: readonly string[];
  readonly envoy?: string | undefined;
}

/** The version of Envoy whose API the other checks know. */
const known = "1.40";

/** Milliseconds before the first report of progress, and between two reports. Most calls end earlier. */
const quietMs = 2_000;

/** Checks paths with an Envoy. Returns `undefined` if none is given. Throws a CliError for a program that cannot be used. */
export async function askEnvoyOf(
  { paths, envoy }: AskedEnvoy,
  registry: FolderOptions["registry"],
  io: CliIo,
): Promise<EnvoyAnswer | { readonly signal: StopSignal } | undefined> {
  if (envoy === undefined) return undefined;
  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  const unlisten = io.onSignal((signal) => {
    stoppedBy = signal;
    stop.abort();
  });
  try {
    const answer = await askEnvoy({
      command: envoy,
      paths,
      registry,
      cwd: io.cwd,
      signal: stop.signal,
      clock: io.clock,
      onProgress: progressOf(io),
    });
    if ("unusable" in answer)
      throw new CliError(1, `--envoy ${JSON.stringify(envoy)}: ${answer.unusable}`);
    if (!answer.version.startsWith(`${known}.`))
      io.stderr.write(
        `${escapeText(`this is Envoy ${answer.version}; all other checks know the API of ${known}, so the two may differ in what is new, deprecated or removed`)}\n`,
      );
    return answer;
  } catch (error) {
    if (stoppedBy !== undefined && error === stop.signal.reason) return { signal: stoppedBy };
    throw error;
  } finally {
    unlisten();
  }
}

/** Returns a function that reports progress to a person at a terminal, at most once in 2 s. */
function progressOf({ interactive, stderr, clock }: CliIo): (done: number, all: number) => void {
  let last = clock.now();
  return (done, all) => {
    if (!interactive || clock.now() - last < quietMs) return;
    last = clock.now();
    stderr.write(`Envoy has read ${done} of ${all}\n`);
  };
}
