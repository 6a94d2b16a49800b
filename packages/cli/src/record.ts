import { openAskClient, type AskClient } from "./ask-client.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { envoyBootstrapText } from "./asked-bootstrap.ts";
import { followName, following } from "./follow-name.ts";
import { createRecordLog, type RecordOptions } from "./record-log.ts";
import { counted } from "./short-text.ts";
import { untilEnough, type UntilEnough } from "./until-stopped.ts";

/** Records until it is stopped or has enough; the answer is the exit code. Throws a CliError where it cannot begin, or too few responses came in time. */
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
      log.begin(asking);
      const followed = options.asked.map((name) =>
        followName(name, {
          asking,
          tell: () => undefined,
          ...(ask.nack !== undefined && { nack: ask.nack }),
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
  // The answer to the last response goes out behind it.
  await new Promise(setImmediate);
  if (reason !== "time" || until.counted >= count) return reason === "broken-pipe" ? 1 : 0;
  throw new CliError(
    1,
    `only ${counted(until.counted, "response")} came within ${timeoutMs / 1_000} s: ${asking.heard(true)}; ${file} has what was sent`,
  );
}
