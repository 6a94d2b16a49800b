import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type StatusName, XdsError } from "@xdstp/core";
import {
  ClientStatusDiscoveryService,
  type ClientStatusRequest,
  ClientStatusRequestSchema,
  type ClientStatusResponse,
  ClientStatusResponseSchema,
} from "@xdstp/protos/status";
import type { CallPeer } from "@xdstp/grpc/server";
import type { Health, ServerOptions, XdsServer } from "@xdstp/server";
import type { FromChild, StatusAnswer } from "./messages.ts";
import type { ParentLine } from "./parent-line.ts";
import type { Child } from "./start-child.ts";

/** Returns the options of a server that answers with the client status of all processes, and not only with its own. */
export function statusOfAll(
  line: Pick<ParentLine, "collect">,
): Pick<ServerOptions, "clientStatus" | "routes"> {
  const answer = async (
    request: ClientStatusRequest,
    { peer }: { readonly peer: CallPeer },
  ): Promise<ClientStatusResponse> => {
    const collected = await line.collect(toBinary(ClientStatusRequestSchema, request), peer);
    if ("code" in collected) throw new XdsError(collected.code as StatusName, collected.text);
    return fromBinary(ClientStatusResponseSchema, collected.bytes);
  };
  return {
    clientStatus: false,
    routes(router) {
      router.service(ClientStatusDiscoveryService, {
        fetchClientStatus: answer,
        async *streamClientStatus(requests, call) {
          for await (const request of requests) yield await answer(request, call);
        },
      });
    },
  };
}

/** Returns the client status of this process, as far as the caller may see it. */
export async function ownStatus(
  server: XdsServer,
  request: Uint8Array,
  peer: CallPeer,
): Promise<StatusAnswer> {
  try {
    return {
      bytes: toBinary(
        ClientStatusResponseSchema,
        await server.clientStatus(fromBinary(ClientStatusRequestSchema, request), { peer }),
      ),
    };
  } catch (error) {
    const { code, text } = XdsError.from(error);
    return { code, text };
  }
}

/** Merges the answers of several processes. In protobuf, concatenated messages are one message with the rows of all. */
function joined(answers: readonly StatusAnswer[]): StatusAnswer {
  const rejected = answers.find((answer) => "code" in answer);
  return (
    rejected ?? {
      bytes: Buffer.concat(
        answers.map((answer) => ("bytes" in answer ? answer.bytes : new Uint8Array())),
      ),
    }
  );
}

/** Requests client status from all workers, for the worker that was asked by a client. */
interface Collector {
  observe(child: Child, message: FromChild): void;
  /** Notes that a process has ended, so it will not answer. */
  gone(child: Child): void;
}

interface Collection {
  readonly asker: Child;
  readonly missing: Set<Child>;
  readonly answers: StatusAnswer[];
  done(answer: StatusAnswer): void;
}

/** Creates a collector. `children` returns the current processes, and `upstreams` the current health of the servers upstream. */
export function createCollector(
  children: () => readonly Child[],
  upstreams: () => Promise<readonly Health[]>,
): Collector {
  const open = new Map<number, Collection>();
  let next = 0;
  const settle = (id: number, child: Child, answer?: StatusAnswer): void => {
    const collection = open.get(id);
    if (collection?.missing.delete(child) !== true) return;
    if (answer !== undefined) collection.answers.push(answer);
    if (collection.missing.size > 0) return;
    open.delete(id);
    collection.done(joined(collection.answers));
  };
  return {
    observe(child, message) {
      if (message.kind === "status") settle(message.id, child, message.answer);
      if (message.kind !== "collect") return;
      const id = next++;
      const asked = children().filter(({ worker, isOpen }) => worker > 0 && isOpen());
      open.set(id, {
        asker: child,
        missing: new Set(asked),
        answers: [],
        done: (answer) => {
          child.send({ kind: "collected", id: message.id, answer });
        },
      });
      const { request, peer } = message;
      void upstreams().then((rows) => {
        for (const one of asked) one.send({ kind: "status", id, request, peer, upstreams: rows });
      });
    },
    gone(child) {
      for (const [id, { asker }] of [...open]) {
        // The next process of this worker numbers its requests from 0 again, so the answer must not reach it.
        if (asker === child) open.delete(id);
        else settle(id, child);
      }
    },
  };
}
