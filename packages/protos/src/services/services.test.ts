import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import type { GenExtension } from "@bufbuild/protobuf/codegenv2";
import type { MethodOptions, ServiceOptions } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { AggregatedDiscoveryService } from "../discovery/index.ts";
import { envoyRegistry } from "../envoy/index.ts";
import { typeUrlFromName } from "../index.ts";
import type { ServiceRow } from "./index.ts";
import * as exported from "./index.ts";
import { SERVICES } from "./index.ts";

const services: readonly DescService[] = [
  AggregatedDiscoveryService,
  ...Object.values(exported).filter((value) => "kind" in value),
];

describe("SERVICES", () => {
  it("has a row for every service that Envoy's API marks as the service of a type, and the aggregated one", () => {
    const all = [...envoyRegistry()].filter((type) => type.kind === "service");
    const marked = all
      .filter((service) => typeOf(service) !== undefined)
      .map((service) => service.typeName);
    expect(sorted(SERVICES.map((row) => row.service))).toEqual(
      sorted([AggregatedDiscoveryService.typeName, ...marked]),
    );
  });

  it("has a row for every generated service", () => {
    expect(sorted(SERVICES.map((row) => row.service))).toEqual(
      sorted(services.map((service) => service.typeName)),
    );
  });

  it.each(SERVICES.map((row) => [row.service, row] as const))(
    "%s has the type, methods and path of Envoy's API",
    (name, row) => {
      const service = envoyRegistry().getService(name);
      expect(service && rowOf(service)).toEqual(row);
    },
  );
});

function sorted(texts: readonly string[]): readonly string[] {
  return texts.toSorted();
}

function rowOf(service: DescService): ServiceRow {
  const typeName = typeOf(service);
  const named = (wanted: (method: DescMethod) => boolean): string | undefined =>
    service.methods.find(wanted)?.name;
  const row = {
    typeUrl: typeName === undefined ? undefined : typeUrlFromName(typeName),
    service: service.typeName,
    sotw: named(
      (method) =>
        method.methodKind === "bidi_streaming" && method.input.name === "DiscoveryRequest",
    ),
    delta: named(
      (method) =>
        method.methodKind === "bidi_streaming" && method.input.name === "DeltaDiscoveryRequest",
    ),
    fetch: named((method) => method.methodKind === "unary"),
    restPath: service.methods.map(pathOf).find((path) => path !== undefined),
  };
  return Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== undefined),
  ) as unknown as ServiceRow;
}

function typeOf(service: DescService): string | undefined {
  const option = getOption(service, extension<DescService>("envoy.annotations.resource")) as {
    readonly type?: string;
  };
  return option.type === "" ? undefined : option.type;
}

function pathOf(method: DescMethod): string | undefined {
  const option = getOption(method, extension<DescMethod>("google.api.http")) as {
    readonly pattern?: { readonly value?: string };
  };
  return option.pattern?.value;
}

function extension<D extends DescService | DescMethod>(name: string): GenExtension<OptionsOf<D>> {
  const found = envoyRegistry().getExtension(name);
  if (found === undefined) throw new Error(`the image lacks ${name}`);
  return found as GenExtension<OptionsOf<D>>;
}

type OptionsOf<D extends DescService | DescMethod> = D extends DescService
  ? ServiceOptions
  : MethodOptions;
