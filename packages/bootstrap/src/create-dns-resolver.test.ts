import type { SrvRecord } from "node:dns";
import { describe, expect, it } from "vitest";
import { createDnsResolver, type DnsQueries } from "./create-dns-resolver.ts";

type Zone = Readonly<Record<string, readonly SrvRecord[] | readonly string[] | Error>>;

/** Creates a DNS with these records, by `TYPE name`. It records the lookups. */
type DnsResolverOptions = NonNullable<Parameters<typeof createDnsResolver>[0]>;

function dnsOf(zone: Zone): { readonly queries: DnsQueries; readonly asked: string[] } {
  const asked: string[] = [];
  const query =
    <Kind>(type: string) =>
    (name: string): Promise<readonly Kind[]> => {
      asked.push(`${type} ${name}`);
      const found = zone[`${type} ${name}`] ?? failure("ENOTFOUND");
      return found instanceof Error
        ? Promise.reject(found)
        : Promise.resolve(found as readonly Kind[]);
    };
  return {
    asked,
    queries: { resolveSrv: query("SRV"), resolve4: query("A"), resolve6: query("AAAA") },
  };
}

function failure(code: string): Error {
  return Object.assign(new Error(`query ${code}`), { code });
}

function target(name: string, port: number, priority = 0, weight = 0): SrvRecord {
  return { name, port, priority, weight };
}

async function found(
  zone: Zone,
  authority: string,
  options: DnsResolverOptions = {},
): Promise<readonly string[]> {
  const { servers, authorities, place } = await createDnsResolver({ ...dnsOf(zone), ...options })(
    authority,
  );
  expect(authorities).toEqual([authority]);
  return [place ?? "", ...servers.map(({ uri }) => uri)];
}

describe("createDnsResolver", () => {
  it("takes what SRV records say, by priority", async () => {
    expect(
      await found(
        {
          "SRV _xds._tcp.b.example": [target("two.example.", 2, 20), target("one.example", 1, 10)],
        },
        "b.example",
      ),
    ).toEqual(["DNS (SRV _xds._tcp.b.example)", "one.example:1", "two.example:2"]);
    expect(
      await found({ "SRV _config._tcp.b.example": [target("one.example", 1)] }, "b.example", {
        service: "_config._tcp",
      }),
    ).toEqual(["DNS (SRV _config._tcp.b.example)", "one.example:1"]);
  });

  it("draws lots among equal priorities, by weight", async () => {
    const zone = {
      "SRV _xds._tcp.b.example": [
        target("none.example", 1, 0, 0),
        target("light.example", 1, 0, 1),
        target("heavy.example", 1, 0, 9),
      ],
    };
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    let heavy = 0;
    for (let n = 0; n < 1_000; n++) {
      const [, first, , last] = await found(zone, "b.example", { random });
      expect(last).toBe("none.example:1");
      if (first === "heavy.example:1") heavy++;
    }
    expect(heavy).toBeGreaterThan(860);
    expect(heavy).toBeLessThan(940);
  });

  it("takes the host itself where there is no SRV record, whichever family of addresses it has", async () => {
    expect(await found({ "A b.example": ["192.0.2.1"] }, "b.example")).toEqual([
      "DNS (b.example)",
      "b.example:443",
    ]);
    expect(
      await found(
        { "AAAA b.example": ["2001:db8::1"], "A b.example": failure("ESERVFAIL") },
        "b.example",
        { port: 18_000 },
      ),
    ).toEqual(["DNS (b.example)", "b.example:18000"]);
  });

  it("asks for no SRV record where the authority has a port", async () => {
    const { queries, asked } = dnsOf({ "A b.example": ["192.0.2.1"] });
    const { servers } = await createDnsResolver({ queries })("b.example:7");
    expect([servers.map(({ uri }) => uri), asked]).toEqual([
      ["b.example:7"],
      ["A b.example", "AAAA b.example"],
    ]);
  });

  it("wants a certificate for the authority, whatever DNS says the server is called", async () => {
    const { queries } = dnsOf({ "SRV _xds._tcp.b.example": [target("evil.example", 1)] });
    const credentialsOf = async (options: DnsResolverOptions): Promise<unknown> =>
      (await createDnsResolver({ queries, ...options })("b.example")).servers[0]?.credentials;
    expect(await credentialsOf({})).toEqual({
      type: "tls",
      servername: "b.example",
      refreshIntervalMs: 600_000,
    });
    expect(
      await credentialsOf({
        credentials: { type: "tls", caCertificateFile: "ca.pem", refreshIntervalMs: 1 },
      }),
    ).toEqual({
      type: "tls",
      servername: "b.example",
      caCertificateFile: "ca.pem",
      refreshIntervalMs: 1,
    });
    expect(await credentialsOf({ credentials: { type: "insecure" } })).toEqual({
      type: "insecure",
    });
  });

  it("says what was tried where DNS has nothing [C-AUTH-5]", async () => {
    await expect(found({}, "b.example")).rejects.toThrow(
      "DNS has no SRV _xds._tcp.b.example and no address of b.example",
    );
    await expect(found({}, "b.example:1")).rejects.toThrow("DNS has no address of b.example");
    await expect(
      found(
        {
          "SRV _xds._tcp.b.example": [target("", 0), target("a b", 1)],
          "A b.example": ["192.0.2.1"],
        },
        "b.example",
      ),
    ).rejects.toThrow("DNS has no target in SRV _xds._tcp.b.example");
  });

  it("asks no further where DNS does not answer for SRV records: there may be some", async () => {
    const { queries, asked } = dnsOf({
      "SRV _xds._tcp.b.example": failure("ETIMEOUT"),
      "A b.example": ["192.0.2.1"],
    });
    await expect(createDnsResolver({ queries })("b.example")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      text: "DNS did not answer for SRV _xds._tcp.b.example: ETIMEOUT",
    });
    expect(asked).toEqual(["SRV _xds._tcp.b.example"]);
    await expect(found({ "A b.example": failure("ESERVFAIL") }, "b.example")).rejects.toMatchObject(
      { code: "UNAVAILABLE", text: "DNS did not answer for A b.example: ESERVFAIL" },
    );
  });

  it.each([
    "",
    "b",
    "localhost",
    "b.example.",
    "192.0.2.1",
    "[::1]",
    "::1",
    "user@b.example",
    "b_c.example",
    "-b.example",
    "b..example",
    "b.example:0",
    "b.example:65536",
    "b.example:",
    "bücher.example",
    `${"b".repeat(64)}.example`,
    `${"b.".repeat(125)}example`,
  ])("asks nothing of DNS for %j, which is not a host name", async (authority) => {
    const { queries, asked } = dnsOf({});
    await expect(createDnsResolver({ queries })(authority)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      text: expect.stringMatching(/^DNS is not queried: /) as string,
    });
    expect(asked).toEqual([]);
  });

  it("takes 16 targets at most", async () => {
    const all = Array.from({ length: 20 }, (_, n) => target("one.example", n + 1, n));
    expect(await found({ "SRV _xds._tcp.b.example": all }, "b.example")).toHaveLength(1 + 16);
  });
});
