import { create } from "@bufbuild/protobuf";
import { ClientStatusResponseSchema } from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";
import { clientRows } from "./client-types.ts";

const client = { node: { id: "n1", metadata: { "xdstp.view": "gold" } } };

describe("clientRows()", () => {
  it("has the view of a client from a server of this stack, which adds its facts to the answer [S-NODE-10]", () => {
    expect(
      clientRows(
        create(ClientStatusResponseSchema, {
          config: [client, { clientScope: "xdstp.status.server" }],
        }),
      ),
    ).toMatchObject([{ id: "n1", view: "gold" }]);
  });

  it("has no view from another server, since a client may have written it into its metadata [S-NODE-10]", () => {
    const [row] = clientRows(
      create(ClientStatusResponseSchema, {
        config: [client, { node: { id: "xdstp" }, clientScope: "xdstp.status.server" }],
      }),
    );
    expect(row).not.toHaveProperty("view");
  });
});
