import { statSync } from "node:fs";
import { dirname } from "node:path";
import { type Clock, systemClock } from "@xdstp/core";
import { checkFile } from "../check-file.ts";
import type { FolderOptions } from "../folder-context.ts";
import { mapLimit } from "../pacing.ts";
import { askAboutBootstrap } from "./ask-about-bootstrap.ts";
import { askAboutResources } from "./ask-about-resources.ts";
import type { EnvoyAnswer, PathAnswer, Progress } from "./envoy-answer.ts";
import { parallel, type RunningEnvoy, type UnusableEnvoy, withEnvoy } from "./run-envoy.ts";

/** The options of {@link askEnvoy}. */
export interface AskEnvoyOptions extends Pick<FolderOptions, "registry" | "types"> {
  /** The program: a path, or a name that is searched for in `PATH`. */
  readonly command: string;
  /** Folders, bootstraps of Envoy, and files of resources. */
  readonly paths: readonly string[];
  /** The directory that relative paths in a bootstrap start from. Default: that of the process. */
  readonly cwd?: string;
  /** Milliseconds that Envoy may take for one configuration. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Aborting it ends the running programs; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Called with the number of resources and bootstraps that Envoy has read, and the number of all of them. */
  readonly onProgress?: (done: number, all: number) => void;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

/** The reason why a program cannot be used, as the rest of a sentence that begins with its name. */
export type { EnvoyAnswer, UnusableEnvoy };

/**
 * Checks bootstraps, folders and files of resources with a real Envoy (`--mode validate`), and returns the problems with their places. Envoy opens no port and creates no log.
 * Bootstraps are read unchanged. If the file of an access log does not exist, Envoy reads a copy with `/dev/null` in its place.
 * Resources are put into configurations of their own, with all clusters that they name. A rejected resource is reported only if Envoy also rejects it without the others.
 * Resources that our own check rejects are left out, since Envoy would report the same in other words.
 */
export async function askEnvoy(options: AskEnvoyOptions): Promise<EnvoyAnswer | UnusableEnvoy> {
  const { command, cwd = process.cwd(), timeoutMs = 60_000, clock = systemClock } = options;
  const program = { command, cwd, clock, timeoutMs, signal: options.signal };
  return withEnvoy(program, async (envoy) => {
    const progress = createProgress(options.onProgress);
    const answers = await mapLimit(options.paths, parallel, (path) =>
      askAbout(path, envoy, options, progress),
    );
    return {
      version: envoy.version,
      asked: answers.reduce((sum, { asked }) => sum + asked, 0),
      notAsked: answers.reduce((sum, { notAsked }) => sum + notAsked, 0),
      problems: answers.flatMap(({ problems }) => problems),
    };
  });
}

function createProgress(onProgress: AskEnvoyOptions["onProgress"]): Progress {
  let all = 0;
  let done = 0;
  return {
    add(count) {
      all += count;
    },
    done(count) {
      done += count;
      onProgress?.(done, all);
    },
  };
}

async function askAbout(
  path: string,
  envoy: RunningEnvoy,
  { registry, types, cwd = process.cwd() }: AskEnvoyOptions,
  progress: Progress,
): Promise<PathAnswer> {
  const options = { registry, ...(types && { types }) };
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    return askAboutResources({ ...options, dir: path }, envoy, progress);
  const { kind, problems } = await checkFile({ ...options, file: path });
  if (kind === "resources")
    return askAboutResources({ ...options, dir: dirname(path), file: path }, envoy, progress);
  return problems.length > 0
    ? { asked: 0, notAsked: 1, problems: [] }
    : askAboutBootstrap({ file: path, registry, cwd }, envoy, progress);
}
