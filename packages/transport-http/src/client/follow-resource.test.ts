import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  authority,
  type Http,
  type Intercept,
  nameOf,
  turns,
  type,
  useFetch,
  useHttp,
} from "../../test/use-http.ts";
import { putRedirect } from "../../test/put-redirect.ts";
import { type FetchLike, followResource, type FollowedState, type FollowOptions } from "./index.ts";

const url = `https://${authority}/${type}/web`;

interface Following {
  readonly http: Http;
  readonly network: ReturnType<typeof useFetch>;
  /** The states, each as a text. */
  readonly states: string[];
  readonly state: () => FollowedState;
  readonly close: () => void;
  /** Lets time pass, and all work that is due. */
  readonly pass: (ms: number) => Promise<void>;
}

function follow(
  options: Partial<FollowOptions> = {},
  prepare: (http: Http) => void = (http) => {
    http.put(nameOf("web"), 1);
  },
  intercept?: Intercept,
): Following {
  const http = useHttp();
  prepare(http);
  const network = useFetch(http);
  network.intercept = intercept;
  const states: string[] = [];
  const followed = followResource(
    {
      url,
      form: "protobuf",
      fetch: network.fetch,
      clock: http.clock,
      random: () => 0.5,
      ...options,
    },
    (state) => {
      states.push(textOf(state));
    },
  );
  onTestFinished(() => {
    followed.close();
  });
  return {
    http,
    network,
    states,
    state: () => followed.state,
    close: () => {
      followed.close();
    },
    pass: async (ms) => {
      await turns();
      http.clock.advance(ms);
      await turns();
    },
  };
}

function textOf(state: FollowedState): string {
  if (state.kind === "found") {
    const { connectTimeout } = fromBinary(ClusterSchema, state.body);
    return `${String(connectTimeout?.seconds ?? 0n)} s${state.error === undefined ? "" : ", stale"}`;
  }
  return state.kind;
}

/** A cluster whose timeout tells its states apart. */
function bodyOf(seconds: number): Uint8Array {
  const connectTimeout = { seconds: BigInt(seconds) };
  return toBinary(ClusterSchema, create(ClusterSchema, { name: nameOf("web"), connectTimeout }));
}

const down: Intercept = () => {
  throw new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") });
};

function answer(status: number, headers: Readonly<Record<string, string>> = {}): Intercept {
  return () => new Response(status === 204 ? null : "", { status, headers });
}

