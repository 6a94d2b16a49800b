import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../test/use-folder.ts";
import { readBootstrap } from "./read-bootstrap.ts";

const of = (uri: string): string =>
  JSON.stringify({ xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }] });
const uriOf = (...args: Parameters<typeof readBootstrap>): string | undefined =>
  readBootstrap(...args).servers[0]?.uri;

describe("readBootstrap()", () => {
  it("takes what is given, else a file, else what GRPC_XDS_BOOTSTRAP names, else GRPC_XDS_BOOTSTRAP_CONFIG [C-GRPC-1]", () => {
    const at = useFolder({ "given.json": of("file"), "env.json": of("env") });
    const env = { GRPC_XDS_BOOTSTRAP: at("env.json"), GRPC_XDS_BOOTSTRAP_CONFIG: of("config") };
    const file = at("given.json");
    expect(uriOf({ json: of("text"), file, env })).toBe("text");
    expect(uriOf({ json: JSON.parse(of("object")) as object, file, env })).toBe("object");
    expect(uriOf({ file, env })).toBe("file");
    expect(uriOf({ env })).toBe("env");
    expect(
      uriOf({ env: { GRPC_XDS_BOOTSTRAP: "", GRPC_XDS_BOOTSTRAP_CONFIG: of("config") } }),
    ).toBe("config");
  });

  it("says what it tried where there is none [C-GRPC-1]", () => {
    const text =
      "[FAILED_PRECONDITION] the bootstrap is missing: GRPC_XDS_BOOTSTRAP (a path) and GRPC_XDS_BOOTSTRAP_CONFIG (JSON) are not set; set one, or give one";
    expect(() => readBootstrap({ env: {} })).toThrow(text);
    expect(() =>
      readBootstrap({ env: { GRPC_XDS_BOOTSTRAP: "", GRPC_XDS_BOOTSTRAP_CONFIG: "" } }),
    ).toThrow(text);
  });

  it("names the file or variable that is broken, and looks no further [C-GRPC-1]", () => {
    const at = useFolder({
      "broken.json": "{",
      "latin.json": Buffer.from([0x22, 0xe4, 0x22]),
      "bom.json": `\uFEFF${of("bom")}`,
    });
    mkdirSync(at("folder"));
    const config = of("config");
    expect(uriOf({ file: at("bom.json") })).toBe("bom");
    expect(() =>
      readBootstrap({
        env: { GRPC_XDS_BOOTSTRAP: at("none.json"), GRPC_XDS_BOOTSTRAP_CONFIG: config },
      }),
    ).toThrow(
      `[NOT_FOUND] GRPC_XDS_BOOTSTRAP=${at("none.json")}: the file does not exist; give the path of a bootstrap in JSON`,
    );
    expect(() => readBootstrap({ file: at("folder") })).toThrow(
      `[NOT_FOUND] ${at("folder")}: it cannot be read (EISDIR); give`,
    );
    expect(() => readBootstrap({ file: at("broken.json") })).toThrow(
      `[INVALID_ARGUMENT] ${at("broken.json")}: the bootstrap is not JSON`,
    );
    expect(() => readBootstrap({ file: at("latin.json") })).toThrow(
      `[INVALID_ARGUMENT] ${at("latin.json")}: the bootstrap is not UTF-8; save it as UTF-8`,
    );
    expect(() => readBootstrap({ env: { GRPC_XDS_BOOTSTRAP_CONFIG: "{}" } })).toThrow(
      "[INVALID_ARGUMENT] GRPC_XDS_BOOTSTRAP_CONFIG: the bootstrap has no xds_servers",
    );
    expect(() => readBootstrap({ json: "{}" })).toThrow(
      "[INVALID_ARGUMENT] bootstrap: the bootstrap has no xds_servers",
    );
  });
});
