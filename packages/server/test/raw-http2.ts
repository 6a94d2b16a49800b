import { connect, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";

/** The counts of what a server has sent on a raw connection. */
export interface RawAnswers {
  /**
   * The number of answers to {@link ping}. Everything that was written before such a ping has been
   * read.
   */
  readonly pongs: number;
  /** The number of streams that the server has ended, by trailers or a reset. */
  readonly ended: number;
  /** True once something was received on stream 1. */
  readonly served: boolean;
  /** True once the server has sent GOAWAY with an error. */
  readonly rejected: boolean;
}

/**
 * An HTTP/2 connection on which the test writes each byte, so that the bytes need not be valid
 * HTTP/2.
 */
export interface RawConnection {
  readonly answers: RawAnswers;
  write(bytes: Buffer): void;
  /**
   * Resolves with true once the answers match, and with false if the connection ends before that.
   * Only one call may wait at a time.
   */
  until(enough: (answers: RawAnswers) => boolean): Promise<boolean>;
  /** Ends the connection normally. The server must still read what was written. */
  end(): void;
  /** Cuts the connection; without TLS by a reset. */
  cut(): void;
  readonly closed: Promise<void>;
}

/**
 * The server of a raw connection. With `secureContext`, the connection uses TLS, to `localhost`.
 */
export interface RawTarget {
  readonly port: number;
  readonly secureContext?: SecureContext;
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const hostname = "127.0.0.1";

/** Connects. Nothing has been written yet. */
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

/** Returns a well-formed frame. */
export function frame(type: number, flags: number, stream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** The bytes with which a connection begins. */
export const opening = Buffer.concat([Buffer.from(preface), frame(4, 0, 0, Buffer.alloc(0))]);

const mark = Buffer.from("come far");

/** A PING. A server that reads it answers at once. */
export const ping = frame(6, 0, 0, mark);

/** Returns a header with a name and a value of less than 127 bytes each. */
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

/** Returns an HPACK header block without any compression. */
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

/** Returns bytes on a stream, with or without its end. */
export function dataFrame(stream: number, bytes: Buffer, last: boolean): Buffer {
  return frame(0, last ? 1 : 0, stream, bytes);
}

/** Returns a message as gRPC sends it. */
export function enveloped(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