describe("followResource()", () => {
  it("reports the resource and each change, by long polls [C-HTTP-11]", async () => {
    const { http, states, pass, network } = follow();
    await pass(100);
    expect(states).toEqual(["1 s"]);
    expect(http.handler.waiting).toBe(1);
    http.put(nameOf("web"), 2);
    await pass(100);
    http.put(nameOf("web"), 3);
    await pass(100);
    expect(states).toEqual(["1 s", "2 s", "3 s"]);
    expect(network.requested.length).toBeLessThanOrEqual(4);
  });

  it.each([
    ["p.2", "p.1", "1 s", "an older answer of one process, which another cache has stored"],
    ["p.2", "q.1", "1 s, 2 s", "the first answer of another process"],
    ["p.z", "p.10", "1 s, 2 s", "a newer answer, whose number has one digit more"],
    ["some text", "another text", "1 s, 2 s", "an answer whose position has no order"],
  ])("at %s then %s shows %s: %s [S-HTTP-14]", async (first, second, shown) => {
    const positions = [first, second];
    const { states, pass, http } = follow({ longPoll: false }, undefined, () => {
      const position = positions.shift() ?? second;
      return new Response(new Uint8Array(bodyOf(position === first ? 1 : 2)), {
        status: 200,
        headers: {
          "content-type": "application/x-protobuf",
          "cache-control": "max-age=5",
          "xds-version": position,
          "xds-position": position,
        },
      });
    });
    for (let second = 0; second < 12; second++) await pass(1_000);
    expect(states.join(", ")).toBe(shown);
    expect(http.handler.waiting).toBe(0);
  });

  it("does not go back when a redirect leads to a resource for the second time [S-HTTP-14]", async () => {
    const answers = new Map([
      ["/web", { status: 302, position: "p.1", headers: { location: "/a" } }],
      ["/a", { status: 200, position: "p.9", headers: {} }],
      ["/b", { status: 200, position: "p.3", headers: {} }],
    ]);
    const { states, pass } = follow(
      { longPoll: false, url: `https://${authority}/web` },
      undefined,
      ({ pathname }) => {
        const { status, position, headers } = answers.get(pathname) ?? {
          status: 404,
          position: "p.1",
          headers: {},
        };
        const body =
          status === 200 ? new Uint8Array(bodyOf(parseInt(position.slice(2), 36))) : null;
        return new Response(body, {
          status,
          headers: {
            ...headers,
            "cache-control": "max-age=1",
            "xds-version": position,
            "xds-position": position,
          },
        });
      },
    );
    const lead = async (position: string, location: string): Promise<void> => {
      answers.set("/web", { status: 302, position, headers: { location } });
      for (let second = 0; second < 4; second++) await pass(1_000);
    };
    await lead("p.1", "/a");
    await lead("p.4", "/b");
    // A cache has stored this for longer than the client knows.
    answers.set("/a", { status: 200, position: "p.2", headers: {} });
    await lead("p.5", "/a");
    expect(states).toEqual(["9 s", "3 s"]);
    answers.set("/a", { status: 200, position: "p.a", headers: {} });
    for (let second = 0; second < 4; second++) await pass(1_000);
    expect(states).toEqual(["9 s", "3 s", "10 s"]);
  });

  it("polls again after a poll without a change, and reports nothing [C-HTTP-11]", async () => {
    const { http, states, pass, network } = follow();
    await pass(100);
    await pass(25_000);
    await pass(0);
    expect(states).toEqual(["1 s"]);
    expect(network.requested).toHaveLength(3);
    http.put(nameOf("web"), 2);
    await pass(100);
    expect(states).toEqual(["1 s", "2 s"]);
  });

  it("pauses where a cache answers a poll without a change at once [C-HTTP-11]", async () => {
    const { states, pass, network } = follow();
    await pass(0);
    network.intercept = answer(204, { "xds-position": "x", age: "1" });
    const before = network.requested.length;
    for (let ms = 0; ms < 3_000; ms += 50) await pass(50);
    expect(network.requested.length - before).toBe(4);
    network.intercept = undefined;
    await pass(1_000);
    expect(states).toEqual(["1 s"]);
  });

  it("asks a server without long polls when an answer is no longer fresh, with jitter [C-HTTP-11]", async () => {
    // The names of directives are in any case (RFC 9111).
    const headers = { etag: '"a"', "cache-control": "public, Max-Age=10", age: "4" };
    const asked: (string | null)[] = [];
    const { pass, states } = follow(
      {},
      () => undefined,
      (_, init) => {
        const tag = new Headers(init.headers).get("if-none-match");
        asked.push(tag);
        return new Response(tag === null ? "" : null, {
          status: tag === null ? 200 : 304,
          headers,
        });
      },
    );
    await pass(8_999);
    expect(asked).toEqual([null]);
    // 6 s of freshness are left, and half as many again come at random.
    await pass(1);
    expect(asked).toEqual([null, '"a"']);
    await pass(9_000);
    expect(asked).toHaveLength(3);
    expect(states).toEqual(["0 s"]);
  });

  it("keeps the resource while requests fail, and pauses longer each time [C-HTTP-7]", async () => {
    const { http, states, pass, network } = follow();
    await pass(100);
    network.intercept = down;
    http.handler.close();
    await pass(0);
    await pass(0);
    const before = network.requested.length;
    for (let seconds = 0; seconds < 600; seconds++) await pass(1_000);
    expect(states.at(-1)).toBe("1 s, stale");
    expect(network.requested.length - before).toBeLessThan(18);
    expect(new Set(states)).toEqual(new Set(["1 s", "1 s, stale"]));
  });

  it.each([
    [500, "1 s, stale"],
    [503, "1 s, stale"],
    [429, "1 s, stale"],
    [403, "1 s, stale"],
    [404, "missing"],
    [410, "missing"],
  ])("after status %i the state is: %s [S-HTTP-9]", async (status, expected) => {
    const { states, pass, network } = follow();
    await pass(100);
    network.intercept = answer(status);
    await pass(25_000);
    await pass(0);
    expect(states.at(-1)).toBe(expected);
  });

  it("sees no-store in any case of its letters", async () => {
    const { state, pass } = follow({}, undefined, answer(200, { "cache-control": "No-Store" }));
    await pass(0);
    expect(state()).toMatchObject({ kind: "found", noStore: true });
  });

  it("fails, and goes on, at an answer that is too large and cannot be cancelled", async () => {
    const { state, pass, network } = follow({ answerBytes: 3 }, undefined, () => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          controller.enqueue(new Uint8Array(4));
        },
        cancel: async () => Promise.reject(new Error("the connection was reset")),
      });
      return new Response(body);
    });
    await pass(0);
    expect(errorOf(state())).toContain("larger than 3 bytes");
    await pass(2_000);
    expect(network.requested.length).toBeGreaterThan(1);
  });

  it("waits for as long as retry-after says [S-HTTP-9]", async () => {
    const { states, pass, network } = follow(
      {},
      () => undefined,
      answer(503, { "retry-after": "60" }),
    );
    await pass(59_999);
    expect(network.requested).toHaveLength(1);
    await pass(1);
    expect(network.requested).toHaveLength(2);
    expect(states).toEqual(["unknown"]);
  });

  it("waits for five minutes at most, whatever retry-after says [S-HTTP-9]", async () => {
    const { states, pass, network } = follow(
      {},
      undefined,
      answer(503, { "retry-after": "31536000" }),
    );
    await pass(0);
    network.intercept = undefined;
    await pass(299_999);
    expect(states).toEqual(["unknown"]);
    await pass(1);
    await pass(0);
    expect(states).toEqual(["unknown", "1 s"]);
  });

  it("reports why nothing is known, and goes on [S-HTTP-9]", async () => {
    const { state, pass, network, states } = follow({}, undefined, down);
    await pass(0);
    expect(errorOf(state())).toContain("fetch failed: ECONNREFUSED");
    network.intercept = undefined;
    await pass(2_000);
    expect(states).toEqual(["unknown", "1 s"]);
  });

  it("gives up a request that is not answered [C-HTTP-11]", async () => {
    const { state, pass } = follow({ answerMs: 500 });
    await pass(100);
    await pass(500);
    expect(state()).toMatchObject({ kind: "found" });
    expect(errorOf(state())).toContain("no answer within 500 ms");
  });

  it("removes a resource when its TTL has expired, and not before [C-HTTP-7]", async () => {
    const { http, states, pass, network } = follow({}, ({ put }) => {
      put(nameOf("web"), 1, { ttlMs: 9_000 });
    });
    for (let ms = 0; ms < 60_000; ms += 500) await pass(500);
    expect(states).toEqual(["1 s"]);
    network.intercept = down;
    http.handler.close();
    await pass(8_000);
    expect(states.at(-1)).toBe("1 s, stale");
    await pass(1_000);
    await pass(1_000);
    expect(states).toContain("missing");
  });

  it("fetches the content again after a TTL has expired [C-HTTP-7]", async () => {
    const { states, pass, network } = follow({}, ({ put }) => {
      put(nameOf("web"), 1, { ttlMs: 9_000 });
    });
    await pass(100);
    network.intercept = answer(503);
    for (let ms = 0; ms < 15_000; ms += 500) await pass(500);
    expect(states.at(-1)).toBe("missing");
    network.intercept = undefined;
    for (let ms = 0; ms < 60_000; ms += 500) await pass(500);
    expect(states.at(-1)).toBe("1 s");
  });

  it("takes the age of a stored answer from its TTL [S-HTTP-6]", async () => {
    const headers = { "xds-ttl": "10", age: "8", "xds-version": "1" };
    const stored: Intercept = () => new Response("", { status: 200, headers });
    const { states, pass, network } = follow({}, () => undefined, stored);
    await pass(0);
    network.intercept = answer(503);
    await pass(1_999);
    expect(states).toEqual(["0 s"]);
    await pass(1);
    expect(states).toEqual(["0 s", "missing"]);
  });

  it("follows redirects, and a redirect that changes [B-HTTP-8]", async () => {
    const { http, states, pass } = follow({}, (own) => {
      putRedirect(own, "web", `xdstp://${authority}/${type}/a`);
      putRedirect(own, "a", `http://other.example/${type}/b?x=%20`);
      own.put(`xdstp://other.example/${type}/b?x=%20`, 1);
      own.put(nameOf("c"), 2);
    });
    await pass(100);
    expect(states).toEqual(["1 s"]);
    expect(http.handler.waiting).toBe(3);
    http.put(`xdstp://other.example/${type}/b?x=%20`, 3);
    await pass(100);
    putRedirect(http, "web", `xdstp://${authority}/${type}/c`);
    await pass(100);
    await pass(100);
    expect(states).toEqual(["1 s", "3 s", "2 s"]);
    expect(http.handler.waiting).toBe(2);
    http.put(nameOf("web"), 4);
    await pass(100);
    expect(states.at(-1)).toBe("4 s");
  });

  it("rejects loops, long chains and redirects to less security [B-HTTP-8]", async () => {
    const loop = follow({}, (own) => {
      putRedirect(own, "web", `xdstp://${authority}/${type}/a`);
      putRedirect(own, "a", `xdstp://${authority}/${type}/web`);
    });
    await loop.pass(100);
    expect(errorOf(loop.state())).toContain("leads to itself");
    loop.http.put(nameOf("a"), 1);
    await loop.pass(100);
    expect(loop.states.at(-1)).toBe("1 s");

    const chain = follow({}, (own) => {
      for (let hop = 0; hop < 6; hop++)
        putRedirect(own, hop === 0 ? "web" : `h${hop}`, `xdstp://${authority}/${type}/h${hop + 1}`);
      own.put(nameOf("h6"), 6);
    });
    await chain.pass(100);
    expect(errorOf(chain.state())).toContain("more than 5 redirects");

    const away = answer(302, { location: `http://${authority}/x` });
    const open = follow({}, undefined, away);
    await open.pass(0);
    expect(errorOf(open.state())).toContain("has no TLS");
  });

  it("requests the URL of a permanent redirect only once [B-HTTP-8]", async () => {
    const permanent: Intercept = ({ pathname }) =>
      pathname.endsWith("/web")
        ? new Response(null, { status: 308, headers: { location: `/${type}/a` } })
        : undefined;
    const { network, pass, states, http } = follow(
      {},
      (own) => {
        own.put(nameOf("a"), 1);
      },
      permanent,
    );
    await pass(100);
    for (let count = 0; count < 8; count++) await pass(count % 2 === 0 ? 25_000 : 0);
    http.put(nameOf("a"), 2);
    await pass(100);
    expect(states).toEqual(["1 s", "2 s"]);
    expect(network.requested.filter((one) => one === url)).toHaveLength(1);
  });

  it("lets a browser follow redirects that it does not show [B-HTTP-8]", async () => {
    const { network, pass, states, http } = follow({}, (own) => {
      putRedirect(own, "web", `xdstp://${authority}/${type}/a`);
      own.put(nameOf("a"), 1);
    });
    const { fetch } = network;
    const browser: FetchLike = async (text, init) => {
      const response = await fetch(text, init);
      if (response.status !== 302) return response;
      if (init.redirect === "manual")
        return { status: 0, type: "opaqueredirect", headers: new Headers(), body: null };
      return browser(new URL(response.headers.get("location") ?? "", text).href, init);
    };
    const seen: string[] = [];
    const followed = followResource(
      { url, form: "protobuf", fetch: browser, clock: http.clock },
      (state) => {
        seen.push(textOf(state));
      },
    );
    onTestFinished(() => {
      followed.close();
    });
    await pass(100);
    await pass(100);
    http.put(nameOf("a"), 2);
    await pass(100);
    expect(seen).toEqual(["1 s", "2 s"]);
    expect(states).toEqual(["1 s", "2 s"]);
  });

  it("does not send directives, nor change the query [B-HTTP-1] [N-38]", async () => {
    const { network, pass } = follow({ url: `${url}?a=%20b&c=+#alt=x` });
    await pass(0);
    const urls: string[] = [];
    network.intercept = ({ href }) => {
      urls.push(href);
      return undefined;
    };
    await pass(25_000);
    expect(urls[0]).toMatch(/\/web\?a=%20b&c=\+&after=&at=[\w.%-]+&form=protobuf$/);
  });

  it("ends its requests when it is closed", async () => {
    const { http, pass, close, states } = follow();
    await pass(100);
    close();
    await pass(0);
    expect(http.handler.waiting).toBe(0);
    http.put(nameOf("web"), 2);
    await pass(60_000);
    expect(states).toEqual(["1 s"]);
  });

  it("rejects an answer that is too large", async () => {
    const { state, pass } = follow({ answerBytes: 10 });
    await pass(0);
    expect(errorOf(state())).toContain("answerBytes");
  });

  it.each(["", "web", "ftp://a/b", "xdstp://a/b/c"])("throws for %j", (wrong) => {
    expect(() => followResource({ url: wrong }, () => undefined)).toThrow("INVALID_ARGUMENT");
  });
});

function errorOf(state: FollowedState): string {
  return state.error?.text ?? "";
}
