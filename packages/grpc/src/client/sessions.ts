import type { ClientHttp2Stream, Http2Session, OutgoingHttpHeaders } from "node:http2";
import { isIP, type Socket, connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { StatusCode, systemClock, type Status, type Timer } from "@xdstp/core";
import type { ChannelContext } from "./channel-context.ts";
import type { ChannelCredentials } from "./channel-tls.ts";
import { describeFailure } from "./call-status.ts";
import type { Target } from "./parse-target.ts";

/**
 * The connections of a channel with one set of certificates: usually one, and those that have
 * received GOAWAY and still have calls.
 */
export interface Sessions {
  /**
   * Begins a call, and connects first if necessary. Returns the reason if the connection fails.
   * Never rejects.
   */
  request(path: string, headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream | RequestFailure>;
  /** Called when bytes of a call have arrived, so its connection is alive. */
  received(stream: ClientHttp2Stream): void;
  /**
   * Returns the status of a call whose connection has ended, or `undefined` if the connection is
   * alive.
   */
  lost(session: Http2Session | undefined, error: unknown): Status | undefined;
  /**
   * Accepts no new calls. Resolves when the last open call has ended, and its connection is closed.
   */
  retire(): Promise<void>;
  /** Ends all connections at once. Resolves when their sockets are closed. */
  abort(): Promise<void>;
}

/** The call could not begin, since there is no connection. */
export interface RequestFailure {
  readonly failure: Status;
}

/** Is notified of the state of the connections. */
export interface SessionsHost {
  onConnecting(): void;
  onReady(): void;
  /**
   * Called when no connection is left and none is being created. `status` absent: the last one
   * ended in order.
   */
  onLost(status?: Status): void;
}

/** Creates sessions that Connect's manager opens, shares and pings. */
export function createSessions(
  context: ChannelContext,
  credentials: ChannelCredentials | undefined,
  host: SessionsHost,
): Sessions {
  return new ManagedSessions(context, credentials, host);
}

/** The window of a whole connection: twice the window of one call. */
const connectionWindowBytes = 16 * 1024 * 1024;

/**
 * Node counts the bytes that a session has to send and that wait to be read, and resets calls
 * beyond 10 MB by default. A request with 100,000 names is that large. Windows and messages have
 * their own limits.
 */
const sessionMegabytes = 1_024;

interface SeenSession {
  /** True if the server has sent SETTINGS. */
  ready: boolean;
  /** True if the server has answered a call. */
  answered: boolean;
  /** True if it is over, and the host was notified. */
  over: boolean;
}

class ManagedSessions implements Sessions {
  readonly #context: ChannelContext;
  readonly #credentials: ChannelCredentials | undefined;
  readonly #host: SessionsHost;
  readonly #manager: Http2SessionManager;
  readonly #sockets = new Set<Socket>();
  /** Each session that has had a call. */
  readonly #seen = new WeakMap<Http2Session, SeenSession>();
  /** Sessions whose server has sent SETTINGS. */
  readonly #ready = new Set<SeenSession>();
  #connecting = false;
  #deadline: Timer | undefined;
  #calls = 0;
  #whenIdle: (() => void) | undefined;
  #whenClosed: (() => void) | undefined;

  constructor(
    context: ChannelContext,
    credentials: ChannelCredentials | undefined,
    host: SessionsHost,
  ) {
    const { pingMs, pingTimeoutMs, windowBytes } = context.limits;
    this.#context = context;
    this.#credentials = credentials;
    this.#host = host;
    // The sockets are created here, so the URL is never looked up; each call has its own authority.
    this.#manager = new Http2SessionManager(
      "http://channel.invalid",
      { pingIntervalMs: pingMs, pingTimeoutMs },
      {
        createConnection: () => this.#connect(),
        settings: { enablePush: false, initialWindowSize: windowBytes },
        maxSessionMemory: sessionMegabytes,
      },
    );
  }

  async request(
    path: string,
    headers: OutgoingHttpHeaders,
  ): Promise<ClientHttp2Stream | RequestFailure> {
    this.#calls += 1;
    try {
      const stream = await this.#manager.request("POST", path, headers, { endStream: false });
      stream.on("error", ignore);
      const looks = this.#lookForLife(stream);
      stream.once("close", () => {
        looks.cancel();
        this.#left();
      });
      const { session } = stream;
      const seen = session === undefined || session.destroyed ? undefined : this.#watch(session);
      stream.once("response", () => {
        if (seen !== undefined) seen.answered = true;
      });
      return stream;
    } catch (error) {
      this.#left();
      const status = this.#failure(undefined, error);
      this.#connecting = false;
      this.#tellLost(status);
      return { failure: status };
    }
  }

  received(stream: ClientHttp2Stream): void {
    this.#manager.notifyResponseByteRead(stream);
  }

  lost(session: Http2Session | undefined, error: unknown): Status | undefined {
    if (session !== undefined && !session.destroyed && !session.socket.destroyed) return undefined;
    const seen = session === undefined ? undefined : this.#seen.get(session);
    const status = this.#failure(seen, error);
    if (seen !== undefined) this.#gone(seen, status);
    return status;
  }

  async retire(): Promise<void> {
    if (this.#calls > 0)
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    await this.abort();
  }

  async abort(): Promise<void> {
    this.#manager.abort();
    if (this.#sockets.size > 0)
      await new Promise<void>((resolve) => {
        this.#whenClosed = resolve;
      });
  }

  /**
   * Connect pings after a time without bytes of a response. While a large request is sent over a
   * slow link, the answer to a ping would wait behind it.
   * In this time the WINDOW_UPDATE frames of the server show that the connection is alive.
   */
  #lookForLife(stream: ClientHttp2Stream): Timer {
    const everyMs = Math.max(1, Math.floor(this.#context.limits.pingMs / 2));
    let receivedBytes = 0;
    const look = (): void => {
      const { session } = stream;
      if (session === undefined || session.destroyed) return;
      const { bytesRead } = session.socket;
      if (bytesRead > receivedBytes) this.received(stream);
      receivedBytes = bytesRead;
      timer = systemClock.after(everyMs, look);
    };
    // Uses the system clock, as the pings of Connect do.
    let timer = systemClock.after(everyMs, look);
    return {
      cancel: () => {
        timer.cancel();
      },
    };
  }

  #left(): void {
    this.#calls -= 1;
    if (this.#calls === 0) this.#whenIdle?.();
  }

  #connect(): Socket {
    const { clock, limits, target } = this.#context;
    const socket = openSocket(target, this.#credentials);
    // The event `lookup` is not emitted for an address, nor for a socket in the file system.
    let isResolved = !("host" in target.address) || isIP(target.address.host) !== 0;
    socket.once("lookup", () => {
      isResolved = true;
    });
    const deadline = clock.after(limits.connectMs, () => {
      socket.destroy(
        Object.assign(new Error(`no answer within ${limits.connectMs / 1000} s`), {
          code: isResolved ? "ETIMEDOUT" : "EAI_AGAIN",
        }),
      );
    });
    this.#deadline = deadline;
    this.#connecting = true;
    this.#host.onConnecting();
    this.#sockets.add(socket);
    socket.on("error", ignore);
    socket.once("close", () => {
      deadline.cancel();
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#whenClosed?.();
    });
    return socket;
  }

  /** Begins with the first call of a session: Connect does not give access to a session earlier. */
  #watch(session: Http2Session): SeenSession {
    const known = this.#seen.get(session);
    if (known !== undefined) return known;
    const seen: SeenSession = { ready: false, answered: false, over: false };
    const deadline = this.#deadline;
    let failed: Error | undefined;
    this.#seen.set(session, seen);
    session.setLocalWindowSize(connectionWindowBytes);
    session.once("remoteSettings", () => {
      deadline?.cancel();
      seen.ready = true;
      this.#ready.add(seen);
      this.#connecting = false;
      this.#host.onReady();
    });
    session.on("error", (error) => {
      if (!isOrderly(error)) failed = error;
    });
    session.once("close", () => {
      this.#gone(
        seen,
        failed === undefined && seen.ready ? undefined : this.#failure(seen, failed),
      );
    });
    return seen;
  }

  #gone(seen: SeenSession, status: Status | undefined): void {
    if (seen.over) return;
    seen.over = true;
    if (!seen.ready) this.#connecting = false;
    this.#ready.delete(seen);
    this.#tellLost(status);
  }

  #tellLost(status: Status | undefined): void {
    if (!this.#connecting && this.#ready.size === 0) this.#host.onLost(status);
  }

  #failure(seen: SeenSession | undefined, error: unknown): Status {
    const { target } = this.#context;
    const { ready = false, answered = false } = seen ?? {};
    return {
      code: StatusCode.UNAVAILABLE,
      message: describeFailure({
        target,
        ready,
        answered,
        error,
        tls: this.#credentials !== undefined,
      }),
    };
  }
}

/**
 * Returns true for the error with which the manager ends a connection that has received GOAWAY and
 * has no calls.
 */
function isOrderly(error: Error): boolean {
  return error instanceof ConnectError && error.code === Code.Canceled;
}

/** Other listeners handle the error. Without any listener the process would end. */
function ignore(): void {
  /** see above */
}

/**
 * Opens a connection to a target; with credentials over TLS 1.2 or newer with ALPN `h2`. Failures
 * are errors of the socket.
 */
function openSocket(target: Target, credentials: ChannelCredentials | undefined): Socket {
  if (credentials === undefined) return connectTcp({ ...target.address, noDelay: true });
  const { context, servername = isIP(target.host) === 0 ? target.host : undefined } = credentials;
  const socket = connectTls({
    ...target.address,
    secureContext: context,
    ALPNProtocols: ["h2"],
    ...(servername !== undefined && { servername }),
  });
  socket.setNoDelay(true);
  socket.once("secureConnect", () => {
    // In a later turn, since Node ends the process if a socket is destroyed in this event before
    // its HTTP/2 session has taken it over.
    if (socket.alpnProtocol !== "h2")
      setImmediate(() => {
        socket.destroy(new Error("the server does not offer h2 in ALPN"));
      });
  });
  return socket;
}
