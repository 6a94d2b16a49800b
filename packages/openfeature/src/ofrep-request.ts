import type { EvaluationContext } from "@openfeature/core";
import type { Clock } from "@xdstp/core";
import type { HttpRequest } from "@xdstp/grpc/server";

/** A request that is answered with an error. */
export class OfrepError extends Error {
  readonly status: number;
  readonly errorCode: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    errorCode: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.errorCode = errorCode;
    this.headers = headers;
  }
}

/**
 * Reads the context of an evaluation from the body. Throws an OfrepError for a body that is too
 * large, too slow, or not a JSON object with an object `context`.
 */
export async function readContext(
  request: HttpRequest,
  limits: { readonly bodyBytes: number; readonly bodyMs: number },
  clock: Clock,
): Promise<EvaluationContext> {
  const text = (await readBody(request, limits, clock)).toString("utf8");
  if (text.trim() === "") return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new OfrepError(400, "PARSE_ERROR", `the body is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(body)) throw new OfrepError(400, "PARSE_ERROR", "the body is not a JSON object");
  const { context = {} } = body;
  if (!isObject(context))
    throw new OfrepError(400, "INVALID_CONTEXT", "context is not a JSON object");
  const { targetingKey } = context;
  if (targetingKey !== undefined && typeof targetingKey !== "string")
    throw new OfrepError(400, "INVALID_CONTEXT", "targetingKey is not a text");
  return context as EvaluationContext;
}

async function readBody(
  request: HttpRequest,
  { bodyBytes, bodyMs }: { readonly bodyBytes: number; readonly bodyMs: number },
  clock: Clock,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const timer = clock.after(bodyMs, () => {
      fail(new OfrepError(408, "GENERAL", `the body took more than ${bodyMs} ms`, closing));
    });
    const fail = (error: Error): void => {
      timer.cancel();
      request.removeAllListeners("data");
      request.resume();
      reject(error);
    };
    request.on("data", (part: Buffer) => {
      size += part.length;
      parts.push(part);
      if (size > bodyBytes)
        fail(new OfrepError(413, "GENERAL", `the body is larger than ${bodyBytes} bytes`, closing));
    });
    request.on("end", () => {
      timer.cancel();
      resolve(Buffer.concat(parts));
    });
    request.on("error", fail);
    request.on("close", () => {
      fail(new OfrepError(400, "GENERAL", "the request ended before its body"));
    });
  });
}

/** The rest of the body is not read, so the connection is of no more use. */
const closing = { connection: "close" };

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
