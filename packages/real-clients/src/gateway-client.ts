import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import { TLSSocket } from "node:tls";
import type { BackendAnswer } from "./gateway-backends.ts";

/** The outcome of a request, as a client sees it. */
export interface GatewayAnswer {
  /** The name of the backend that answered, else the status, `grpc-STATUS`, or `closed`. */
  readonly outcome: string;
  readonly response: IncomingHttpHeaders;
  /** The request as the backend received it. */
  readonly request: BackendAnswer | undefined;
  /** The common name of the certificate of the server. */
  readonly certificate: string | undefined;
}

/** A request to a port of the loopback, with the host of the URL. */
export interface GatewayRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a request. The method `GRPC` calls a method of gRPC. Never rejects: a connection that is closed is `closed`. */
export function sendTo(port: number, request: GatewayRequest): Promise<GatewayAnswer> {
  return request.method === "GRPC" ? callGrpc(port, request) : sendHttp(port, request);
}

function sendHttp(port: number, { method, url, headers }: GatewayRequest): Promise<GatewayAnswer> {
  return new Promise((resolve) => {
    const isTls = url.protocol === "https:";
    const sent = (isTls ? httpsRequest : httpRequest)({
      host: "127.0.0.1",
      port,
      method,
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host },
      agent: false,
      // The test compares the name.
      ...(isTls && { servername: url.hostname, rejectUnauthorized: false }),
    });
    sent.on("error", () => {
      resolve({
        outcome: "closed",
        response: {},
        request: undefined,
        certificate: undefined,
      });
    });
    sent.on("response", (response) => {
      const certificate = isTls ? commonName(response) : undefined;
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("error", () => undefined);
      response.on("close", () => {
        const request = text.startsWith("{") ? (JSON.parse(text) as BackendAnswer) : undefined;
        const { statusCode = 0 } = response;
        const isAnswered = statusCode === 200 && request !== undefined;
        const outcome = isAnswered ? request.backend : String(statusCode);
        resolve({ outcome, response: response.headers, request, certificate });
      });
    });
    sent.end();
  });
}

function commonName({ socket }: IncomingMessage): string {
  return socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : "";
}

function callGrpc(port: number, { url, headers }: GatewayRequest): Promise<GatewayAnswer> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({
      ...headers,
      ":method": "POST",
      ":path": url.pathname,
      ":authority": url.host,
      "content-type": "application/grpc",
      te: "trailers",
    });
    const parts: Buffer[] = [];
    let status: unknown;
    const noteStatus = (received: IncomingHttpHeaders): void => {
      status ??= received["grpc-status"];
    };
    stream.on("response", noteStatus);
    stream.on("trailers", noteStatus);
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("error", () => undefined);
    session.on("error", () => undefined);
    stream.on("close", () => {
      session.close();
      const message = Buffer.concat(parts).subarray(5).toString();
      const outcome = status === "0" ? message : `grpc-${String(status)}`;
      resolve({ outcome, response: {}, request: undefined, certificate: undefined });
    });
    stream.end(Buffer.alloc(5));
  });
}
