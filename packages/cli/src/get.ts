import { XdsError } from "@xdstp/core";
import type { AskFlags } from "./ask-flags.ts";
import type { AskedName } from "./asked-name.ts";
import { openAskClient, shownType, type AskClient } from "./ask-client.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { escapeText } from "./escape-text.ts";
import { gotCollection, type Got } from "./got-collection.ts";
import { loadRegistry } from "./load-registry.ts";
import { createRefusals, type Refusals } from "./refusals.ts";
import { shortType } from "./short-text.ts";
import { showResources, type ShownResource, type ShownServer } from "./show-resources.ts";

/** What `xdstp get` was asked to do. */
export interface GetOptions {
  readonly asked: AskedName;
  readonly ask: AskFlags;
  readonly output: "yaml" | "json" | "table";
  readonly showSecrets: boolean;
  /** Files with descriptor sets. */
  readonly descriptors: readonly string[];
  readonly timeoutMs: number;
}

/** Shows what a name has, once; the answer is the exit code. Throws a CliError where that is nothing. */
export async function get(options: GetOptions, io: CliIo): Promise<number> {
  const { asked, ask, output, showSecrets, timeoutMs } = options;
  const registry = await loadRegistry(options.descriptors);
  const refusals = createRefusals(ask.variant);
  const asking = await openAskClient(ask, io, { fetchMs: 0, onEvent: refusals.event, observe: refusals.observe });
  const late = new AbortController();
  const stop = io.onSignal(() => { late.abort(new CliError(1, "stopped before there was an answer")); });
  const timer = io.clock.after(timeoutMs, () => { late.abort(); });
  try {
    const way: Way = { asking, type: shownType(asked.typeUrl, registry), options, signal: late.signal };
    if (ask.nack !== undefined) return await refuseAll(way, ask.nack, refusals, io);
    const got = await (asked.isCollection ? gotCollection(way) : gotName(way));
    for (const { name, reason } of refusals.seen()) io.stderr.write(`xdstp get: refused ${escapeText(name)}: ${escapeText(reason)}\n`);
    if (!got.complete) io.stderr.write("xdstp get: the server has not said that these are all\n");
    const server: ShownServer = { ...asking.server(), variant: ask.variant, received: io.clock.now() };
    showResources({ asked, output, server, complete: got.complete, resources: got.resources, view: { registry, showSecrets } }, io);
    return 0;
  } catch (error) {
    throw failure(error, asking, options, { refusals, signal: late.signal });
  } finally {
    timer.cancel();
    stop();
    await asking.close();
  }
}

/** One question. */
export interface Way {
  readonly asking: AskClient;
  readonly type: ReturnType<typeof shownType>;
  readonly options: GetOptions;
  readonly signal: AbortSignal;
}

async function gotName({ asking, type, options: { asked: { name, typeUrl } }, signal }: Way): Promise<Got> {
  for await (const { value, version, error } of asking.client.watch(type, name, { signal })) {
    if (value === undefined) throw error ?? new XdsError("NOT_FOUND", "");
    const resource: ShownResource = { name, version, payload: { typeUrl, value } };
    return { resources: [resource], complete: true };
  }
  throw new XdsError("CANCELLED", "the client was closed");
}

/** With --nack nothing is taken, so that there is nothing to show but what was refused. */
async function refuseAll({ asking, type, options: { asked: { name, isCollection } }, signal }: Way, reason: string, refusals: Refusals, { stdout }: CliIo): Promise<number> {
  const watching = { validate: () => reason, signal };
  const watch = isCollection ? asking.client.watchAll(type, name, watching) : asking.client.watch(type, name, watching);
  const failed = (async () => {
    for await (const { error } of watch) if (error?.code === "NOT_FOUND" || error?.code === "UNAVAILABLE" || error?.code === "PERMISSION_DENIED") throw error;
    throw new XdsError("CANCELLED", "the client was closed");
  })();
  await Promise.race([refusals.answered, failed]);
  failed.catch(() => undefined);
  for (const { name: refused } of refusals.seen()) stdout.write(`refused ${escapeText(refused)}\n`);
  stdout.write(`${asking.server().server} was sent a NACK of nonce ${escapeText(refusals.nonce())}: ${escapeText(reason)}\n`);
  return 0;
}

function failure(error: unknown, asking: AskClient, { asked, timeoutMs }: GetOptions, { refusals, signal }: { readonly refusals: Refusals; readonly signal: AbortSignal }): CliError {
  if (signal.aborted && !(error instanceof CliError)) return new CliError(1, `${JSON.stringify(asked.name)} has not come within ${timeoutMs / 1_000} s: ${asking.heard()}`, { cause: error });
  if (error instanceof XdsError && error.code === "NOT_FOUND") return new CliError(1, missing(error, asking, asked), { cause: error });
  const refused = refusals.seen().at(-1);
  return refused === undefined ? asking.failure(error) : new CliError(1, `${JSON.stringify(refused.name)} of ${asking.server().server} was refused: ${refused.reason}`, { cause: error });
}

function missing({ text }: XdsError, asking: AskClient, { name, typeUrl }: AskedName): string {
  const own = text.includes("does not exist") || text === "" ? "" : ` (${asking.failure(new XdsError("NOT_FOUND", text)).message})`;
  const kind = name.startsWith("xdstp:") ? "" : ` among its ${shortType(typeUrl)}`;
  return `${asking.server().server} has no ${JSON.stringify(name)}${kind}${own}`;
}
