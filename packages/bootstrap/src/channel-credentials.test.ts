import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { type ChannelTls, createGrpcChannel } from "@xdstp/grpc/client";
import { createFakeClock, createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { type CredentialsEvent, loadCredentials } from "./channel-credentials.ts";

const authority = createTestAuthority();

/** Follows the credentials in files, for a real channel that never connects. */
function useFollowed(refreshIntervalMs = 600_000) {
  const clock = createFakeClock();
  const pair = authority.issue();
  const at = useFolder({ ca: authority.cert, cert: pair.cert, key: pair.key });
  const loaded = loadCredentials({
    type: "tls",
    caCertificateFile: at("ca"),
    certificateFile: at("cert"),
    privateKeyFile: at("key"),
    refreshIntervalMs,
  });
  const channel = createGrpcChannel({
    target: "localhost:1",
    ...(loaded.tls !== undefined && { tls: loaded.tls }),
  });
  const events: CredentialsEvent[] = [];
  const applied: ChannelTls[] = [];
  const replaceTls = (tls: ChannelTls): void => {
    channel.replaceTls(tls);
    applied.push(tls);
  };
  const following = loaded.follow(
    { replaceTls },
    {
      clock,
      onEvent: (event) => {
        events.push(event);
      },
    },
  );
  onTestFinished(async () => {
    following.close();
    expect(clock.pending).toBe(0);
    await channel.close();
  });
  const write = (name: string, contents: string): void => {
    writeFileSync(at(name), contents);
  };
  const kinds = (): readonly string[] =>
    events.map((event) => (event.kind === "credentials-rejected" ? event.error.text : event.kind));
  return { clock, at, loaded, applied, events, write, kinds, following };
}

describe("loadCredentials()", () => {
  it("gives no TLS for insecure, and follows nothing", () => {
    const loaded = loadCredentials({ type: "insecure" });
    expect(loaded.tls).toBeUndefined();
    loaded.follow({ replaceTls: () => undefined }).close();
  });

  it("gives TLS with what Node trusts where no files are named", () => {
    expect(loadCredentials({ type: "tls", refreshIntervalMs: 1 }).tls).toEqual({});
  });

  it("hands on the name that the certificate of the server has to be for", () => {
    expect(
      loadCredentials({ type: "tls", servername: "other.example", refreshIntervalMs: 1 }).tls,
    ).toEqual({ servername: "other.example" });
  });

  it("names the file that cannot be read", () => {
    const at = useFolder({ ca: authority.cert });
    expect(() =>
      loadCredentials({ type: "tls", caCertificateFile: at("none"), refreshIntervalMs: 1 }),
    ).toThrow(
      `[NOT_FOUND] ca_certificate_file ${at("none")}: the file does not exist; give a PEM file`,
    );
    expect(() =>
      loadCredentials({
        type: "tls",
        caCertificateFile: at("ca"),
        certificateFile: at("."),
        privateKeyFile: at("k"),
        refreshIntervalMs: 1,
      }),
    ).toThrow(`[NOT_FOUND] certificate_file ${at(".")}: it cannot be read (EISDIR)`);
  });
});

describe("follow()", () => {
  it("puts a new pair to use within ten seconds", () => {
    const { clock, write, applied, kinds, at } = useFollowed();
    const next = authority.issue();
    clock.advance(60_000);
    write("cert", next.cert);
    write("key", next.key);
    clock.advance(9_999);
    expect(applied).toEqual([]);
    clock.advance(1);
    expect(applied.map(({ ca, cert, key }) => [ca, cert, key].map(String))).toEqual([
      [authority.cert, next.cert, next.key],
    ]);
    clock.advance(3_600_000);
    expect(kinds()).toEqual(["credentials-replaced"]);
    expect(at("cert")).toContain("cert");
  });

  it("reads the files at the interval, also where their times tell nothing", () => {
    const { clock, write, at, kinds } = useFollowed();
    const time = new Date(0);
    const next = createTestAuthority("next").cert;
    utimesSync(at("ca"), time, time);
    clock.advance(10_000);
    write("ca", next);
    utimesSync(at("ca"), time, time);
    clock.advance(599_999);
    expect(kinds()).toEqual([]);
    clock.advance(10_000);
    expect(kinds()).toEqual(["credentials-replaced"]);
  });

  it("looks as often as a short interval asks", () => {
    const { clock, write, kinds } = useFollowed(1_000);
    write("ca", createTestAuthority("next").cert);
    clock.advance(1_000);
    expect(kinds()).toEqual(["credentials-replaced"]);
  });

  it("sees a link that points elsewhere, as a mounted secret is renewed", () => {
    const { clock, at, kinds } = useFollowed();
    writeFileSync(at("next"), createTestAuthority("next").cert);
    symlinkSync(at("next"), at("link"));
    renameSync(at("link"), at("ca"));
    clock.advance(10_000);
    expect(kinds()).toEqual(["credentials-replaced"]);
  });

  it("keeps the last good pair while one is half written, does not belong together or is gone, and tells of each once", () => {
    const { clock, write, at, applied, kinds } = useFollowed();
    const next = authority.issue();
    write("cert", next.cert);
    clock.advance(30_000);
    write("cert", next.cert.slice(0, 100));
    clock.advance(30_000);
    rmSync(at("key"));
    write("cert", next.cert);
    clock.advance(30_000);
    expect(applied).toEqual([]);
    write("key", next.key);
    clock.advance(10_000);
    expect(applied).toHaveLength(1);
    expect(kinds()).toEqual([
      expect.stringMatching(/^tls\.key does not belong to tls\.cert/),
      "tls.cert holds no certificate in PEM",
      `private_key_file ${at("key")}: the file does not exist; give a PEM file`,
      "credentials-replaced",
    ]);
  });

  it("reads a broken pair again with each look, also where the times tell nothing", () => {
    const { clock, write, at, kinds } = useFollowed();
    const [next, time] = [authority.issue(), new Date(0)];
    const put = (name: string, contents: string): void => {
      write(name, contents);
      utimesSync(at(name), time, time);
    };
    put("key", next.key);
    put("cert", "half");
    clock.advance(10_000);
    put("cert", next.cert);
    clock.advance(10_000);
    expect(kinds()).toEqual(["tls.cert holds no certificate in PEM", "credentials-replaced"]);
  });

  it("tells nothing of a broken pair that is put back", () => {
    const { clock, write, applied, events, loaded } = useFollowed();
    write("cert", "none");
    clock.advance(10_000);
    write("cert", String(loaded.tls?.cert));
    clock.advance(10_000);
    expect([applied.length, events.length]).toEqual([0, 1]);
    write("cert", "none");
    clock.advance(10_000);
    expect(events).toHaveLength(2);
  });

  it("goes on when nobody can stand its events, and ends when it is closed", () => {
    const at = useFolder({ ca: authority.cert });
    const clock = createFakeClock();
    const applied: ChannelTls[] = [];
    const following = loadCredentials({
      type: "tls",
      caCertificateFile: at("ca"),
      refreshIntervalMs: 1_000,
    }).follow(
      {
        replaceTls: (tls) => {
          applied.push(tls);
        },
      },
      {
        clock,
        onEvent: () => {
          throw new Error("mine");
        },
      },
    );
    for (const name of ["a", "b"]) {
      writeFileSync(at("ca"), createTestAuthority(name).cert);
      clock.advance(1_000);
    }
    expect(applied).toHaveLength(2);
    following.close();
    expect(clock.pending).toBe(0);
  });
});
