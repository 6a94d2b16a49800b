import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { XdsError, type StatusName } from "@xdstp/core";
import {
  ClientStatusDiscoveryService,
  ClientStatusRequestSchema,
  ClientStatusResponseSchema,
  type ClientStatusRequest,
  type ClientStatusResponse,
} from "@xdstp/protos/status";
import type { CallPeer } from "@xdstp/grpc/server";
import type { ServerOptions, XdsServer } from "@xdstp/server";
import type { StatusAnswer } from "./messages.ts";
import type { ParentLine } from "./parent-line.ts";

/** Client status of all processes instead of that of this one. */
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

/** That of this process, as the caller may see it. */
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

/** Answers of several processes as one: in protobuf, what is written one behind the other is one message with all rows. */
export function joined(answers: readonly StatusAnswer[]): StatusAnswer {
  const rejected = answers.find((answer) => "code" in answer);
  return (
    rejected ?? {
      bytes: Buffer.concat(
        answers.map((answer) => ("bytes" in answer ? answer.bytes : new Uint8Array())),
      ),
    }
  );
}
