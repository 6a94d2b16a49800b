import { connect, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";

/** What a server has sent on a raw connection, counted. */
export interface RawAnswers {
  /** How often it has answered {@link ping}: whatever was written before has been read. */
  readonly pongs: number;
  /** Streams that it has ended: by trailers or a reset. */
  readonly ended: number;
  /** Something has come on stream 1. */
  readonly served: boolean;
  /** It has said GOAWAY with an error. */
  readonly rejected: boolean;
}

/** An HTTP/2 connection of which the test writes each byte, so that it need not be HTTP/2. */
export interface RawConnection {
  readonly answers: RawAnswers;
  write(bytes: Buffer): void;
  /** Resolves with true once the answers are so, and with false when the connection is over before that. One at a time. */
  until(enough: (answers: RawAnswers) => boolean): Promise<boolean>;
  /** Ends it in order; the server has still to read what was written. */
  end(): void;
  /** Cuts it; without TLS by a reset. */
  cut(): void;
  readonly closed: Promise<void>;
}

/** Where a raw connection goes; `secureContext`: over TLS, to `localhost`. */
export interface RawTarget {
  readonly port: number;
  readonly secureContext?: SecureContext;
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const hostname = "127.0.0.1";

/** Connects; nothing has been written yet. */
export function openRaw({ port, secureContext }: RawTarget): RawConnection {
  const socket: Socket =
    secureContext === undefined
      ? connect(port, hostname)
      : connectTls({
          port,
          host: hostname,
          servername: "localhost",
          secureContext,
          ALPNProtocols: ["h2"],
        });
  const answers = { pongs: 0, ended: 0, served: false, rejected: false };
  let rest: Buffer = Buffer.alloc(0);
  let look: () => void = () => undefined;
  let over = false;
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      count(answers, rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    look();
  });
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      over = true;
      look();
      resolve();
    });
  });
  return {
    answers,
    closed,
    write(bytes) {
      socket.write(bytes);
    },
    until: (enough) =>
      new Promise((resolve) => {
        look = () => {
          if (over || enough(answers)) resolve(enough(answers));
        };
        look();
      }),
    end() {
      socket.end();
    },
    cut() {
      if (secureContext === undefined) socket.resetAndDestroy();
      else socket.destroy();
    },
  };
}

function count(
  answers: { -readonly [Name in keyof RawAnswers]: RawAnswers[Name] },
  bytes: Buffer,
): void {
  const [type = 0, flags = 0] = bytes.subarray(3, 5);
  if (type === 6 && (flags & 1) === 1 && mark.equals(bytes.subarray(9))) answers.pongs++;
  if (type === 3 || (type === 1 && (flags & 1) === 1)) answers.ended++;
  if (type === 0 && bytes.length > 9 && bytes.readUInt32BE(5) === 1) answers.served = true;
  if (type === 7 && bytes.readUInt32BE(13) !== 0) answers.rejected = true;
}

/** A frame, well formed. */
export function frame(type: number, flags: number, stream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** What a connection begins with. */
export const opening = Buffer.concat([Buffer.from(preface), frame(4, 0, 0, Buffer.alloc(0))]);

const mark = Buffer.from("come far");

/** A PING: a server that reads it answers at once. */
export const ping = frame(6, 0, 0, mark);

/** A header: name and value, of less than 127 bytes each. */
export type Header = readonly [name: string, value: string];

/** The headers of a gRPC call. */
export function callHeaders(path: string): readonly Header[] {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "a"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ];
}

/** A header block of HPACK, without any of its ways to be shorter. */
export function headerBlock(headers: readonly Header[]): Buffer {
  return Buffer.from(
    headers
      .map((pair) => `\0${pair.map((text) => String.fromCharCode(text.length) + text).join("")}`)
      .join(""),
    "latin1",
  );
}

/** Begins a gRPC call. */
export function callFrame(stream: number, path: string): Buffer {
  return frame(1, 4, stream, headerBlock(callHeaders(path)));
}

/** Bytes on a stream, the last ones or not. */
export function dataFrame(stream: number, bytes: Buffer, last: boolean): Buffer {
  return frame(0, last ? 1 : 0, stream, bytes);
}

/** A message as gRPC sends it. */
export function enveloped(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
