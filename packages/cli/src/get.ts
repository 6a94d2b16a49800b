import type { Client, WatchOptions } from "@xdstp/client";
import { type Resource, XdsError } from "@xdstp/core";
import { openAskClient, shownType, type AskClient } from "./ask-client.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { escapeText, ignoredText } from "./short-text.ts";
import { createFacts } from "./file-form.ts";
import { gotCollection, gotList, type Got } from "./got-collection.ts";
import { loadRegistry } from "./load-registry.ts";
import { createRejections, type Rejections, type SeenRejection } from "./rejections.ts";
import { type GetOptions, type Way, whyNothing } from "./why-nothing.ts";
import {
  showResources,
  type LackingMember,
  type ShownNack,
  type ShownResource,
  type ShownServer,
} from "./show-resources.ts";

/** Requests a name once and prints what a client receives. Returns the exit code. Throws a CliError if no resource arrives. */
export async function get(options: GetOptions, io: CliIo): Promise<number> {
  const { asked, ask, output, showSecrets, timeoutMs, maxMembers } = options;
  const registry = await loadRegistry(options.descriptors);
  const rejections = createRejections();
  const asking = await openAskClient(ask, io, {
    fetchMs: asked.places === 1 && asked.kind !== "list" ? 0 : timeoutMs / (asked.places + 1),
    members: maxMembers + 1,
    onEvent: rejections.event,
    observe: rejections.observe,
    names: [asked.name],
  });
  const late = new AbortController();
  const stop = io.onSignal(() => {
    late.abort(new CliError(1, "stopped before there was an answer"));
  });
  const timer = io.clock.after(timeoutMs, () => {
    late.abort();
  });
  const show = (got: Got, nack?: ShownNack): void => {
    const server: ShownServer = { ...asking.server(asked), received: io.clock.wallTime() };
    showResources(
      {
        asked,
        output,
        server,
        complete: got.complete,
        version: asked.kind === "glob" ? rejections.version() : "",
        hops: got.hops ?? [],
        resources: got.resources,
        view: { registry, showSecrets },
        nack,
      },
      io,
    );
  };
  try {
    if (ask.nack !== undefined) asking.requireStreams([asked], "a NACK is sent on one");
    const way: Way = {
      asking,
      type: shownType(asked.typeUrl, registry),
      options,
      facts: createFacts(),
      signal: late.signal,
    };
    const got =
      ask.nack === undefined
        ? await gotBy[asked.kind](way)
        : await rejectAll(way, ask.nack, rejections);
    if (ask.nack !== undefined) {
      show(got, { nonce: rejections.nonce(), reason: ask.nack });
      return 0;
    }
    for (const { name, reason } of rejections.seen())
      io.stderr.write(`xdstp get: rejected ${escapeText(name)}: ${escapeText(reason)}\n`);
    if (got.problem !== undefined) io.stderr.write(`xdstp get: ${escapeText(got.problem)}\n`);
    for (const { server, names } of asking.ignored())
      io.stderr.write(`xdstp get: ${ignoredText(server, names)}\n`);
    if (!got.complete)
      io.stderr.write(
        `xdstp get: ${asked.kind === "list" ? "of some of these nothing has come yet" : "the server has not said that these are all"}\n`,
      );
    // From here on a signal ends the process immediately. Printing many members takes seconds, during which no listener can run.
    stop();
    show(got);
    return 0;
  } catch (error) {
    throw failure(error, asking, options, { rejections, signal: late.signal });
  } finally {
    timer.cancel();
    stop();
    await asking.close();
  }
}

const watchBy = {
  name: (client: Client, type: Way["type"], name: string, options: WatchOptions<Uint8Array>) =>
    client.watch(type, name, options),
  glob: (client: Client, type: Way["type"], name: string, options: WatchOptions<Uint8Array>) =>
    client.watchAll(type, name, options),
  list: (client: Client, type: Way["type"], name: string, options: WatchOptions<Uint8Array>) =>
    client.watchList(type, name, options),
} as const;

const gotBy = { name: gotName, glob: gotCollection, list: gotList } as const;

async function gotName(way: Way): Promise<Got> {
  const {
    asking,
    type,
    options: {
      asked: { name, typeUrl },
    },
    facts,
    signal,
  } = way;
  const watch = asking.client.watch(type, name, {
    ...asking.nameOptions(typeUrl),
    validate: facts.note,
    signal,
  });
  for await (const { value, version, error } of watch) {
    if (value === undefined) throw whyNothing(way, watch.name, error);
    const hops = asking.hops(typeUrl)(watch.name);
    const own = hops.length === 0 ? facts.of(watch.name) : undefined;
    const resource: ShownResource = {
      name: own?.name ?? name,
      version,
      payload: { typeUrl: own?.payloadUrl ?? typeUrl, value },
      facts: own,
      hops,
    };
    return { resources: [resource], complete: true };
  }
  throw new XdsError("CANCELLED", "the client was closed");
}

/** Rejects all resources for `--nack` and returns them. A resource that cannot be decoded has no content to show. */
async function rejectAll(
  { asking, type, options: { asked }, signal }: Way,
  reason: string,
  rejections: Rejections,
): Promise<Got> {
  const decoded = new Map<string, ShownResource>();
  const validate = (value: Uint8Array, { name, version }: Resource): string => {
    const payload = { typeUrl: asked.typeUrl, value };
    decoded.set(name, { name, version, payload, hops: [] });
    return reason;
  };
  const watching = { ...asking.nameOptions(asked.typeUrl), validate, signal };
  const watch = watchBy[asked.kind](asking.client, type, asked.name, watching);
  const failed = (async () => {
    for await (const { error } of watch)
      if (
        error?.code === "NOT_FOUND" ||
        error?.code === "UNAVAILABLE" ||
        error?.code === "PERMISSION_DENIED"
      )
        throw error;
    throw new XdsError("CANCELLED", "the client was closed");
  })();
  await Promise.race([rejections.answered, failed]);
  failed.catch(() => undefined);
  const shown = ({ name, reason: why }: SeenRejection): ShownResource | LackingMember => {
    const resource = decoded.get(name);
    if (resource === undefined)
      return {
        name: asked.kind === "name" ? asked.name : name,
        state: "rejected",
        reason: why,
        hops: [],
      };
    // A resource in a SotW response may not have a version of its own.
    return { ...resource, version: resource.version || rejections.version() };
  };
  return { resources: rejections.seen().map(shown), complete: false };
}

function failure(
  error: unknown,
  asking: AskClient,
  { asked, timeoutMs }: GetOptions,
  { rejections, signal }: { readonly rejections: Rejections; readonly signal: AbortSignal },
): CliError {
  if (error instanceof CliError) return error;
  if (signal.aborted)
    return new CliError(
      1,
      `${JSON.stringify(asked.name)} has not come within ${timeoutMs / 1_000} s: ${asking.heard()}`,
      { cause: error },
    );
  const rejected = rejections.seen().at(-1);
  return rejected === undefined
    ? asking.failure(error)
    : new CliError(
        1,
        `${JSON.stringify(rejected.name)} of ${asking.server(asked).server} was rejected: ${rejected.reason}`,
        { cause: error },
      );
}
